"""Training the list-wise ranker: what a list is worth, good lists to learn from, and learning from better and worse."""

from typing import TYPE_CHECKING

from ...lazy import lazy

if TYPE_CHECKING:
    from .dpo import PreferenceRanker
    from .oracle import CoverageRanker
    from .sft import SupervisedRanker
    from .training import Settings

_HOMES = {
    "CoverageRanker": "oracle",
    "PreferenceRanker": "dpo",
    "Settings": "training",
    "SupervisedRanker": "sft",
}

__all__ = [
    "CoverageRanker",
    "PreferenceRanker",
    "Settings",
    "SupervisedRanker",
]

# Lazy: PyTorch takes seconds to import.
__getattr__, __dir__ = lazy(__name__, _HOMES)
