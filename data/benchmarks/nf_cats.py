"""NF-CATS: which category a question belongs to."""

import dspy

from .benchmark import Benchmark, question
from .fields import Record, RecordError, identity, text

CATEGORIES = (
    "NOT-A-QUESTION", "FACTOID", "DEBATE", "EVIDENCE-BASED", "INSTRUCTION", "REASON", "EXPERIENCE", "COMPARISON",
)  # fmt: skip


def read(record: Record) -> dspy.Example:
    """Read a row, ``question``, ``category`` and ``annotated_by``."""
    category = text(record, "category").strip().upper()
    if category not in CATEGORIES:
        raise RecordError(f"the category {category!r} is none of {', '.join(CATEGORIES)}")
    who = str(record.get("annotated_by") or "")
    return question(identity(record), text(record, "question"), type=category, meta={"annotated_by": who})


NF_CATS = Benchmark(
    name="nf-cats",
    about="questions from the web in eight categories, to tune and test what tells them apart",
    licence="MIT",
    hub=None,
    read=read,
    metrics=("type_accuracy",),
    categories=("type", "annotated_by"),
    corpus="none: no answers are asked for",
    origin="github.com/Lurunchik/NF-CATS, folder nfcats/data (train.csv, valid.csv)",
)
