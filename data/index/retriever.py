"""What a program asks of an index: the one door between the two rooms."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ..passages import Passage

if TYPE_CHECKING:
    from .encoder import EncoderIdentity, Vectors


@runtime_checkable
class Retriever(Protocol):
    """Anything that finds passages.

    ``search`` takes a batch of queries and returns one list per query, ordered by (score descending, id). A list is
    never padded: it is shorter than ``k`` where fewer passages match, and empty where none does.
    ``__deepcopy__`` returns ``self``: programs are copied by optimizers, indexes are not.
    """

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """Find up to ``k`` passages for each query."""
        ...

    def __deepcopy__(self, memo: dict[int, object]) -> "Retriever":
        """Return ``self``."""
        ...


class NoPassages:
    """A retriever that finds nothing: for a program that is looked at, not asked."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:  # noqa: ARG002
        """An empty list for each query."""
        return [[] for _ in queries]

    def __deepcopy__(self, memo: dict[int, object]) -> "NoPassages":
        return self


@runtime_checkable
class Ranker(Protocol):
    """A retriever that can also order given passages by another query; every index of this package can."""

    def rank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """Return the best ``min(k, len(passages))`` of ``passages`` for ``query``, by (score descending, id)."""
        ...


@runtime_checkable
class VectorSource(Protocol):
    """A retriever that keeps vectors of its passages, for whoever needs them again."""

    def stored_vectors(self, passages: Sequence[Passage], encoder: "EncoderIdentity") -> "dict[int, Vectors]":
        """Unit vectors ``[d]`` by place in ``passages``, of those that are stored and were made by this encoder."""
        ...
