"""Natural Questions, open: what people asked a search engine."""

import dspy

from .benchmark import Benchmark, Hub, question
from .fields import Record, field, identity, text, texts
from .measured import SHORT


def read(record: Record) -> dspy.Example:
    """Read a record of NQ-open, ``question`` and a list in ``answer``; it has no id."""
    answers = texts(field(record, "answer", "answers", "short_answers"), "answer")
    return question(identity(record), text(record, "question"), answers, type="single", hops=1)


NQ = Benchmark(
    name="nq",
    about="questions that people asked a search engine, with short answers from Wikipedia",
    licence="CC BY-SA 3.0",
    hub=Hub("google-research-datasets/nq_open", None, {"tune": "train", "dev": "validation"}),
    read=read,
    metrics=SHORT,
    corpus="none of its own; Wikipedia, in 21 million passages of 100 words for published scores",
)
