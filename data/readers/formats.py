"""The formats, by suffix. A further one is a function and a line here, or ``FORMATS[".ext"] = Format(...)``."""

from dataclasses import dataclass

from .html import read_html
from .jsonl import read_jsonl
from .markdown import read_markdown
from .pdf import read_pdf
from .source import Reader
from .text import read_text


@dataclass(frozen=True, slots=True)
class Format:
    """How files of a suffix are read.

    Attributes:
        read: The reader.
        records: Whether its documents are records that someone has already cut to size.
    """

    read: Reader
    records: bool = False


FORMATS: dict[str, Format] = {
    ".htm": Format(read_html),
    ".html": Format(read_html),
    ".jsonl": Format(read_jsonl, records=True),
    ".jsonl.gz": Format(read_jsonl, records=True),
    ".md": Format(read_markdown),
    ".pdf": Format(read_pdf),
    ".txt": Format(read_text),
}


def format_of(name: str) -> Format | None:
    """The format of a file, by the longest suffix that is known; ``None`` for an unknown one.

    Example:
        >>> format_of("a/corpus.JSONL.gz").records, format_of("photo.png")
        (True, None)
    """
    lower = name.lower()
    known = [suffix for suffix in FORMATS if lower.endswith(suffix)]
    return FORMATS[max(known, key=len)] if known else None


def known_suffixes() -> str:
    """The suffixes with a reader, for messages."""
    return ", ".join(sorted(FORMATS))
