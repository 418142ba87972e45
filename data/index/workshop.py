"""Where an index is made: a hidden sibling folder, moved into place in one step when all is done."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from ...errors import AspectragError
from .manifest import MANIFEST


@dataclass(frozen=True)
class Workshop:
    """One build in progress.

    Attributes:
        target: Folder of the index.
        room: Hidden sibling that everything is made in.
        generation: Name of the sub-folder of the index that this build makes.
    """

    target: Path
    room: Path
    generation: str

    @property
    def output(self) -> Path:
        """What becomes the index: the manifest and the folder ``files``."""
        return self.room / "output"

    @property
    def files(self) -> Path:
        """Folder of the generation."""
        return self.output / self.generation

    @property
    def shards(self) -> Path:
        """Encoded vectors that outlive a killed build."""
        return self.room / "shards"

    def sizes(self) -> dict[str, int]:
        """Size in bytes of each file made so far, by path within the generation."""
        paths = sorted(path for path in self.files.rglob("*") if path.is_file())
        return {path.relative_to(self.files).as_posix(): path.stat().st_size for path in paths}

    def publish(self) -> None:
        """Put the finished index in place.

        A new index appears by renaming its folder. An existing one changes by replacing its manifest, which names the
        generation: at every instant the folder is either the old index or the new one.
        """
        if not (self.target / MANIFEST).exists():
            if self.target.exists():
                self.target.rmdir()  # only an empty folder gets here
            self.output.rename(self.target)
            return
        self.files.rename(self.target / self.generation)
        (self.output / MANIFEST).replace(self.target / MANIFEST)
        for old in self.target.iterdir():
            if old.is_dir() and old.name != self.generation:
                shutil.rmtree(old, ignore_errors=True)  # where the system keeps mapped files locked, they stay


@contextmanager
def open_workshop(target: Path) -> Iterator[Workshop]:
    """Make the room of a build; leave encoded shards there if the build does not finish, nothing if it does.

    Raises:
        AspectragError: Another build of the same index is running.
    """
    target = target.absolute()
    room = target.parent / f".{target.name}.building"
    room.mkdir(parents=True, exist_ok=True)
    lock = FileLock(room / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise AspectragError(f"another build of {target} is running: wait for it or choose another folder") from None
    finished = False
    try:
        workshop = Workshop(target, room, f"files-{uuid4().hex[:8]}")
        shutil.rmtree(workshop.output, ignore_errors=True)  # what a killed build left half done
        workshop.files.mkdir(parents=True)
        yield workshop
        finished = True
    finally:
        shutil.rmtree(room / "output", ignore_errors=True)
        if finished:
            shutil.rmtree(room / "shards", ignore_errors=True)
        lock.release()
        if not (room / "shards").exists():
            shutil.rmtree(room, ignore_errors=True)
