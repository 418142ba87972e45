"""The wrong answers of a run, each with the stage that lost it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from ...errors import AspectragError
from ...programs.showing.known import Known
from ...programs.trace import Step, Trace
from ..metrics.metric import TOP
from ..metrics.registry import METRICS
from .diagnosis import STAGES, Diagnosis, diagnose
from .folder import trace_name
from .gold import gold_of
from .run import Run, Scored

_DEFAULTS = ("acc", "compound_acc")


@dataclass(frozen=True)
class Wrong:
    """A question that was answered wrongly, or not at all.

    Attributes:
        id: Of the question.
        question: The question.
        score: What it scored; ``None`` for one that failed.
        categories: As scored.
        diagnosis: Where it was lost.
        place: The names of the steps that lead to the one that lost it.
        trace: The file of its trace; ``None`` where none was kept.
    """

    id: str
    question: str
    score: float | None
    categories: Mapping[str, str]
    diagnosis: Diagnosis
    place: tuple[str, ...]
    trace: Path | None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {
            "id": self.id,
            "question": self.question,
            "score": self.score,
            "categories": dict(self.categories),
            "stage": self.diagnosis.stage,
            "reason": self.diagnosis.reason,
            "step": list(self.place),
            "trace": str(self.trace) if self.trace else None,
        }


@dataclass(frozen=True)
class Diagnosed:
    """A run and what is wrong in it.

    Attributes:
        run: The run.
        metric: The column by which an answer is wrong; ``None`` for acc, and compound_acc of compound questions.
        threshold: Scores below it are wrong.
        wrong: The wrong answers, in the order of the questions.
        right: How many are right.
        unscored: Ids of the questions that the metric does not apply to.
        unasked: How many questions were not asked yet.
    """

    run: Run
    metric: str | None
    threshold: float
    wrong: tuple[Wrong, ...]
    right: int
    unscored: tuple[str, ...]
    unasked: int

    def counts(self, category: str | None = None, value: str | None = None) -> dict[str, int]:
        """How many were lost by each stage, over all questions or those of a category's value."""
        members = [each for each in self.wrong if category is None or each.categories.get(category) == value]
        counted = Counter(each.diagnosis.stage for each in members)
        return {stage: counted[stage] for stage in STAGES}

    def values(self, category: str) -> list[str | None]:
        """The values of a category among the wrong answers; ``None`` comes last, for those that have none."""
        found = {each.categories.get(category) for each in self.wrong}
        return [*sorted(value for value in found if value is not None), *([None] if None in found else [])]

    def _repr_html_(self) -> str:
        """Counts and the wrong answers, in notebooks."""
        from .tables import diagnosed_html  # it knows this class

        return diagnosed_html(self)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        categories = dict.fromkeys(name for each in self.wrong for name in each.categories)
        return {
            "run": str(self.run.path),
            "metric": self.metric or "acc, compound_acc of compound questions",
            "threshold": self.threshold,
            "right": self.right,
            "wrong": len(self.wrong),
            "unscored": list(self.unscored),
            "unasked": self.unasked,
            "stages": self.counts(),
            "by_category": {
                name: {value or "": self.counts(name, value) for value in self.values(name)} for name in categories
            },
            "questions": [each.to_dict() for each in self.wrong],
        }


