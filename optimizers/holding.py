"""One process at a time for a folder that something is made in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import AspectragError


@contextmanager
def held(folder: Path, busy: str) -> Iterator[None]:
    """Hold a folder, which is made where there is none.

    Args:
        folder: It.
        busy: What to say where another process holds it.

    Raises:
        AspectragError: Another process does.
        OSError: It cannot be made, or written into.
    """
    lock = FileLock(folder / ".lock", timeout=0)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock.acquire()
    except Timeout:
        raise AspectragError(busy) from None
    try:
        yield
    finally:
        lock.release()
