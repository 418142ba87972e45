"""Plain text: one document, titled by its file name."""

from collections.abc import Iterator

from ..passages import Passage
from .report import Ledger
from .source import Source, load_text


def read_text(source: Source, ledger: Ledger) -> Iterator[Passage]:
    """Yield the one document of a text file."""
    yield source.document(load_text(source, ledger))
