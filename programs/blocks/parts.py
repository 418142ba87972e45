"""The parts that a question was taken apart into: distinct, not too few, not too many."""

from collections.abc import Iterable
from typing import TypeVar

from ...texts import encodable
from .fallbacks import fall_back
from .stage import RejectedOutputError

Part = TypeVar("Part")


def at_least(count: int, texts: Iterable[str], what: str) -> list[str]:
    """The texts without blanks and repetitions, each one that can be printed.

    Raises:
        RejectedOutputError: Fewer than ``count`` are left.

    Example:
        >>> at_least(2, ["cost ", "Cost", "safety"], "aspects")
        ['cost', 'safety']
    """
    first: dict[str, str] = {}
    for text in filter(None, (encodable(text).strip() for text in texts)):
        first.setdefault(text.casefold(), text)
    distinct = list(first.values())
    if len(distinct) < count:
        raise RejectedOutputError(f"{len(distinct)} {what} where at least {count} are needed")
    return distinct


def at_most(most: int, parts: list[Part], stage: str) -> list[Part]:
    """The first ``most`` parts; leaving some out is a fallback of the stage that made them.

    Example:
        >>> at_most(2, ["cost", "safety", "waste"], "explore")
        ['cost', 'safety']
    """
    if len(parts) > most:
        fall_back(stage, f"{len(parts)} parts, the first {most} are used")
    return parts[:most]
