"""Retrieve, then read again: any index, re-ordered by a scorer."""

from collections.abc import Sequence

from ..passages import Passage
from .ordering import check_search
from .retriever import Retriever
from .scorers import Scorer, rank_by


class RerankedIndex:
    """Takes ``depth`` candidates from an index and orders them by a scorer. As safe for threads as both are.

    Args:
        base: Any retriever.
        scorer: A ``BiEncoderScorer`` or ``CrossEncoderScorer``.
        depth: Candidates per query (``k`` where that is more). A cross-encoder of six layers reads some 70 pairs of 512
            tokens per second on a laptop's processor: 20 to 50 is sane there.
    """

    def __init__(self, base: Retriever, scorer: Scorer, depth: int = 50) -> None:
        self.base = base
        self._scorer = scorer
        self._depth = depth

    def __deepcopy__(self, memo: dict[int, object]) -> "RerankedIndex":
        return self

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """The ``k`` best candidates per query by the scorer; all candidates of a batch are scored in one call.

        Raises:
            AspectragError: ``k`` is below 1, or a model does not fit.
        """
        check_search(queries, k)
        return rank_by(self._scorer, queries, self.base.search(queries, max(k, self._depth)), k)

    def rank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """Order given passages by the scorer.

        Raises:
            AspectragError: ``k`` is below 1, or a model does not fit.
        """
        return rank_by(self._scorer, [query], [passages], k)[0]
