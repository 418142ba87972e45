"""Evaluation that can be trusted: runs that resume, scores with intervals, and comparisons question by question."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import compare
    from .evaluation import evaluate
    from .run import Run, runs_of
    from .scoring import score
    from .swapping import Swapped, swap

_HOMES = {
    "compare": "comparison", "evaluate": "evaluation", "Run": "run", "runs_of": "run", "score": "scoring",
    "Swapped": "swapping", "swap": "swapping",
}  # fmt: skip

__all__ = ["Run", "Swapped", "compare", "evaluate", "runs_of", "score", "swap"]


def __getattr__(name: str) -> Any:
    # Lazy: who needs the pool of questions alone does not pay for metrics and judges.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
