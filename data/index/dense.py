"""Dense retrieval: passages and queries as unit vectors of one encoder, compared by cosine."""

from collections.abc import Sequence

from ..passages import Passage
from .encoder import Encoder, unit_rows
from .ordering import Hits, check_search
from .scorers import BiEncoderScorer, rank_by
from .store import PassageStore
from .vectors import VectorSearch


class DenseIndex:
    """Finds passages by meaning. Safe to search from many threads.

    A batch of queries is encoded in one call and searched in one call: one by one, an exact scan would read all vectors
    for each.

    Args:
        store: The passages.
        vectors: Their vectors, in the same rows.
        encoder: The encoder that made them.
    """

    def __init__(self, store: PassageStore, vectors: VectorSearch, encoder: Encoder) -> None:
        self._store = store
        self._vectors = vectors
        self._encoder = encoder
        self.scorer = BiEncoderScorer(encoder, store, vectors.vectors)

    def __deepcopy__(self, memo: dict[int, object]) -> "DenseIndex":
        return self

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """The ``k`` most similar passages per query; scores are cosines, rounded to six decimals.

        Raises:
            AspectragError: ``k`` is below 1, or the encoder does not fit.
        """
        return self._store.passages(self.find(queries, k))

    def find(self, queries: Sequence[str], k: int) -> list[Hits]:
        """Like ``search``, as rows of the store."""
        check_search(queries, k)
        found = [Hits.none()] * len(queries)
        asked = [i for i, query in enumerate(queries) if query.strip()]
        if asked and len(self._store):
            given = self._encoder.encode_queries([queries[i] for i in asked])
            dimension = self._vectors.vectors.shape[1]
            wanted = unit_rows(given, len(asked), dimension, self._encoder.identity.name)
            for i, hits in zip(asked, self._vectors.search(wanted, k), strict=True):
                found[i] = hits
        return found

    def rank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """Order given passages by cosine with ``query``: stored vectors where there are, else encoded on the fly.

        Raises:
            AspectragError: ``k`` is below 1, or the encoder does not fit.
        """
        return rank_by(self.scorer, [query], [passages], k)[0]
