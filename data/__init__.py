"""Passages, where they come from, and the indexes that find them."""

from typing import TYPE_CHECKING

from ..lazy import lazy

if TYPE_CHECKING:
    from .corpus import load_corpus
    from .faceted import load_faceted
    from .passages import Passage

_HOMES = {
    "Passage": "passages",
    "load_corpus": "corpus",
    "load_faceted": "faceted",
}

__all__ = [
    "Passage",
    "load_corpus",
    "load_faceted",
]

# Lazy: a passage does not pay for readers and indexes.
__getattr__, __dir__ = lazy(__name__, _HOMES)
