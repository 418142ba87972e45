"""ASQA: questions that mean several things, answered at length."""

import dspy

from ..passages import Passage
from .benchmark import Benchmark, Hub, question
from .fields import Record, RecordError, identity, passage, rows, text, texts
from .measured import ASPECTS, SUPPORT

# What the release writes where it has none.
_NO_CONTEXT = "No context provided"


def read(record: Record) -> dspy.Example:
    """Read a record of the hub, or of the release (once its splits are taken apart): the readings are sub-questions."""
    parts = rows(record.get("qa_pairs") or (), "qa_pairs")
    annotations = rows(record.get("annotations") or (), "annotations")
    if not annotations:
        raise RecordError('no "annotations" with a "long_answer"')
    held = passages(record)
    return question(
        identity(record, "sample_id", "id"),
        text(record, "ambiguous_question", "question"),
        texts([text(annotation, "long_answer") for annotation in annotations], "annotations"),
        type="ambiguous",
        hops=1,
        supporting_titles=list(dict.fromkeys(one.title for one in held if one.title)),
        supporting_ids=[one.id for one in held],
        sub_questions=[
            {"question": text(part, "question"), "answers": texts(part.get("short_answers") or (), "short_answers")}
            for part in parts
        ],
    )


def passages(record: Record) -> list[Passage]:
    """What annotators wrote their answers from: the contexts of the readings, and the knowledge they added."""
    pieces = [
        (part.get("wikipage"), part.get("context")) for part in rows(record.get("qa_pairs") or (), "qa_pairs")
    ] + [
        (piece.get("wikipage"), piece.get("content"))
        for annotation in rows(record.get("annotations") or (), "annotations")
        for piece in rows(annotation.get("knowledge") or (), "knowledge")
    ]
    made = [passage("asqa", title or "", body) for title, body in pieces if body and body != _NO_CONTEXT]
    return list({one.id: one for one in made}.values())


ASQA = Benchmark(
    name="asqa",
    about="ambiguous questions with long answers that cover each reading, and the readings with short answers",
    licence="Apache-2.0",
    hub=Hub("din0s/asqa", None, {"tune": "train", "dev": "dev"}),
    read=read,
    metrics=(*ASPECTS, *SUPPORT),
    corpus="the passages that annotators read, those alone; else Wikipedia",
    passages=passages,
)
