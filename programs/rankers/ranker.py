"""What every ranker promises, and the orders that need no learning."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from ...data.index.retriever import Retriever
from ..blocks.passages import rerank
from .candidates import Candidate


@runtime_checkable
class ListwiseRanker(Protocol):
    """Chooses and orders passages by what they are worth together.

    ``rank`` returns exactly ``min(k, len(pool))`` distinct ids of passages in the pool, best first.
    """

    def rank(self, question: str, aspects: Sequence[str], pool: Sequence[Candidate], k: int) -> list[str]:
        """Order the pool."""
        ...


class RetrievalOrder:
    """The order of the pool itself: by best rank in any query's list."""

    def rank(self, question: str, aspects: Sequence[str], pool: Sequence[Candidate], k: int) -> list[str]:  # noqa: ARG002
        """The first ``k`` of the pool."""
        return [candidate.passage.id for candidate in pool[:k]]


class Similarity:
    """The order of the retriever's own similarity to the bare question, whatever the aspects."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    def rank(self, question: str, aspects: Sequence[str], pool: Sequence[Candidate], k: int) -> list[str]:  # noqa: ARG002
        """The ``k`` most similar; a retriever that cannot compare keeps the order of the pool, with a warning."""
        passages = rerank(self._retriever, question, [candidate.passage for candidate in pool], k)
        return completed([passage.id for passage in passages], pool, k)[0]


def completed(ids: Iterable[str], pool: Sequence[Candidate], k: int) -> tuple[list[str], list[str]]:
    """Make a proper ranking of whatever was given: unknown and repeated ids go, missing ones follow in pool order.

    Returns:
        Exactly ``min(k, len(pool))`` distinct ids of the pool, and what was wrong, in words.

    Example:
        >>> from aspectrag.data.passages import Passage
        >>> pool = [Candidate(Passage(id, "", id), {}) for id in "abc"]
        >>> completed(["c", "x", "c"], pool, 2)
        (['c', 'a'], ['1 unknown', '1 repeated', '1 missing'])
    """
    given = list(ids)
    known = [candidate.passage.id for candidate in pool]
    valid = [id for id in given if id in known]
    distinct = list(dict.fromkeys(valid))
    length = min(k, len(known))
    counts = {
        "unknown": len(given) - len(valid),
        "repeated": len(valid) - len(distinct),
        "missing": max(length - len(distinct), 0),
    }
    ranking = list(dict.fromkeys([*distinct, *known]))[:length]
    return ranking, [f"{count} {fault}" for fault, count in counts.items() if count]
