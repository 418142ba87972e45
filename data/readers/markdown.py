"""Markdown: one document, its markup left as it is, titled by its first top-level heading."""

import re
from collections.abc import Iterator

from ..passages import Passage
from .report import Ledger
from .source import Source, load_text

_HEADING = re.compile(r"^ {0,3}#[ \t]+(\S[^\r\n]*)", re.MULTILINE)


def read_markdown(source: Source, ledger: Ledger) -> Iterator[Passage]:
    """Yield the one document of a Markdown file."""
    text = load_text(source, ledger)
    heading = _HEADING.search(text)
    yield source.document(text, heading.group(1).rstrip("# \t") if heading else "")
