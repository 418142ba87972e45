"""Text of documents and models, made fit for where it goes: it is data, and is shown and sent as such."""

import re

# Everything that can move a cursor, colour a screen, ring a bell or turn the reading order around; not line ends, tabs.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def encodable(text: str) -> str:
    r"""The text without halves of surrogate pairs, which documents and models do produce and nothing can receive.

    Example:
        >>> encodable("half \ud83d")
        'half ?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def printable(text: str) -> str:
    r"""The text as a terminal may have it: control characters, and with them all escape sequences, are taken out.

    Example:
        >>> printable("\x1b[31mred\x1b[0m")
        '[31mred[0m'
    """
    return _CONTROL.sub("", encodable(text))


def clipped(text: str, most: int) -> str:
    r"""The text on one line, cut where it has more than ``most`` characters.

    Example:
        >>> clipped("one\ntwo three", 9)
        'one two …'
    """
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
