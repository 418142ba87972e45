"""FanOutQA: questions that fan out over many articles."""

from collections.abc import Iterator
from typing import Any

import dspy

from .benchmark import Benchmark, question
from .fields import Record, answers, field, identity, rows, text
from .measured import MULTI_HOP


def read(record: Record) -> dspy.Example:
    """Read a record of the release; sub-questions are those of the whole decomposition, in order."""
    parts = list(_parts(record))
    titles = [part["title"] for part in parts if part["title"]]
    return question(
        identity(record),
        text(record, "question"),
        answers(field(record, "answer")),
        type="fan-out",
        hops=len(parts) or None,
        supporting_titles=list(dict.fromkeys(titles)),
        sub_questions=parts,
        meta={"categories": record.get("categories") or []},
    )


def _parts(record: Record) -> Iterator[dict[str, Any]]:
    for part in rows(record.get("decomposition") or (), "decomposition"):
        evidence = part.get("evidence") or {}
        yield {
            "question": text(part, "question"),
            "answers": answers(part.get("answer") or ()),
            "title": str(evidence.get("title") or ""),
        }
        yield from _parts(part)


FANOUTQA = Benchmark(
    name="fanoutqa",
    about="questions over 5-7 Wikipedia articles and more, with decompositions by their authors",
    licence="CC BY-SA 4.0",
    hub=None,
    read=read,
    metrics=MULTI_HOP,
    corpus="none of its own; Wikipedia",
    origin="github.com/zhudotexe/fanoutqa (fanout-final-dev.json)",
)
