"""What a metric is to an evaluation: a name, what it says, and how one answer is scored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from ...errors import AspectragError

# The best score there is, which a run must reach to be a demo unless another threshold is given.
TOP = 1.0
Score = float | None | Mapping[str, float | None]


@dataclass(frozen=True)
class Metric:
    """A metric that is known by its name.

    Attributes:
        name: What users call it; also the column of its score.
        about: One line: what a score says.
        score: Scores an answer, given the question (see :func:`...data.benchmarks.benchmark.question`) and the
            prediction: a number; several, by the names of their columns; or ``None`` where the question has not what
            the metric needs.
        better: Whether higher or lower is better; ``neither`` for what is only told, such as steps.
        judged: Whether it asks a language model, the one of the role ``judge``.
        gives: Its columns where it has several, the one that counts most first; its own name by default.
        labels: For one that scores a classifier: the label expected and the one given, ``None`` where it does not
            apply. Over a whole run they make F1 by class and a confusion matrix.

    Example:
        >>> words = Metric("words", "how many", lambda _, prediction: len(prediction.answer.split()), "neither")
        >>> words.score(dspy.Example(), dspy.Prediction(answer="Coal is cheap."))
        3
    """

    name: str
    about: str
    score: Callable[[dspy.Example, dspy.Prediction], Score]
    better: Literal["higher", "lower", "neither"] = "higher"
    judged: bool = False
    gives: tuple[str, ...] = ()
    labels: Callable[[dspy.Example, dspy.Prediction], tuple[str, str] | None] | None = None

    @property
    def main(self) -> str:
        """The column that counts where one number is wanted."""
        return self.gives[0] if self.gives else self.name

    def columns(self, example: dspy.Example, prediction: dspy.Prediction) -> dict[str, float]:
        """The scores by column; columns that do not apply to the question are not there."""
        score = self.score(example, prediction)
        by_column = score if isinstance(score, Mapping) else {self.main: score}
        return {column: float(value) for column, value in by_column.items() if value is not None}


def as_dspy(metric: Metric, column: str | None = None, threshold: float | None = None) -> Callable[..., Any]:
    """The metric in the form that DSPy's evaluation and optimizers call.

    While demos are collected (DSPy then hands over a trace, and no predictor's name as GEPA does), the score becomes a
    verdict: whether it reaches ``threshold``, by default the best there is, 1. A question that the metric does not
    apply to scores 0 and makes no demo. Where lower is better, scores are negated, as DSPy wants the highest. GEPA,
    which asks by a predictor's name, gets the score with what was expected in words (:func:`feedback`).

    Args:
        metric: The metric.
        column: Which of its scores counts; its main one by default.
        threshold: What makes a good demo, as the metric counts: at least this, at most where lower is better.

    Raises:
        AspectragError: The metric has no such column; names those it has.

    Example:
        >>> always = as_dspy(Metric("half", "always a half", lambda example, prediction: 0.5), threshold=0.4)
        >>> always(dspy.Example(), dspy.Prediction()), always(dspy.Example(), dspy.Prediction(), trace=[])
        (0.5, True)
    """
    known = metric.gives or (metric.name,)
    if column is not None and column not in known:
        raise AspectragError(f"the metric {metric.name!r} has no column {column!r}: choose of {', '.join(known)}")
    wanted, limit = column or metric.main, TOP if threshold is None else threshold
    lower = metric.better == "lower"

    def scored(
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,  # noqa: ARG001 - GEPA hands it over by name
    ) -> float | bool | dspy.Prediction:
        score = metric.columns(example, prediction).get(wanted)
        if trace is not None and pred_name is None:
            return score is not None and (score <= limit if lower else score >= limit)
        value = 0.0 if score is None else -score if lower else score
        return value if pred_name is None else dspy.Prediction(score=value, feedback=feedback(metric, example, value))

    scored.__name__ = metric.name
    return scored


def feedback(metric: Metric, example: dspy.Example, score: float) -> str:
    """What an optimizer that reads is told of an answer: its score, and all that was expected of it.

    Example:
        >>> told = feedback(Metric("em", "the answer is right", lambda e, p: 0.0), dspy.Example(answers=["Oder"]), 0.0)
        >>> told
        "em 0.00 (the answer is right); expected: answers 'Oder'"
    """
    expected = example.labels().items() if example._input_keys else example.items()
    told = [
        f"{name} {_brief(value)}" for name, value in expected if name not in _UNTOLD and value not in (None, "", [])
    ]
    return f"{metric.name} {score:.2f} ({metric.about})" + (f"; expected: {'; '.join(told)}" if told else "")


# Fields of examples that tell a reader nothing.
_UNTOLD = frozenset(("id", "meta", "qrels", "supporting_ids", "next_ids", "hops"))
_LONGEST = 300


def _brief(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    text = ", ".join(repr(each) for each in values)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
