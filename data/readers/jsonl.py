r"""JSON lines, plain or gzipped: one document per line.

Three schemas, told apart by their keys, line by line: ``{"id", "title", "text"}``, that of BEIR
(``{"_id", "title", "text", "metadata"}``) and that of FlashRAG (``{"id", "contents"}``, where ``contents`` is the
title, quoted or not, a line end, and the text). Other keys go into ``meta``. A record without an id gets the digest of
its text as one. A record with a title and no text is a document, as in BEIR; one with neither is reported.
"""

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from ..duplicates import fingerprint
from ..passages import Passage
from .encodings import detect, mend, tidy, wide_encoding
from .report import Ledger, UnreadableError
from .source import Source

# A file of another schema is given up after this many lines without a single document.
_PATIENCE = 1000
# How much of a file that is not clean UTF-8 is looked at to name its encoding, in bytes.
_SAMPLE = 1 << 22
# A first line longer than this is text, not a title: such contents have no title.
_LONGEST_TITLE = 300
_IDS = ("_id", "id")
_METADATA = ("metadata", "meta", "meta_data")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def read_jsonl(source: Source, ledger: Ledger) -> Iterator[Passage]:
    """Yield the documents of a JSON lines file; a line that cannot be used is noted, the rest is kept."""
    documents = number = filled = 0
    try:
        for number, line in _lines(source, ledger):
            ledger.at(line=number)
            if not line.strip():
                continue
            filled += 1
            try:
                passage = _passage(_parse(line))
            except UnreadableError as error:
                ledger.problem(str(error))
            else:
                documents += 1
                yield passage
            if not documents and number == _PATIENCE:
                ledger.at()
                ledger.problem(f"given up: no usable record in the first {_PATIENCE:,} lines")
                return
        if not filled:
            ledger.at()
            raise UnreadableError("empty file")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        ledger.at(line=number + 1)
        ledger.problem(f"truncated or damaged gzip; what came before is kept ({error})")


def _open(source: Source) -> BinaryIO:
    if source.path.name.lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(source.path, "rb"))
    return source.path.open("rb")


def _lines(source: Source, ledger: Ledger) -> Iterator[tuple[int, str]]:
    r"""Yield number and text of each line; only ``\n`` ends one (``\u2028`` is a character of a JSON string)."""
    with _open(source) as stream:
        head = cast(io.BufferedReader, stream).peek(4096)
        if wide := wide_encoding(head[:4096]):
            yield from enumerate(io.TextIOWrapper(stream, encoding=wide, errors="replace", newline="\n"), 1)
            return
        encoding = "utf-8"
        for number, raw in enumerate(stream, 1):
            data = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
            try:
                yield number, data.decode("utf-8")
            except UnicodeDecodeError:
                if encoding == "utf-8":
                    encoding = _encoding(source)
                if encoding == "utf-8":
                    ledger.at(line=number)
                    ledger.problem("bytes that are not UTF-8 were replaced by U+FFFD")
                yield number, data.decode(encoding, errors="replace")


def _encoding(source: Source) -> str:
    """Name the encoding of a file of which some line is not UTF-8, from its first megabytes that are not ASCII."""
    lines: list[bytes] = []
    size = 0
    with _open(source) as stream:
        try:
            for line in stream:
                if not line.isascii():
                    lines.append(line)
                    size += len(line)
                if size > _SAMPLE:
                    break
        except (EOFError, zlib.error, gzip.BadGzipFile):
            pass  # noted where the lines are read
    return detect(b"".join(lines)) or "utf-8"


def _parse(line: str) -> dict[str, Any]:
    # The standard parser: the faster one at hand also takes numbers like 007 for JSON and does not say where an error
    # is, and parsing is a small part of reading. Raw tabs inside strings are let pass.
    try:
        record = json.loads(line, strict=False)
        if _SURROGATE_ESCAPE.search(line):
            # Pairs have become characters; what is left of half a pair would fail wherever it is written as UTF-8.
            record = json.loads(mend(json.dumps(record, ensure_ascii=False)))
    except json.JSONDecodeError as error:
        raise UnreadableError(f"not JSON ({error.msg}, column {error.colno})") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise UnreadableError("not usable JSON (nested too deeply, or a number too long)") from error
    if not isinstance(record, dict):
        raise UnreadableError(f"not a record but a {type(record).__name__}")
    return record


def _passage(record: dict[str, Any]) -> Passage:
    if not ({"text", "contents", "title"} & record.keys()):
        raise UnreadableError(f'no "text" or "contents" (keys: {", ".join(list(record)[:5])})')
    title = _string(record.pop("title", None), "title")
    contents = _string(record.pop("contents", None), "contents")
    text = _string(record.pop("text", None), "text")
    if not text:
        title, text = _split(contents, title)
    title, text = tidy(title), tidy(text)
    if not (title or text):
        raise UnreadableError("blank document")
    identity = next((record[key] for key in _IDS if record.get(key) not in (None, "")), None)
    for key in _IDS:
        record.pop(key, None)
    for key in _METADATA:
        if isinstance(record.get(key), dict):
            record = {**record.pop(key), **record}
    passage = Passage("", title, text, meta=record)
    return Passage(_identity(identity, passage.contents), title, text, meta=record)


def _identity(value: object, contents: str) -> str:
    if value is None:
        return fingerprint(contents).hex()
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnreadableError(f"the id is a {type(value).__name__}, not a string or a number")
    return str(value)  # kept to the letter, blanks and tabs too: other files refer to it


def _string(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnreadableError(f'"{name}" is a {type(value).__name__}, not a string')
    return str(value)


def _split(contents: str, title: str) -> tuple[str, str]:
    r"""Take the title off the contents, if it is there.

    Example:
        >>> _split('"Danube"\nA river.', "")
        ('Danube', 'A river.')
    """
    first, line_end, rest = contents.partition("\n")
    title, name = _unquoted(title), _unquoted(first)
    if title:
        return title, rest if line_end and name == title else contents
    if line_end and len(name) <= _LONGEST_TITLE:
        return name, rest
    return "", contents


def _unquoted(title: str) -> str:
    title = title.strip()
    return title[1:-1] if len(title) > 1 and title[0] == title[-1] == '"' else title
