"""Turns arriving tokens into pieces of text that are safe to show: whole characters, nothing of a stop string."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Pieces:
    """The text shown so far of an answer whose tokens are still arriving.

    Attributes:
        decode: Gives the text of tokens.
        stop: Strings the answer ends at.
    """

    decode: Callable[[list[int]], str]
    stop: tuple[str, ...]
    tokens: list[int] = field(default_factory=list)
    shown: int = 0

    def push(self, tokens: list[int]) -> str:
        """Take in new tokens; the text that can be shown now, maybe none."""
        self.tokens.extend(tokens)
        text = cut(self.decode(self.tokens).rstrip("\ufffd"), self.stop)  # a character may not have arrived whole
        return self._advance(text, len(text) - max((len(stop) - 1 for stop in self.stop), default=0))

    def rest(self) -> str:
        """What was held back, once all tokens are there."""
        text = cut(self.decode(self.tokens), self.stop)
        return self._advance(text, len(text))

    def _advance(self, text: str, end: int) -> str:
        end = max(self.shown, end)
        piece, self.shown = text[self.shown : end], end
        return piece


def cut(text: str, stop: tuple[str, ...]) -> str:
    """``text`` up to the first of the stop strings.

    Example:
        >>> cut("one, two, three", (", t",))
        'one'
    """
    return text[: min((at for string in stop if (at := text.find(string)) >= 0), default=len(text))]
