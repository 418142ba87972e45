"""Which index a question is asked of: one that the user built, one made of documents on the spot, or the demo's."""

import hashlib
from importlib.resources import as_file, files
from pathlib import Path

from filelock import FileLock

from .. import data
from ..data.corpus import RECORD_WORDS, load_corpus
from ..data.index import Index, build, open_index
from ..data.index.manifest import FORMAT_VERSION
from ..data.index.settings import KINDS, Kind
from ..errors import AspectragError, nearest
from ..home import home
from ..lms.artifacts import fetch
from .views.terminal import console, shown

# Raised when reading or chunking changes, so that old automatic indexes are not taken for new ones.
_READING_VERSION = 1


def kind_of(name: str) -> Kind:
    """The kind of index of this name.

    Raises:
        AspectragError: There is none; names the nearest.
    """
    for kind in KINDS:
        if kind == name:
            return kind
    raise AspectragError(f"there is no kind of index {name!r}{nearest(name, KINDS)} (kinds: {', '.join(KINDS)})")


def encoder_of(kind: Kind, encoder: str | None) -> str | None:
    """The encoder that an index of this kind needs: the user's, the default one, or none."""
    if kind == "bm25":
        return None
    return encoder or str(fetch("encoder"))


def say(line: str) -> None:
    """Tell the user how long work will take, on stderr."""
    console(stderr=True).print(shown(line), style="dim")


def index_of(
    index: Path | None,
    docs: list[Path],
    kind: str,
    encoder: str | None,
    progress: bool,
    *,
    whole_records: bool = False,
) -> Index:
    """Open the index that the options mean; documents, and the demo corpus, are indexed once and then kept.

    With ``whole_records`` no record is cut, however long: questions refer to them by their ids.

    Raises:
        AspectragError: Both or unusable ones are given.
    """
    if index and docs:
        raise AspectragError("--index and --docs exclude each other: an index has its documents already")
    if index:
        return open_index(index, encoder=encoder)
    if docs:
        return _indexed(docs, kind_of(kind), encoder, progress, whole_records)
    with as_file(files(data) / "demo" / "corpus.jsonl") as corpus:
        return _indexed([corpus], kind_of(kind), encoder, progress, whole_records)


def _indexed(paths: list[Path], kind: Kind, encoder: str | None, progress: bool, whole: bool) -> Index:
    resolved = encoder_of(kind, encoder)
    folder = home() / "indexes" / _fingerprint(paths, kind, resolved, whole)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):  # who asks the same of the same documents at once, waits
        return _opened(folder, paths, kind, resolved, progress, whole)


def _opened(folder: Path, paths: list[Path], kind: Kind, resolved: str | None, progress: bool, whole: bool) -> Index:
    if folder.exists():
        return open_index(folder, encoder=resolved)
    corpus = load_corpus(paths, record_words=None if whole else RECORD_WORDS, progress=progress)
    for problem in corpus.report.problems:
        say(f"! {problem}")
    return build(corpus, folder, kind, encoder=resolved, progress=progress, report=say if progress else None)


def _fingerprint(paths: list[Path], kind: Kind, encoder: str | None, whole: bool) -> str:
    """Changes with any file's place, size or time: cheaper than reading all, and wrong only towards building again."""
    seen = [f"{_READING_VERSION} {FORMAT_VERSION} {kind} {encoder}{' whole' * whole}"]
    for path in paths:
        if not path.exists():
            raise AspectragError(f"{path} does not exist: give files or folders of documents")
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                stat = file.stat()
                seen.append(f"{file.resolve()} {stat.st_size} {stat.st_mtime_ns}")
    return hashlib.sha256("\n".join(seen).encode("utf-8", "surrogateescape")).hexdigest()[:16]
