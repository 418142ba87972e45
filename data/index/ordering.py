"""One order for every result: score descending, then id; and the checks that every search starts with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import AspectragError
from ..passages import Passage

# Below this, differences between similarities are noise: the same text encoded in another batch differs by some 1e-7.
SCORE_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Hits:
    """Rows that were found and their scores, best first; both of shape ``[found]``."""

    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]

    @classmethod
    def none(cls) -> "Hits":
        """Nothing found."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0))


def check_search(queries: Sequence[str], k: int) -> None:
    """Refuse what no index can answer.

    Raises:
        AspectragError: ``k`` is below 1, or a single string was given in place of a batch.
    """
    if isinstance(queries, str):
        raise AspectragError("search takes a batch of queries: pass a list, [query]")
    check_k(k)


def check_k(k: int) -> None:
    """Refuse a ``k`` below 1.

    Raises:
        AspectragError: ``k`` is below 1.
    """
    if k < 1:
        raise AspectragError(f"k is {k}: ask for at least 1 passage")


def order(scores: npt.NDArray[np.floating], ranks: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Positions sorted by (score descending, id); ``ranks`` are the places of the ids. Last axis of both arrays."""
    return np.lexsort((ranks, -scores), axis=-1)


def best_positive(scores: npt.NDArray[np.floating], k: int, ranks: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Rows of the up to ``k`` highest scores above 0, ties by id even where ``k`` cuts through them.

    Args:
        scores: One score per row, ``[count]``.
        k: At most so many rows.
        ranks: Place of each row's id, ``[count]``.

    Example:
        >>> best_positive(np.array([1.0, 0.0, 2.0, 1.0]), 2, np.array([3, 2, 1, 0])).tolist()
        [2, 3]
    """
    threshold = 0.0
    if k < len(scores):
        place = len(scores) - k
        threshold = np.partition(scores, place)[place]
    rows = np.flatnonzero(scores >= threshold if threshold > 0 else scores > 0)
    return rows[order(scores[rows], ranks[rows])[:k]]


def ranked(passages: Sequence[Passage], scores: npt.NDArray[np.floating], k: int) -> list[Passage]:
    """The best ``k`` of given passages with their scores, ordered by (score descending, id).

    Args:
        passages: In any order.
        scores: One per passage, ``[len(passages)]``.
        k: At most so many.
    """
    by_id = np.array(sorted(range(len(passages)), key=lambda place: passages[place].id), dtype=np.int64)
    best = by_id[order(scores[by_id], np.arange(len(by_id)))][:k]
    return [passages[place].with_score(scores[place]) for place in best.tolist()]
