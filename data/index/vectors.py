"""Nearest vectors with faiss: an exact scan by default, a graph or inverted lists by option, never compressed codes."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .encoder import Vectors
from .native import load_faiss
from .ordering import SCORE_DECIMALS, Hits, order

Method = Literal["flat", "hnsw", "ivf"]

_IVF_POINTS_PER_LIST = 39  # below it faiss warns that its k-means is starved
_HNSW_LINKS = 32
_CHUNK = 32  # queries that are re-scored at once: few enough for the processor's cache
# Two inner products of unit vectors that differ by less may swap places between faiss kernels.
_TOLERANCE = 2 * 10.0**-SCORE_DECIMALS


@dataclass(frozen=True)
class VectorPlan:
    """What was asked for and what could be built.

    Attributes:
        asked: The method that the settings name.
        used: The method that was built.
        reason: Why they differ; empty when they do not.
    """

    asked: Method
    used: Method
    reason: str = ""


def plan_vectors(method: Method, count: int) -> VectorPlan:
    """Choose a method that ``count`` vectors allow.

    Example:
        >>> plan_vectors("ivf", 10).used
        'flat'
    """
    if method == "ivf" and _lists(count) < 2:
        needed = 2 * _IVF_POINTS_PER_LIST
        return VectorPlan("ivf", "flat", f"training inverted lists needs {needed} vectors, the corpus has {count}")
    if method == "hnsw" and count == 0:
        return VectorPlan("hnsw", "flat", "the corpus is empty")
    return VectorPlan(method, method)


def write_faiss(vectors: Vectors, path: Path, method: Method) -> None:
    """Build a faiss index over unit vectors ``[count, dimension]``; ``flat`` needs none.

    Graph and lists depend on all vectors, so they are built anew when some are added. One thread builds them: with
    more, faiss inserts in an order that depends on timing, and two builds of one corpus would differ.
    """
    if method == "flat":
        return
    faiss = load_faiss()
    count, dimension = vectors.shape
    if method == "hnsw":
        index = faiss.IndexHNSWFlat(dimension, _HNSW_LINKS, faiss.METRIC_INNER_PRODUCT)
    else:
        quantizer = faiss.IndexFlatIP(dimension)
        index = faiss.IndexIVFFlat(quantizer, dimension, _lists(count), faiss.METRIC_INNER_PRODUCT)
    with _one_thread(faiss):
        index.train(vectors)
        index.add(vectors)
    faiss.write_index(index, str(path))


def _lists(count: int) -> int:
    return min(int(4 * math.sqrt(count)), count // _IVF_POINTS_PER_LIST)


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


class VectorSearch:
    """Searches unit vectors by inner product, which is their cosine.

    Args:
        vectors: All vectors ``[count, dimension]`` float32, memory-mapped or not; scanned where they lie.
        ranks: Place of each row's id among all ids, ``[count]``.
        method: ``flat`` scans all vectors, exactly. ``hnsw`` and ``ivf`` look at some and may miss a neighbour.
        path: The faiss index of the last two.
        effort: Candidates that ``hnsw`` keeps (efSearch), or lists that ``ivf`` looks into (nprobe).
    """

    def __init__(
        self, vectors: Vectors, ranks: npt.NDArray[np.int32], method: Method, path: Path | None, effort: int
    ) -> None:
        self.vectors = vectors
        self._ranks = ranks
        self._method = method
        self._effort = effort
        self._faiss = load_faiss()
        self._index: Any = self._faiss.read_index(str(path)) if method != "flat" else None

    def search(self, queries: Vectors, k: int) -> list[Hits]:
        """Up to ``k`` nearest rows for each query, ordered by (score descending, id).

        Scores are computed again in double precision for the rows that were found and rounded to six decimals, so that
        neither the kernel that faiss chose nor the number of threads decides between equals.

        Args:
            queries: Unit vectors ``[queries, dimension]``.
            k: At least 1.
        """
        count = len(self.vectors)
        found = [Hits.none()] * len(queries)
        pending, wanted = np.arange(len(queries)), queries
        width = min(count, k + 1)
        while len(pending) and width:
            scores, rows = self._nearest(wanted, width)
            for place, hits in zip(pending.tolist(), self._ordered(wanted, rows, k), strict=True):
                found[place] = hits
            # Ties may reach beyond what was fetched: then fetch more, so that the id decides and not chance.
            last = scores[:, min(k, width) - 1]
            cut = (rows[:, -1] >= 0) & (last - scores[:, -1] <= _TOLERANCE) & (width < count)
            pending = pending[cut]
            wanted = queries[pending]
            width = min(count, 4 * width)
        return found

    def _nearest(self, queries: Vectors, width: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        queries = np.ascontiguousarray(queries)
        if self._index is None:
            return self._scan(queries, width)
        parameters = (
            self._faiss.SearchParametersHNSW(efSearch=max(self._effort, width))
            if self._method == "hnsw"
            else self._faiss.SearchParametersIVF(nprobe=self._effort)
        )
        scores, rows = self._index.search(queries, width, params=parameters)
        short = np.flatnonzero(rows[:, -1] < 0)
        if len(short):  # fewer than asked for were met on the way although there are more: scan
            scores[short], rows[short] = self._scan(queries[short], width)
        return scores, rows

    def _scan(self, queries: Vectors, width: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        return self._faiss.knn(queries, self.vectors, width, metric=self._faiss.METRIC_INNER_PRODUCT)

    def _ordered(self, queries: Vectors, rows: npt.NDArray[np.int64], k: int) -> Iterator[Hits]:
        for first in range(0, len(rows), _CHUNK):
            block = rows[first : first + _CHUNK]
            wanted = queries[first : first + _CHUNK]
            exact = np.einsum("qkd,qd->qk", self.vectors[block], wanted, dtype=np.float64)
            scores = np.round(exact, SCORE_DECIMALS)
            best = order(scores, self._ranks[block])[:, :k]
            yield from map(Hits, np.take_along_axis(block, best, 1), np.take_along_axis(scores, best, 1))


def similarities(queries: Vectors, vectors: Vectors) -> npt.NDArray[np.float64]:
    """Cosines of unit vectors, rounded to six decimals: ``[queries, d] x [vectors, d] -> [queries, vectors]``."""
    return np.round(queries.astype(np.float64) @ vectors.astype(np.float64).T, SCORE_DECIMALS)
