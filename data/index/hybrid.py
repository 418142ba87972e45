"""Hybrid retrieval: words and meaning, fused by rank."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..passages import Passage
from .bm25 import Bm25Index
from .dense import DenseIndex
from .ordering import Hits, check_k, check_search, order, ranked
from .store import PassageStore

Item = TypeVar("Item", bound=Hashable)


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Item]], constant: int = 60) -> dict[Item, float]:
    """Fuse rankings: the score of an item is the sum of ``1 / (constant + rank)`` over the rankings that hold it.

    Ranks start at 1, and a ranking that lacks the item adds nothing
    (Cormack, Clarke and Buettcher, SIGIR 2009; they use 60).

    Example:
        >>> fused = reciprocal_rank_fusion([["a", "b"], ["b"]])
        >>> fused["b"] == 1 / 62 + 1 / 61, fused["a"] == 1 / 61
        (True, True)
    """
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (constant + rank)
    return scores


class HybridIndex:
    """Fuses the first ``depth`` hits of BM25 and of a dense index over the same passages; safe for many threads.

    Args:
        store: The passages of both.
        lexical: The BM25 index.
        dense: The dense index.
        constant: Constant of the fusion.
        depth: Hits taken from each (``k`` where that is more).
    """

    def __init__(
        self, store: PassageStore, lexical: Bm25Index, dense: DenseIndex, *, constant: int = 60, depth: int = 100
    ) -> None:
        self._store = store
        self._lexical = lexical
        self._dense = dense
        self._constant = constant
        self._depth = depth

    def __deepcopy__(self, memo: dict[int, object]) -> "HybridIndex":
        return self

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """The ``k`` best fused passages per query; equal scores are ordered by id.

        Raises:
            AspectragError: ``k`` is below 1, or the encoder does not fit.
        """
        return self._store.passages(self.find(queries, k))

    def find(self, queries: Sequence[str], k: int) -> list[Hits]:
        """Like ``search``, as rows of the store."""
        check_search(queries, k)
        depth = max(k, self._depth)
        pairs = zip(self._lexical.find(queries, depth), self._dense.find(queries, depth), strict=True)
        return [self._fuse(pair, k) for pair in pairs]

    def rank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """Order given passages by fusing their BM25 ranking (of those that share a term) with their dense one.

        Raises:
            AspectragError: ``k`` is below 1, or the encoder does not fit.
        """
        check_k(k)
        lexical = self._lexical.relevance(query, passages)
        rankings = [_places(passages, lexical)[: int((lexical > 0).sum())]]
        if query.strip():
            rankings.append(_places(passages, self._dense.scorer.score([query], [passages])[0]))
        fused = reciprocal_rank_fusion(rankings, self._constant)
        return ranked(passages, np.array([fused.get(place, 0.0) for place in range(len(passages))]), k)

    def _fuse(self, found: Sequence[Hits], k: int) -> Hits:
        fused = reciprocal_rank_fusion([hits.rows.tolist() for hits in found], self._constant)
        rows = np.fromiter(fused, dtype=np.int64, count=len(fused))
        scores = np.fromiter(fused.values(), dtype=np.float64, count=len(fused))
        best = order(scores, self._store.ranks[rows])[:k]
        return Hits(rows[best], scores[best])


def _places(passages: Sequence[Passage], scores: npt.NDArray[np.float64]) -> list[int]:
    """Places of ``passages``, ordered by (score descending, id)."""
    return sorted(range(len(passages)), key=lambda place: (-scores[place], passages[place].id))
