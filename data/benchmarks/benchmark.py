"""What a benchmark is: where its questions are published, how a record of it reads, and what is measured on it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from ..passages import Passage


@dataclass(frozen=True)
class Hub:
    """A data set of the Hugging Face hub.

    Attributes:
        path: Its name there.
        config: Its configuration, where it has several.
        splits: Its splits by ours, ``tune`` (to learn from) and ``dev`` (to measure on).
    """

    path: str
    config: str | None
    splits: Mapping[str, str]


@dataclass(frozen=True)
class Benchmark:
    """A set of questions with what is known about each.

    Attributes:
        name: What users call it.
        about: One line: what it asks, and of whom.
        licence: Of its data.
        hub: Where it is published; ``None`` for one that is built, or comes with the package.
        read: Turns one published record into a :func:`question`; ``None`` for a record that is none.
        metrics: Names of the metrics that it is measured with by default.
        categories: Fields of its questions whose values tables are split by.
        corpus: One line: the passages that its questions are asked of.
        passages: The passages that come with a published record, where they do.
        origin: Where its files are to be had, for one that no data set of the hub holds as they are.
        answers_in_corpus: Whether the passages that its relevance judgements are about are answers of known worth.
    """

    name: str
    about: str
    licence: str
    hub: Hub | None
    read: Callable[[Mapping[str, Any]], dspy.Example | None]
    metrics: tuple[str, ...]
    categories: tuple[str, ...] = ("type",)
    corpus: str = ""
    passages: Callable[[Mapping[str, Any]], Iterable[Passage]] | None = None
    origin: str = ""
    answers_in_corpus: bool = False

    @property
    def answers(self) -> Literal["brief", "full"]:
        """How long answers must be to be measured: a name, a date, yes or no where it is by words alone."""
        by_words = {"em", "compound_acc"} & set(self.metrics)
        return "brief" if by_words and "rougeL" not in self.metrics else "full"


def question(
    id: str,
    question: str,
    answers: Sequence[str] = (),
    *,
    type: str = "",
    hops: int | None = None,
    supporting_ids: Sequence[str] = (),
    supporting_titles: Sequence[str] = (),
    sub_questions: Sequence[Mapping[str, Any]] = (),
    references: Sequence[Mapping[str, Any]] = (),
    qrels: Mapping[str, int] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> dspy.Example:
    """A question of a benchmark, as programs and metrics take it; its input is ``question``.

    Args:
        id: Unique within the benchmark.
        question: The question, stripped.
        answers: All that count as right; for long answers the references.
        type: Its category, in the benchmark's own words.
        hops: Look-ups that depend on one another; 0 where none is needed, ``None`` where it is not known.
        supporting_ids: Passages that hold what is needed.
        supporting_titles: Titles of the articles that do.
        sub_questions: Its parts, hops or aspects, each with ``question`` and ``answers``.
        references: Answers of known worth: ``text``, and ``label``, higher for better.
        qrels: How relevant passages are, by id; ``supporting_ids`` at 1 by default.
        meta: What else its record has.
    """
    return dspy.Example(
        id=id,
        question=question.strip(),
        answers=list(answers),
        type=type,
        hops=hops,
        supporting_ids=list(supporting_ids),
        supporting_titles=list(supporting_titles),
        sub_questions=[dict(part) for part in sub_questions],
        references=[dict(each) for each in references],
        qrels=dict(qrels) if qrels is not None else dict.fromkeys(supporting_ids, 1),
        meta=dict(meta or {}),
    ).with_inputs("question")
