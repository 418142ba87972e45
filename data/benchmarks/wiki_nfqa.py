"""Wiki-NFQA: non-factoid questions found in six sets, with graded reference answers."""

import ast
from contextlib import suppress
from typing import Any

import dspy

from .benchmark import Benchmark, Hub, question
from .fields import Record, RecordError, identity, text, texts, whole
from .measured import GRADED

_SUBSETS = ("2wikimultihopqa", "hotpotqa", "musique", "nq", "squad", "trivia")
_MULTI_HOP = _SUBSETS[:3]


def read(record: Record) -> dspy.Example:
    """Read a record of ``reference_answer_list``, or of the release: answers, and the grade (0-3) of each.

    The release has no categories; where a record has one (``NFQ_category``), it is the type.
    """
    answers, labels = record.get("answer_list"), record.get("answer_label")
    if not isinstance(answers, list) or not isinstance(labels, list) or len(answers) != len(labels):
        raise RecordError('"answer_list" and "answer_label" are not two lists of one length')
    graded = [(str(answer), whole(label, "answer_label")) for answer, label in zip(answers, labels, strict=True)]
    name = identity(record, "question_id", "id")
    subset = next((each for each in _SUBSETS if each in name.lower() or each == record.get("dataset")), "")
    category = next((record[key] for key in ("NFQ_category", "category_prediction", "category") if record.get(key)), "")
    return question(
        name,
        text(record, "question_text", "question"),
        _gold(record.get("answer_dict")) or [best for best, label in graded if label == 3],
        type=str(category) or "non-factoid",
        hops=None if subset in _MULTI_HOP else 1,
        references=[{"text": answer, "label": label} for answer, label in graded],
        meta={"subset": subset},
    )


def _gold(answers: Any) -> list[str]:
    """The answers of the set that the question is from; several are one text in the release, written as a list."""
    gold = answers.get("ground_truth") if isinstance(answers, dict) else None
    while isinstance(gold, dict):
        gold = next((value for value in gold.values() if value), None)
    if isinstance(gold, str) and gold.startswith("["):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            gold = ast.literal_eval(gold)  # reads literals, runs nothing
    return texts(gold or (), "ground_truth") if isinstance(gold, str | list) else []


WIKI_NFQA = Benchmark(
    name="wiki-nfqa",
    about="945 non-factoid questions out of six Wikipedia sets, each with up to 11 answers graded 0-3 (Typed-RAG)",
    licence="CC BY-SA 4.0",
    hub=Hub("oneonlee/Wiki-NFQA", "reference_answer_list", {"dev": "test"}),
    read=read,
    metrics=GRADED,
    categories=("type", "subset"),
    corpus="none of its own; Wikipedia, in 21 million passages of 100 words for published scores",
)
