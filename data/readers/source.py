"""What a reader is given: a file, and the name that its documents go by."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..passages import Passage
from .encodings import decode, tidy
from .report import Ledger, UnreadableError


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read.

    Attributes:
        path: Where it is.
        name: Its path below the folder it was found in, with forward slashes; the same on every machine.
    """

    path: Path
    name: str

    @property
    def title(self) -> str:
        """The title of a document that has none of its own: the name of the file without its suffix."""
        return Path(self.name).stem

    def document(self, text: str, title: str = "", *, part: str = "", **meta: Any) -> Passage:
        """Make the document that this file, or a part of it, holds.

        Args:
            text: What it says.
            title: Its own title, if any.
            part: Fragment that tells it from the other documents of the file (``#page=3``).
            meta: Further metadata.

        Raises:
            UnreadableError: It says nothing.
        """
        text = tidy(text)
        if not text:
            raise UnreadableError("no text")
        return Passage(f"{self.name}{part}", tidy(title) or self.title, text, meta={"source": self.name, **meta})


# Yields the documents of a file, notes what is wrong with parts of it, and raises ``UnreadableError`` or ``OSError``
# when the whole of it cannot be read.
Reader = Callable[[Source, Ledger], Iterator[Passage]]


def load_text(source: Source, ledger: Ledger, declared: Callable[[bytes], str | None] = lambda _: None) -> str:
    """Read and decode the whole of a text file.

    Args:
        source: The file.
        ledger: Learns of bytes that do not fit the encoding.
        declared: Finds the encoding that the bytes name themselves.

    Raises:
        UnreadableError: It is empty or not text.
        OSError: It cannot be opened.
    """
    data = source.path.read_bytes()
    if not data.strip():
        raise UnreadableError("empty file")
    try:
        text, lossy = decode(data, declared(data))
    except UnicodeError as error:
        raise UnreadableError(f"not a text file: {error}") from error
    if lossy:
        ledger.problem("bytes that are not UTF-8 were replaced by U+FFFD")
    return text
