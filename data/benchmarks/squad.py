"""SQuAD: one paragraph holds the answer."""

import dspy

from ..passages import Passage
from .benchmark import Benchmark, Hub, question
from .fields import Record, RecordError, identity, passage, rows, text, texts
from .measured import SHORT, SUPPORT


def read(record: Record) -> dspy.Example | None:
    """Read a row (of the release, once its articles are taken apart); one without an answer (SQuAD 2.0) is left out."""
    held = passages(record)
    answers = record.get("answers")
    if answers is None:
        raise RecordError('no "answers"')
    said = texts([answer.get("text") or "" for answer in rows(answers, "answers")], "answers")
    if not said:
        return None
    return question(
        identity(record),
        text(record, "question"),
        said,
        type="single",
        hops=1,
        supporting_titles=[one.title for one in held if one.title],
        supporting_ids=[one.id for one in held],
    )


def passages(record: Record) -> list[Passage]:
    """The paragraph that the question was written about."""
    return [passage("squad", str(record.get("title") or "").replace("_", " "), text(record, "context"))]


SQUAD = Benchmark(
    name="squad",
    about="questions that crowd workers asked of one Wikipedia paragraph",
    licence="CC BY-SA 4.0",
    hub=Hub("rajpurkar/squad", None, {"tune": "train", "dev": "validation"}),
    read=read,
    metrics=(*SHORT, *SUPPORT),
    corpus="the paragraphs of its articles; published open-domain scores are over 21 million Wikipedia passages",
    passages=passages,
)
