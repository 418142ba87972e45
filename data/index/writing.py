"""Writing all files of one index: passages, then what each kind needs, then the manifest."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from ..passages import Passage
from .encoder import Encoder, Vectors
from .manifest import Manifest, library_versions
from .scorers import CrossEncoderScorer
from .settings import IndexSettings, Kind, parts_of
from .store import PassageStore, write_store
from .workshop import Workshop

PASSAGES, BM25, VECTORS, FAISS = "passages", "bm25", "dense/vectors.npy", "dense/faiss.index"


@dataclass(frozen=True)
class Recipe:
    """How to make an index, whatever its passages are.

    Attributes:
        kind: What it opens as.
        settings: The choices.
        encoder: Encoder of the vectors, where the kind needs them.
        encoder_source: Where to find it again.
        cross_encoder: Scorer of a reranked index, where it is not the encoder.
        cross_encoder_source: Where to find that again.
    """

    kind: Kind
    settings: IndexSettings
    encoder: Encoder | None = None
    encoder_source: str = ""
    cross_encoder: CrossEncoderScorer | None = None
    cross_encoder_source: str = ""


def write_index(
    workshop: Workshop,
    passages: Iterable[Passage],
    recipe: Recipe,
    *,
    known: Vectors | None = None,
    report: Callable[[str], None],
    progress: bool,
) -> Manifest:
    """Write an index into a workshop; the caller publishes it.

    Args:
        workshop: Where to.
        passages: Read once, in order, never held together.
        recipe: How.
        known: Vectors of the first passages, which are then not encoded again.
        report: Receives one line before encoding starts.
        progress: Whether to show a progress bar while encoding.

    Raises:
        AspectragError: An id occurs twice, or encoding is not possible.
    """
    settings = recipe.settings
    count, corpus = write_store(passages, workshop.files / PASSAGES)
    store = PassageStore(workshop.files / PASSAGES)
    parts = parts_of(recipe.kind, settings, recipe.cross_encoder is not None)
    if parts.bm25:
        from .bm25 import write_bm25

        write_bm25(store, workshop.files / BM25, settings.analyzer, settings.k1, settings.b)
    encoder = recipe.encoder if parts.dense else None
    dimension, plan = 0, None
    if encoder is not None:
        from .encoding import encode_store
        from .vectors import plan_vectors, write_faiss

        path = workshop.files / VECTORS
        path.parent.mkdir()
        dimension = encode_store(store, encoder, path, workshop.shards, known=known, report=report, progress=progress)
        plan = plan_vectors(settings.vectors, count)
        write_faiss(np.load(path, mmap_mode="r"), workshop.files / FAISS, plan.used)
    manifest = Manifest(
        kind=recipe.kind,
        count=count,
        corpus_hash=corpus,
        generation=workshop.generation,
        settings=settings,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        files=workshop.sizes(),
        libraries=library_versions(),
        encoder=encoder.identity if encoder else None,
        encoder_source=recipe.encoder_source if encoder else "",
        dimension=dimension,
        vectors=plan,
        cross_encoder=recipe.cross_encoder.identity if recipe.cross_encoder else None,
        cross_encoder_source=recipe.cross_encoder_source,
    )
    manifest.write(workshop.output)
    return manifest
