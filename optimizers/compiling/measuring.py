"""Measuring a student on examples that no optimizer sees."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

import dspy
import numpy as np
from tqdm.auto import tqdm

from ...errors import AspectragError, redact
from ...programs.trace import record
from ..evaluation.pool import as_they_come
from ..evaluation.statistics import Mean, mean_of
from ..metrics.classification import classification
from ..metrics.metric import Metric
from .report import Measured
from .students import Meter, Student, is_outage

_PROBED = 3
_RESAMPLES = 1_000


@dataclass(frozen=True)
class Probe:
    """What a few runs took: how many, their calls and tokens, and the seconds of all, one after the other."""

    runs: int
    calls: int
    tokens: int
    seconds: float


def probe(student: Student, examples: Sequence[dspy.Example], metric: Metric) -> Probe:
    """Run a few examples, so that what is to come can be estimated; the cache keeps what they cost from being lost.

    Raises:
        AspectragError: The metric cannot score what comes out.
        dspy.LMError: The language model is out of reach.
    """
    chosen = examples[:_PROBED]
    started = time.perf_counter()
    with record() as trace:
        for example in chosen:
            prediction = _run(student, example)
            if isinstance(prediction, Exception) and is_outage(prediction):
                raise prediction
            if not isinstance(prediction, Exception):
                try:
                    metric.columns(example, prediction)
                except Exception as error:
                    raise AspectragError(
                        f"the metric {metric.name} cannot score this ({type(error).__name__}: {error}): "
                        "give one that fits the examples"
                    ) from error
    usage = trace.usage
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    calls = usage["lm_calls"] + usage["cached_calls"]
    return Probe(len(chosen), calls, tokens, time.perf_counter() - started)


def measure(
    student: Student,
    examples: Sequence[dspy.Example],
    metric: Metric,
    meter: Meter,
    workers: int,
    doing: str,
    progress: bool,
) -> Measured:
    """Score a student on examples; one that fails scores 0, and is named.

    Raises:
        dspy.LMError: The language model is out of reach.
        AspectragError: Every example failed, or the metric applies to none.
    """
    unread = meter.unreadable
    scores = [0.0] * len(examples)
    failures: dict[int, str] = {}
    pairs: list[tuple[str, str]] = []
    applies = False
    work: Callable[[int], dspy.Prediction | Exception] = lambda place: _run(student, examples[place])  # noqa: E731
    with closing(as_they_come(work, range(len(examples)), workers)) as outcomes:
        for place, outcome in tqdm(outcomes, doing, len(examples), unit="example", disable=None if progress else True):
            if isinstance(outcome, Exception) and is_outage(outcome):
                raise outcome
            if isinstance(outcome, Exception):
                failures[place] = redact(f"{type(outcome).__name__}: {outcome}")
                continue
            try:
                score = metric.columns(examples[place], outcome).get(metric.main)
                pair = metric.labels(examples[place], outcome) if metric.labels else None
            except Exception as error:
                failures[place] = redact(f"the metric failed ({type(error).__name__}: {error})")
                continue
            applies = applies or score is not None
            scores[place] = score or 0.0
            pairs += [pair] if pair else []
    if len(failures) == len(examples):
        raise AspectragError(f"every example failed, such as the first: {failures[min(failures)]}")
    if not applies:
        raise AspectragError(f"the metric {metric.name} says nothing of any example: give one that fits them")
    return Measured(
        score=mean_of(scores),
        scores=tuple(scores),
        failures=failures,
        unreadable=meter.unreadable - unread,
        classification=classification(pairs) if pairs else None,
        macro_f1=_macro_f1(pairs) if pairs else None,
    )


def unscored(metric: Metric, *measured: Measured) -> bool:
    """Whether nothing scored anything but 0, where more is better: there is nothing to choose by."""
    return metric.better == "higher" and not any(score for each in measured for score in each.scores)


def no_score(metric: Metric) -> str:
    """What is to be told of it."""
    return f"every test example scores 0 by {metric.name}: look at the metric, the labels and what the model says"


def _run(student: Student, example: dspy.Example) -> dspy.Prediction | Exception:
    try:
        return student(**example.inputs())
    except Exception as error:
        return error


def _macro_f1(pairs: Sequence[tuple[str, str]]) -> Mean:
    """Macro-F1 with a 95 % percentile interval over resampled examples."""
    rng = np.random.default_rng(0)
    labels = sorted({label for pair in pairs for label in pair})
    codes = {label: code for code, label in enumerate(labels)}
    expected, given = (np.array([codes[pair[side]] for pair in pairs]) for side in (0, 1))
    drawn = [rng.integers(0, len(pairs), len(pairs)) for _ in range(_RESAMPLES)]
    low, high = np.percentile([_f1_of(expected[d], given[d], len(labels)) for d in drawn], [2.5, 97.5])
    return Mean(_f1_of(expected, given, len(labels)), float(low), float(high), len(pairs))


def _f1_of(expected: np.ndarray, given: np.ndarray, labels: int) -> float:
    """As :func:`...metrics.classification.classification` defines it, fast."""
    right = np.bincount(expected[expected == given], minlength=labels)
    both = np.bincount(expected, minlength=labels) + np.bincount(given, minlength=labels)
    return float((2 * right[both > 0] / both[both > 0]).mean())
