"""The records of one file, with the place of each: JSON lines, JSON, csv, tsv or parquet; JSON gzipped or not."""

import csv
import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import AspectragError
from ..readers.encodings import mend
from .releases import unwrapped

Placed = tuple[str, Mapping[str, Any]]
SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".csv", ".tsv", ".parquet")


def suffix_of(path: Path) -> str:
    """The suffix of a file that can be read, "" for any other.

    Example:
        >>> suffix_of(Path("NQ-open.dev.jsonl.gz")), suffix_of(Path("notes.md"))
        ('.jsonl.gz', '')
    """
    name = path.name.lower()
    return max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default="")


def read_records(path: Path, split: str) -> Iterator[Placed]:
    """Yield each record with its place, such as ``dev.jsonl, line 7``.

    Args:
        path: The file.
        split: Ours; for a release that has all splits in one file.

    Raises:
        AspectragError: It cannot be read, is of an unknown kind, or a record of it is none; names file and line.
    """
    suffix = suffix_of(path)
    try:
        if suffix in (".csv", ".tsv"):
            yield from _table(path, "\t" if suffix == ".tsv" else ",")
        elif suffix == ".parquet":
            yield from _parquet(path)
        elif suffix.startswith(".jsonl"):
            yield from read_lines(path)
        elif suffix:
            yield from _json(path, split)
        else:
            raise AspectragError(f"{path}: there is no reader for this kind of file; give {', '.join(SUFFIXES)}")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise AspectragError(f"{path} is no whole gzip file: get it again") from None
    except OSError as error:
        raise AspectragError(f"{path} cannot be read ({error.strerror or error})") from None


def read_lines(path: Path) -> Iterator[Placed]:
    r"""Yield the records of JSON lines, one at a time; only ``\n`` ends a line."""
    with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                where = f"{path}, line {number}"
                yield where, _record(_parsed(line, where), where)


def _json(path: Path, split: str) -> Iterator[Placed]:
    data = gzip.decompress(path.read_bytes()) if path.name.lower().endswith(".gz") else path.read_bytes()
    if not data.strip():
        return
    try:
        whole = _parsed(data, str(path))
    except AspectragError:
        first, _, rest = data.strip().partition(b"\n")
        if not rest or not first.rstrip().endswith(b"}"):
            raise
        yield from read_lines(path)  # lines under the name of a whole
        return
    for number, record in enumerate(unwrapped(whole, split, str(path)), 1):
        where = f"{path}, record {number}"
        yield where, _record(record, where)


def _parsed(data: bytes, where: str) -> Any:
    try:
        value = json.loads(data.decode("utf-8-sig"))
        # Halves of surrogate pairs could not be written, nor sent to a model.
        return json.loads(mend(json.dumps(value, ensure_ascii=False))) if b"\\u" in data else value
    except UnicodeDecodeError:
        raise AspectragError(f"{where} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        raise AspectragError(f"{where} {refused(error)}") from None


def refused(error: ValueError | RecursionError) -> str:
    """Why the JSON reader did not take a text, as the end of a sentence."""
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON ({error.msg})"
    if isinstance(error, RecursionError):
        return "is not JSON that can be read (nested too deeply)"
    return f"has a number of more than {sys.get_int_max_str_digits():,} digits, which cannot be read"


def _record(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise AspectragError(f"{where} is not a record but a {type(value).__name__}")
    return value


def _table(path: Path, delimiter: str) -> Iterator[Placed]:
    """Yield the rows below the names of the columns; everything in them is text."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream, delimiter=delimiter)
        try:
            for row in rows:
                where = f"{path}, line {rows.line_num}"
                if None in row or None in row.values():
                    raise AspectragError(f"{where} has not as many fields as there are columns")
                yield where, row
        except UnicodeDecodeError:
            raise AspectragError(f"{path}, line {rows.line_num + 1} is not UTF-8 text") from None
        except csv.Error as error:
            raise AspectragError(f"{path}, line {rows.line_num + 1} is no row of a table ({error})") from None


def _parquet(path: Path) -> Iterator[Placed]:
    import datasets  # here: it takes a second to import
    from datasets.exceptions import DatasetsError

    try:
        rows: Iterable[Any] = datasets.load_dataset("parquet", data_files=[str(path)], split="train", streaming=True)
        for number, row in enumerate(rows, 1):
            yield f"{path}, row {number}", row
    except (ValueError, OSError, DatasetsError) as error:
        reason = " ".join(str(error).split())[:120]
        raise AspectragError(f"{path} is no parquet file that can be read ({reason})") from None
