"""Evaluation that can be trusted: runs that resume, scores with intervals, and comparisons question by question."""

from typing import TYPE_CHECKING

from ...lazy import lazy

if TYPE_CHECKING:
    from .comparison import compare
    from .diagnosing import diagnose_run
    from .diagnosis import Diagnosis, diagnose
    from .evaluation import evaluate
    from .run import Run, runs_of
    from .scoring import score
    from .swapping import Swapped, swap

_HOMES = {
    "Diagnosis": "diagnosis",
    "Run": "run",
    "Swapped": "swapping",
    "compare": "comparison",
    "diagnose": "diagnosis",
    "diagnose_run": "diagnosing",
    "evaluate": "evaluation",
    "runs_of": "run",
    "score": "scoring",
    "swap": "swapping",
}

__all__ = [
    "Diagnosis",
    "Run",
    "Swapped",
    "compare",
    "diagnose",
    "diagnose_run",
    "evaluate",
    "runs_of",
    "score",
    "swap",
]

# Lazy: who needs the pool of questions alone does not pay for metrics and judges.
__getattr__, __dir__ = lazy(__name__, _HOMES)
