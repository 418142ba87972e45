"""From the files of an index to something that searches."""

from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from .manifest import Manifest
from .retriever import Ranker, Retriever
from .scorers import Scorer
from .store import PassageStore
from .writing import BM25, FAISS, PASSAGES, VECTORS, Recipe

Part = TypeVar("Part")


class Engine(Retriever, Ranker, Protocol):
    """A retriever that also ranks: what each kind of index is."""


def open_engine(folder: Path, manifest: Manifest, recipe: Recipe, *, mmap: bool = True) -> tuple[PassageStore, Engine]:
    """Open the files that a manifest names.

    Args:
        folder: The index.
        manifest: Its manifest, read and checked.
        recipe: Kind, settings and models.
        mmap: Whether to leave BM25 weights and vectors on disk until they are needed.
    """
    files = folder / manifest.generation
    store = PassageStore(files / PASSAGES)
    settings = manifest.settings
    lexical = dense = hybrid = None
    if manifest.parts.bm25:
        from .bm25 import Bm25Index

        lexical = Bm25Index(store, files / BM25, settings.analyzer, mmap=mmap)
    if manifest.vectors is not None and recipe.encoder is not None:
        from .dense import DenseIndex
        from .vectors import VectorSearch

        used = manifest.vectors.used
        vectors = np.asarray(np.load(files / VECTORS, mmap_mode="r" if mmap else None))
        effort = settings.ef_search if used == "hnsw" else settings.nprobe
        dense = DenseIndex(store, VectorSearch(vectors, store.ranks, used, files / FAISS, effort), recipe.encoder)
    if lexical is not None and dense is not None:
        from .hybrid import HybridIndex

        hybrid = HybridIndex(store, lexical, dense, constant=settings.fusion_constant, depth=settings.fusion_depth)
    engines: dict[str, Engine | None] = {"bm25": lexical, "dense": dense, "hybrid": hybrid}
    if manifest.kind != "reranked":
        return store, _present(engines[manifest.kind])
    from .reranked import RerankedIndex

    scorer: Scorer = recipe.cross_encoder or _present(dense).scorer
    return store, RerankedIndex(_present(engines[settings.rerank_base]), scorer, settings.rerank_depth)


def _present(part: Part | None) -> Part:
    assert part is not None, "the manifest was checked: its kind has this part"
    return part
