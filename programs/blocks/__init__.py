"""What the programs share."""

from typing import TYPE_CHECKING

from ...lazy import lazy

if TYPE_CHECKING:
    from .answering import STYLES
    from .fallbacks import fall_back
    from .parts import at_least, at_most
    from .passages import merge, rerank, retrieve
    from .stage import RejectedOutputError, StageError

_HOMES = {
    "STYLES": "answering",
    "RejectedOutputError": "stage",
    "StageError": "stage",
    "at_least": "parts",
    "at_most": "parts",
    "fall_back": "fallbacks",
    "merge": "passages",
    "rerank": "passages",
    "retrieve": "passages",
}

__all__ = [
    "STYLES",
    "RejectedOutputError",
    "StageError",
    "at_least",
    "at_most",
    "fall_back",
    "merge",
    "rerank",
    "retrieve",
]

# Lazy: a block does not pay for the others.
__getattr__, __dir__ = lazy(__name__, _HOMES)
