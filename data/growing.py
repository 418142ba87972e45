"""A file of JSON lines that grows one record at a time, and survives being cut short anywhere."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import AspectragError
from ..texts import encodable
from .passages import Passage


class GrowingFile:
    r"""Records, one per line; each is there as a whole or not at all.

    What a kill cut short is not read, and goes when the next record is written; a disk that is full leaves the file as
    it was before. Reading changes nothing.

    Args:
        path: The file; the first record makes it.
        needs: Keys that every record has.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "out.jsonl"
        >>> GrowingFile(path).add({"id": "1"})
        >>> with path.open("a") as file:
        ...     _ = file.write('{"id": "2", "an')
        >>> [record["id"] for record in GrowingFile(path)]
        ['1']
    """

    def __init__(self, path: Path, needs: Sequence[str] = ()) -> None:
        self.path = path
        self._needs = needs
        self._lock = Lock()
        self._whole = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The records, in the order they were written.

        Raises:
            AspectragError: A line is no record.
        """
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    record = json.loads(line)
                except ValueError:
                    record = None
                if not isinstance(record, dict) or any(key not in record for key in self._needs):
                    raise AspectragError(
                        f"{self.path}, line {number} is no record of this file: give another one, or remove the line"
                    )
                yield record

    def add(self, record: dict[str, Any]) -> None:
        """Write a record; safe for many threads.

        Raises:
            OSError: It cannot be written; the file is as it was.
        """
        line = _line(record)
        with self._lock, self.path.open("ab", buffering=0) as file:
            if not self._whole:  # of another process, at most once
                file.truncate(_end_of_lines(self.path))
                self._whole = True
            before = file.seek(0, os.SEEK_END)
            try:
                written = 0
                while written < len(line):
                    written += file.write(line[written:]) or 0
            except OSError:
                file.truncate(before)
                raise


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of records, one per line, whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.writelines(map(_line, records))
    temporary.replace(path)


def write_passages(path: Path, passages: Iterable[Passage]) -> None:
    """Write passages as records, whole or not at all; ``load_corpus`` reads them."""
    write_records(path, ({"id": each.id, "title": each.title, "text": each.text} for each in passages))


def _line(record: Mapping[str, Any]) -> bytes:
    return (encodable(json.dumps(record, ensure_ascii=False)) + "\n").encode()


def _end_of_lines(path: Path) -> int:
    """Where the last whole line of a file ends, looked for from its end."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - 65_536)
            file.seek(start)
            if (found := file.read(end - start).rfind(b"\n")) >= 0:
                return start + found + 1
            end = start
    return 0
