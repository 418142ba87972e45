"""Bamboogle: two hops that a search engine does not answer in one."""

import dspy

from .benchmark import Benchmark, Hub, question
from .fields import Record, identity, text, texts
from .measured import MULTI_HOP


def read(record: Record) -> dspy.Example:
    """Read a row, ``Question`` and ``Answer``."""
    return question(
        identity(record),
        text(record, "Question", "question"),
        texts(text(record, "Answer", "answer"), "Answer"),
        type="compositional",
        hops=2,
    )


BAMBOOGLE = Benchmark(
    name="bamboogle",
    about="125 two-hop questions, written by its authors so that no web page answers them",
    licence="MIT",
    hub=Hub("chiayewken/bamboogle", None, {"dev": "test"}),
    read=read,
    metrics=MULTI_HOP,
    corpus="none of its own; Wikipedia",
)