def diagnose_run(run: Run, metric: str | None = None, threshold: float = TOP) -> Diagnosed:
    """Diagnose every wrong answer of a scored run.

    Args:
        run: The run.
        metric: The column by which an answer is wrong; by default acc, and compound_acc of compound questions.
        threshold: Scores below it are wrong.

    Raises:
        AspectragError: It is not scored, was not measured by the metric, or keeps nothing by which to tell.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data.benchmarks import load
        >>> from aspectrag.optimizers.evaluation import evaluate
        >>> from aspectrag.programs import Direct
        >>> lm, demo = lms.scripted_lm({"answer": "Nobody."}), load("demo", limit=2).questions
        >>> with TemporaryDirectory() as folder:
        ...     [run] = evaluate({"direct": Direct()}, demo, folder, metrics=["acc"], lm=lm, progress=False)
        ...     found = diagnose_run(run)
        >>> len(found.wrong)
        2
    """
    scored = {each.id: each for each in run.scored()}
    _check_column(run, scored.values(), metric)
    if not any(gold_of(question).is_known for question in run.questions):
        raise AspectragError(
            f"{run.path}: its questions name neither supporting passages nor parts: there is nothing to diagnose by"
        )
    wrong: list[Wrong] = []
    unscored: list[str] = []
    right = 0
    for question, record in run.answers():
        if question.id not in scored:
            raise AspectragError(f"{run.path} was answered further than it is scored: run 'aspectrag eval' again")
        each = scored[question.id]
        score = each.scores.get(_column(question, each, metric))
        if record["error"] is None and score is None:
            unscored.append(question.id)
        elif record["error"] is None and score is not None and score >= threshold:
            right += 1
        else:
            wrong.append(_diagnosed(run, question, record, each, score))
    if wrong and not any(each.trace for each in wrong):
        raise AspectragError(f"{run.path} keeps no traces: run 'aspectrag eval' into a new folder to have them")
    asked = len(wrong) + right + len(unscored)
    return Diagnosed(run, metric, threshold, tuple(wrong), right, tuple(unscored), len(run.questions) - asked)


def known_of(question: dspy.Example, record: Mapping[str, Any], scored: Scored, trace: Trace | None) -> Known:
    """What a benchmark knows of a question, for a page that shows its trace.

    Args:
        question: The question.
        record: Its record in ``predictions.jsonl``.
        scored: What it scored: by acc, or compound_acc of compound questions, it is wrong or not.
        trace: Of the answer.
    """
    expected = [str(each) for each in question.get("answers") or []]
    score = scored.scores.get(_column(question, scored, None))
    if record["error"] is None and (score is None or score >= TOP):
        return Known(expected)
    found = _told(question, record, trace)
    if found.stage == "unknown":
        return Known(expected)
    steps = trace.walk() if trace else ()
    place = next((place for place, step in enumerate(steps) if step is found.step), None)
    return Known(expected, found.stage, found.reason, place)


def _check_column(run: Run, scored: Iterable[Scored], metric: str | None) -> None:
    columns = list(dict.fromkeys(column for each in scored for column in each.scores))
    known = next((each for each in METRICS.values() if metric in (each.name, *each.gives)), None)
    if known and known.better != "higher":
        raise AspectragError(f"{metric} does not tell right from wrong: give a metric of which more is better")
    if not any(name in columns for name in ((metric,) if metric else _DEFAULTS)):
        raise AspectragError(
            f"{run.path} was not measured by {metric or ' or '.join(_DEFAULTS)} (its columns: "
            f"{', '.join(columns) or 'none'}): give one of them as --metric"
        )


def _column(question: dspy.Example, scored: Scored, metric: str | None) -> str:
    if metric:
        return metric
    of_parts = gold_of(question).side_by_side and "compound_acc" in scored.scores
    return "compound_acc" if of_parts or "acc" not in scored.scores else "acc"


def _diagnosed(
    run: Run, question: dspy.Example, record: Mapping[str, Any], scored: Scored, score: float | None
) -> Wrong:
    file = run.path / "traces" / trace_name(question.id)
    try:
        trace = run.trace(question.id)
        found = _told(question, record, trace)
    except AspectragError as error:  # one damaged file does not keep the others from being told
        trace, found = None, Diagnosis("unknown", str(error))
    place = _place(trace, found.step) if trace and found.step else ()
    failed = record["error"] is not None
    kept = file if file.is_file() else None
    return Wrong(question.id, question.question, None if failed else score, scored.categories, found, place, kept)


def _told(question: dspy.Example, record: Mapping[str, Any], trace: Trace | None) -> Diagnosis:
    """The diagnosis; what a file says of a step may be anything, and keeps no other question from its own."""
    try:
        return diagnose(question, record, trace)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        return Diagnosis("unknown", f"its trace cannot be read ({type(error).__name__})")


def _place(trace: Trace, wanted: Step) -> tuple[str, ...]:
    """The names of the steps that lead to a step."""

    def down(step: Step) -> tuple[str, ...]:
        if step is wanted:
            return (step.name,)
        inside = next(filter(None, map(down, step.children)), ())
        return (step.name, *inside) if inside else ()

    return next(filter(None, map(down, trace.steps)), ())
