"""CommonsenseQA: questions that need no look-up."""

import dspy

from .benchmark import Benchmark, Hub, question
from .fields import Record, RecordError, field, identity, rows, text
from .measured import SHORT


def read(record: Record) -> dspy.Example | None:
    """Read a record of the hub, or of the release (question, concept and choices in ``question``).

    A record of the test split, without the right answer, is left out.
    """
    asked = record.get("question")
    inner = asked if isinstance(asked, dict) else {**record, "stem": asked}
    choices = {text(one, "label"): text(one, "text") for one in rows(field(inner, "choices"), "choices")}
    key = str(record.get("answerKey") or "")
    if not key:
        return None
    if key not in choices:
        raise RecordError(f'"answerKey" {key!r} is none of the choices')
    return question(
        identity(record),
        text(inner, "stem"),
        [choices[key]],
        type="straightforward",
        hops=0,
        meta={"choices": list(choices.values()), "concept": str(inner.get("question_concept") or "")},
    )


COMMONSENSEQA = Benchmark(
    name="commonsenseqa",
    about="questions of common sense with five choices: no look-up is needed (the router's straightforward class)",
    licence="MIT",
    hub=Hub("tau/commonsense_qa", None, {"tune": "train", "dev": "validation"}),
    read=read,
    metrics=SHORT,
    corpus="none: nothing is to be looked up",
)
