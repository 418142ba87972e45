"""A disk that takes no more of a training is told in one line."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from ...errors import AspectragError
from ...lms.local.bases import first_line

_FULL = (errno.ENOSPC, errno.EDQUOT)
# What a checkpoint of a large adapter may take, in bytes.
_ROOM = 100_000_000


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Say in one line why nothing can be written to a folder.

    Raises:
        AspectragError: The disk is full, or refuses to be written to.
    """
    try:
        yield
    except (OSError, SafetensorError, RuntimeError) as error:
        if _is_full(error, folder):
            raise AspectragError(
                f"no room to write to {folder}: make room, and run it again to go on from the last checkpoint"
            ) from error
        if isinstance(error, RuntimeError):
            raise
        raise AspectragError(f"{folder} cannot be written to ({first_line(error)}): give another folder") from error


def _is_full(error: Exception, folder: Path) -> bool:
    if getattr(error, "errno", None) in _FULL or any(f"os error {number}" in str(error) for number in _FULL):
        return True
    # torch names no reason.
    there = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.exists())
    return isinstance(error, RuntimeError) and shutil.disk_usage(there).free < _ROOM
