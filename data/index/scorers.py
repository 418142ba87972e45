"""Scoring given passages for a query: by cosine of an encoder, or by a cross-encoder that reads both together."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...errors import AspectragError
from ..passages import Passage
from .encoder import Encoder, EncoderIdentity, Vectors, locate_model, quiet_loading, readable, unit_rows, weights_sha256
from .ordering import SCORE_DECIMALS, check_k, ranked
from .store import PassageStore
from .vectors import similarities

Scores = npt.NDArray[np.float64]


class Scorer(Protocol):
    """Gives each candidate of each query a score, higher is better; safe to call from many threads."""

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[Scores]:
        """One array ``[len(candidates[i])]`` per query."""
        ...


def rank_by(
    scorer: Scorer, queries: Sequence[str], candidates: Sequence[Sequence[Passage]], k: int
) -> list[list[Passage]]:
    """The best ``k`` candidates of each query by a scorer, ordered by (score descending, id).

    Raises:
        AspectragError: ``k`` is below 1, or a score is not finite.
    """
    check_k(k)
    scored = scorer.score(queries, candidates)
    if not all(np.isfinite(scores).all() for scores in scored):
        raise AspectragError("the scorer gave a score that is not finite: check its weights")
    return [ranked(passages, scores, k) for passages, scores in zip(candidates, scored, strict=True)]


class BiEncoderScorer:
    """Cosine of query and passage. Blank queries score 0 everywhere.

    Args:
        encoder: Encodes queries, and the passages whose vectors are not stored.
        store: Passages whose vectors are stored, if any are.
        vectors: Their unit vectors ``[len(store), dimension]``.
    """

    def __init__(self, encoder: Encoder, store: PassageStore | None = None, vectors: Vectors | None = None) -> None:
        self._encoder = encoder
        self._store = store
        self._vectors = vectors

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[Scores]:
        """Cosines, rounded to six decimals; every text is encoded once, in one batch."""
        asked = [i for i, query in enumerate(queries) if query.strip() and candidates[i]]
        results: list[Scores] = [np.zeros(len(passages)) for passages in candidates]
        if not asked:
            return results
        stored = [self._known(candidates[i]) for i in asked]
        fresh: dict[str, int] = {}
        for i, rows in zip(asked, stored, strict=True):
            for place in np.flatnonzero(rows < 0).tolist():
                fresh.setdefault(candidates[i][place].contents, len(fresh))
        name = self._encoder.identity.name
        wanted = unit_rows(self._encoder.encode_queries([queries[i] for i in asked]), len(asked), self._dimension, name)
        encoded = (
            unit_rows(self._encoder.encode_passages(list(fresh)), len(fresh), wanted.shape[1], name) if fresh else None
        )
        for i, rows, query in zip(asked, stored, wanted, strict=True):
            vectors = np.empty((len(rows), wanted.shape[1]), dtype=np.float32)
            if self._vectors is not None and len(self._vectors):
                vectors[rows >= 0] = self._vectors[rows[rows >= 0]]
            if encoded is not None:
                missing = np.flatnonzero(rows < 0)
                vectors[missing] = encoded[[fresh[candidates[i][place].contents] for place in missing.tolist()]]
            results[i] = similarities(query[None, :], vectors)[0]
        return results

    @property
    def _dimension(self) -> int | None:
        return self._vectors.shape[1] if self._vectors is not None and len(self._vectors) else None

    def _known(self, passages: Sequence[Passage]) -> npt.NDArray[np.int64]:
        if self._store is None:
            return np.full(len(passages), -1, dtype=np.int64)
        return self._store.known(passages)


class CrossEncoderScorer:
    """A sentence-transformers ``CrossEncoder``, loaded when it is first used; one lock guards it.

    Args:
        source: Folder of the model, or its name on the hub.
        device: Torch device; ``None`` lets sentence-transformers choose.
        batch_size: Pairs per forward pass.

    Raises:
        AspectragError: There is no such model in reach.
    """

    def __init__(self, source: str | Path, *, device: str | None = None, batch_size: int = 32) -> None:
        self._folder = locate_model(source)
        self._device = device
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._model: Any = None
        name = str(source) if self._folder != Path(source).expanduser() else self._folder.resolve().name
        self.identity = EncoderIdentity(name=name, weights=weights_sha256(self._folder))

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[Scores]:
        """Scores as the model gives them, rounded to six decimals; all pairs in one call."""
        pairs = [
            (readable(query), readable(passage.contents))
            for query, passages in zip(queries, candidates, strict=True)
            for passage in passages
        ]
        if not pairs:
            return [np.zeros(0) for _ in queries]
        with self._lock:
            if self._model is None:
                self._model = self._load()
            flat = np.asarray(self._model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False))
        if flat.shape != (len(pairs),):
            raise AspectragError(
                f"{self.identity.name} gives {flat.shape[1:]} scores per pair: use a model with one label"
            )
        ends = np.cumsum([len(passages) for passages in candidates])[:-1]
        return np.split(np.round(flat.astype(np.float64), SCORE_DECIMALS), ends)

    def _load(self) -> Any:
        from .native import load_faiss

        load_faiss()  # fixes the order in which torch and faiss are imported
        from sentence_transformers import CrossEncoder

        with quiet_loading():
            return CrossEncoder(str(self._folder), device=self._device, local_files_only=True)
