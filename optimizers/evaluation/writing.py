"""Writing answers down beside the asking: the thread that has one goes on to its next question."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import BoundedSemaphore


class Writer:
    """One thread that writes what the others hand to it, in that order; :func:`writer` makes one.

    Args:
        room: How much may wait to be written; whoever brings more waits for room, so that memory has a bound.
    """

    def __init__(self, room: int) -> None:
        self._room = BoundedSemaphore(room)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._error: BaseException | None = None

    def put(self, write: Callable[[], None]) -> None:
        """Have ``write`` called soon.

        Raises:
            OSError: What was handed over before could not be written, as on a full disk; nothing more is.
        """
        self.check()
        self._room.acquire()
        self._thread.submit(self._write, write)

    def _write(self, write: Callable[[], None]) -> None:
        try:
            if self._error is None:
                write()
        except BaseException as error:
            self._error = error
        finally:
            self._room.release()

    def check(self) -> None:
        """Raise what kept the thread from writing, if anything did."""
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown()


@contextmanager
def writer(room: int) -> Iterator[Writer]:
    """A writer for the time of a block, which ends when all is written, or with what kept it from being.

    Raises:
        OSError: See :meth:`Writer.put`.
    """
    own = Writer(room)
    try:
        yield own
    finally:
        own.finish()
    own.check()
