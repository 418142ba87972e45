"""A file of JSON lines that grows one record at a time, and survives being cut short anywhere."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import AspectragError
from ..texts import encodable


class GrowingFile:
    r"""Records, one per line; each is there as a whole or not at all.

    What a kill cut short is dropped when the file is opened again; a disk that is full leaves it as it was before.

    Args:
        path: The file; the first record makes it.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "out.jsonl"
        >>> GrowingFile(path).add({"id": "1"})
        >>> with path.open("a") as file:
        ...     _ = file.write('{"id": "2", "an')
        >>> [record["id"] for record in GrowingFile(path)]
        ['1']
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._drop_cut_line()

    def _drop_cut_line(self) -> None:
        if not self.path.is_file():
            return
        with self.path.open("rb+") as file:
            size = end = file.seek(0, os.SEEK_END)
            while end:  # back to the last end of a line
                start = max(0, end - 65_536)
                file.seek(start)
                found = file.read(end - start).rfind(b"\n")
                if found >= 0:
                    end = start + found + 1
                    break
                end = start
            if end < size:
                file.truncate(end)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The records, in the order they were written.

        Raises:
            AspectragError: A line is no record.
        """
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    record = json.loads(line)
                except ValueError:
                    record = None
                if not isinstance(record, dict):
                    raise AspectragError(f"{self.path}, line {number} is damaged: remove the line, and run again")
                yield record

    def add(self, record: dict[str, Any]) -> None:
        """Write a record; safe for many threads.

        Raises:
            OSError: It cannot be written; the file is as it was.
        """
        line = (encodable(json.dumps(record, ensure_ascii=False)) + "\n").encode()
        with self._lock, self.path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                written = 0
                while written < len(line):
                    written += file.write(line[written:]) or 0
            except OSError:
                file.truncate(before)
                raise
