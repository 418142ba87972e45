"""Fallbacks: how often a simpler path was taken, and how often since the model's output could not be used."""

from collections.abc import Iterator

import dspy

from ...programs.blocks.fallbacks import is_unusable_output
from .metric import Metric


def _reasons(prediction: dspy.Prediction) -> Iterator[str]:
    """Why, of a live program's prediction or of one that was read back."""
    for fallback in prediction.fallbacks:
        yield fallback["reason"] if isinstance(fallback, dict) else fallback.reason


def _fallbacks(example: dspy.Example, prediction: dspy.Prediction) -> float | None:  # noqa: ARG001
    return len(prediction.fallbacks) if "fallbacks" in prediction else None


def _parse_failures(example: dspy.Example, prediction: dspy.Prediction) -> float | None:  # noqa: ARG001
    return sum(map(is_unusable_output, _reasons(prediction))) if "fallbacks" in prediction else None


METRICS = (
    Metric("fallbacks", "simpler paths that were taken", _fallbacks, "lower"),
    Metric("parse_failures", "simpler paths since no output parsed, or all were refused", _parse_failures, "lower"),
)
