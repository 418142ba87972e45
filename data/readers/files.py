"""From paths to the files to read, in an order and under names that do not depend on the machine."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...errors import AspectragError
from .formats import format_of, known_suffixes
from .report import Ledger
from .source import Source

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def find_sources(paths: Paths, ledger: Ledger) -> list[Source]:
    """List the files to read.

    A folder is searched to the bottom in sorted order, links to folders and hidden files aside. A file that is reached
    twice is listed once. A name that is taken (two folders with a ``readme.md``) gets the names of the folders above
    it in front, as many as it takes.

    Args:
        paths: Files and folders.
        ledger: Learns of files without a reader.

    Raises:
        AspectragError: A path does not exist.
    """
    roots = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    sources: dict[str, Source] = {}
    seen: set[Path] = set()
    for root in (Path(path).expanduser() for path in roots):
        if not root.exists():
            raise AspectragError(f"no such file or folder: {root}; check the path (working folder: {Path.cwd()})")
        for path in _walk(root, ledger) if root.is_dir() else [root]:
            resolved = path.resolve()
            if resolved in seen:
                continue
            seen.add(resolved)
            if format_of(path.name):
                source = _named(path, path.relative_to(root) if path != root else Path(path.name), sources)
                sources[source.name] = source
            elif path == root:
                ledger.open(str(path))
                ledger.problem(f"no reader for this kind of file; there are readers for {known_suffixes()}")
            else:
                ledger.skipped[path.suffix.lower()] += 1
    return list(sources.values())


def _walk(folder: Path, ledger: Ledger) -> Iterator[Path]:
    def refused(error: OSError) -> None:
        ledger.open(str(error.filename))
        ledger.problem(f"cannot be read: {error.strerror}")

    found = []
    for parent, folders, names in os.walk(folder, onerror=refused):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in names if not name.startswith(".")]
    # Sorted by bytes, part by part: the locale has no say.
    yield from sorted((path for path in found if path.is_file()), key=lambda path: [os.fsencode(p) for p in path.parts])


def _named(path: Path, below: Path, taken: Iterable[str]) -> Source:
    name = _portable(below)
    above = path.resolve().parts[: -len(below.parts)]
    for depth in range(1, len(above)):
        if name not in taken:
            break
        name = _portable(Path(*above[-depth:], below))
    return Source(path, name)


def _portable(path: Path) -> str:
    """The path as UTF-8 whatever the locale makes of file names, with forward slashes."""
    return os.fsencode(path.as_posix()).decode("utf-8", errors="replace")
