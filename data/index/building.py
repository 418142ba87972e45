"""The two doors: ``build`` makes an index, ``open_index`` opens one."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ...errors import AspectragError
from ..passages import Passage
from .encoder import Encoder, as_encoder
from .fingerprint import corpus_hash
from .manifest import (
    MANIFEST,
    Manifest,
    check_corpus,
    check_libraries,
    check_model,
    check_settings,
    read_manifest,
)
from .scorers import CrossEncoderScorer
from .settings import KINDS, IndexSettings, Kind, parts_of
from .stored import Index, log_line
from .workshop import open_workshop
from .writing import Recipe, write_index

Model = Encoder | str | Path


def build(
    passages: Iterable[Passage],
    folder: str | Path,
    kind: Kind = "hybrid",
    *,
    encoder: Model | None = None,
    cross_encoder: CrossEncoderScorer | str | Path | None = None,
    settings: IndexSettings | None = None,
    overwrite: bool = False,
    report: Callable[[str], None] | None = None,
    progress: bool = True,
) -> Index:
    """Build an index and open it.

    Everything is written beside ``folder`` and moved into place at the end. A build that was killed while encoding goes
    on where it was when it is started again.

    Args:
        passages: Read once, in order; ids must be unique.
        folder: New or empty folder.
        kind: ``bm25``, ``dense``, ``hybrid``, or ``reranked`` (candidates of ``settings.rerank_base``, ordered by the
            encoder or the cross-encoder).
        encoder: Folder, hub name or object; needed by all kinds but ``bm25``, and but ``reranked`` with a cross-encoder
            over BM25.
        cross_encoder: Folder, hub name or object; for ``reranked`` only.
        settings: All other choices.
        overwrite: Whether to replace an index that is there.
        report: Receives one line with the expected time before encoding starts; the log, if not given.
        progress: Whether to show a progress bar while encoding.

    Raises:
        AspectragError: The folder is in use, an id occurs twice, or a model is missing or does not work.

    Example:
        >>> import tempfile
        >>> river = Passage("1", "Danube", "A river through ten countries.")
        >>> index = build([river], Path(tempfile.mkdtemp()) / "index", "bm25")
        >>> [passage.id for passage in index.search(["rivers"], k=3)[0]]
        ['1']
    """
    target = Path(folder).expanduser()
    recipe = _recipe(kind, settings or IndexSettings(), encoder, cross_encoder)
    _check_target(target, overwrite)
    with open_workshop(target) as workshop:
        write_index(workshop, passages, recipe, report=report or log_line, progress=progress)
        workshop.publish()
    return Index(target, read_manifest(target), recipe)


def open_index(
    folder: str | Path,
    encoder: Model | None = None,
    *,
    cross_encoder: CrossEncoderScorer | str | Path | None = None,
    settings: IndexSettings | None = None,
    corpus: str | Iterable[Passage] | None = None,
    mmap: bool = True,
) -> Index:
    """Open an index, memory-mapped: little is read before the first search, and no model is loaded.

    What is given is compared with what the index was built with.

    Args:
        folder: Of the index.
        encoder: Folder, hub name or object; the one it was built with is looked up where it was, if not given.
        cross_encoder: Likewise, for a reranked index that has one.
        settings: Settings that the index is expected to have.
        corpus: Passages that it is expected to hold, or their ``corpus_hash``.
        mmap: Whether to leave BM25 weights and vectors on disk until they are needed.

    Raises:
        AspectragError: There is no index, it is damaged, or something differs; the message names both sides.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     [[found]] = open_index(f"{folder}/index").search(["Is coal cheap?"], k=1)
        >>> found.title
        'Coal'
    """
    path = Path(folder).expanduser()
    manifest = read_manifest(path)
    check_libraries(manifest, path)
    if settings is not None:
        check_settings(manifest, path, settings)
    if corpus is not None:
        check_corpus(manifest, path, corpus if isinstance(corpus, str) else corpus_hash(corpus))
    return Index(path, manifest, _recorded_recipe(path, manifest, encoder, cross_encoder), mmap=mmap)


def _recipe(kind: Kind, settings: IndexSettings, encoder: Model | None, cross_encoder: Any) -> Recipe:
    if kind not in KINDS:
        raise AspectragError(f"no index kind {kind!r}: use one of {', '.join(KINDS)}")
    if cross_encoder is not None and kind != "reranked":
        raise AspectragError(f"a {kind} index has no use for a cross-encoder: leave it out or build kind 'reranked'")
    if not parts_of(kind, settings, cross_encoder is not None).dense:
        encoder = None
    elif encoder is None:
        raise AspectragError(f"a {kind} index needs an encoder: give a model folder or hub name, or build kind 'bm25'")
    return Recipe(
        kind=kind,
        settings=settings,
        encoder=None if encoder is None else as_encoder(encoder),
        encoder_source=_source(encoder),
        cross_encoder=_as_scorer(cross_encoder),
        cross_encoder_source=_source(cross_encoder),
    )


def _recorded_recipe(folder: Path, manifest: Manifest, encoder: Model | None, cross_encoder: Any) -> Recipe:
    """The recipe that the manifest names, with the models given or found again."""
    given_encoder = given_scorer = None
    if manifest.encoder is not None:
        given_encoder = as_encoder(_or_recorded("encoder", folder, encoder, manifest.encoder, manifest.encoder_source))
        check_model("encoder", folder, manifest.encoder, given_encoder.identity)
    if manifest.cross_encoder is not None:
        source = _or_recorded(
            "cross-encoder", folder, cross_encoder, manifest.cross_encoder, manifest.cross_encoder_source
        )
        given_scorer = _as_scorer(source)
        assert given_scorer is not None
        check_model("cross-encoder", folder, manifest.cross_encoder, given_scorer.identity)
    elif cross_encoder is not None:
        raise AspectragError(
            f"index {folder} was built without a cross-encoder, given is {cross_encoder}: open it without, "
            "or wrap it in a RerankedIndex"
        )
    return Recipe(
        manifest.kind,
        manifest.settings,
        given_encoder,
        manifest.encoder_source,
        given_scorer,
        manifest.cross_encoder_source,
    )


def _or_recorded(role: str, folder: Path, given: Any, made: object, source: str) -> Any:
    if given is not None:
        return given
    if not source:
        raise AspectragError(f"index {folder} was built with {role} {made}, none is given: give that {role}")
    try:
        return as_encoder(source) if role == "encoder" else CrossEncoderScorer(source)
    except AspectragError as error:
        raise AspectragError(
            f"index {folder} was built with {role} {made}, which is not in {source} any more: give that {role}"
        ) from error


def _as_scorer(cross_encoder: CrossEncoderScorer | str | Path | None) -> CrossEncoderScorer | None:
    return CrossEncoderScorer(cross_encoder) if isinstance(cross_encoder, str | Path) else cross_encoder


def _source(model: Any) -> str:
    """Where a model can be found again: a hub name as it is, a folder as an absolute path, nothing for an object."""
    if not isinstance(model, str | Path):
        folder = getattr(model, "folder", None)
        return str(folder.absolute()) if isinstance(folder, Path) else ""
    folder = Path(model).expanduser()
    return str(folder.absolute()) if folder.exists() else str(model)


def _check_target(target: Path, overwrite: bool) -> None:
    """Refuse to write over anything that is not asked for, and over foreign files always."""
    if target.exists() and not target.is_dir():
        raise AspectragError(f"{target} is a file: give a folder")
    if not target.exists() or not any(target.iterdir()):
        return
    if not (target / MANIFEST).is_file():
        raise AspectragError(f"{target} holds files that are no index: give a new or empty folder")
    if not overwrite:
        manifest = read_manifest(target)
        raise AspectragError(
            f"{target} holds an index of {manifest.count} passages: open it and add to it, or build with overwrite"
        )
