"""Texts of documents and models as lines of a terminal."""

from ...errors import redact
from ...texts import clipped, printable

_CLIP = 80


def shown(text: str) -> str:
    """Text as a terminal may have it: without escape sequences, and without keys."""
    return printable(redact(text))


def clip(text: str) -> str:
    """Text on one line, cut where it is long."""
    return clipped(shown(text[: 4 * _CLIP]), _CLIP)
