"""The metrics, one file each, by name in the registry: pure functions, and three that ask a judge."""

from typing import TYPE_CHECKING

from ...lazy import lazy

if TYPE_CHECKING:
    from .metric import Metric, as_dspy, feedback
    from .registry import METRICS
    from .stages import label_of, parts_match

_HOMES = {
    "METRICS": "registry",
    "Metric": "metric",
    "as_dspy": "metric",
    "feedback": "metric",
    "label_of": "stages",
    "parts_match": "stages",
}

__all__ = [
    "METRICS",
    "Metric",
    "as_dspy",
    "feedback",
    "label_of",
    "parts_match",
]

# Lazy: one metric does not pay for the others and their judges.
__getattr__, __dir__ = lazy(__name__, _HOMES)
