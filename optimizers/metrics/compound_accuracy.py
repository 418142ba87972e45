"""Compound Acc: how many of the things that were asked the prediction contains."""

from collections.abc import Sequence
from statistics import fmean

from .accuracy import accuracy

SEPARATOR = "&&"


def compound_accuracy(prediction: str, parts: Sequence[Sequence[str]]) -> float:
    """The fraction of parts of which an answer is contained in the prediction.

    Source: HANRAG (arXiv 2509.09713), section 4.

    Args:
        prediction: The answer to the compound question.
        parts: For each part its answers; :func:`parts_of` makes them of one joined answer.

    Example:
        >>> compound_accuracy("He succeeded in 1651.", parts_of("1651 && Rachael"))
        0.5
    """
    return fmean(accuracy(prediction, part) for part in parts) if parts else 0.0


def parts_of(answer: str) -> list[list[str]]:
    """The parts of an answer that is joined by ``&&``.

    Example:
        >>> parts_of("1651 && Rachael")
        [['1651'], ['Rachael']]
    """
    return [[part.strip()] for part in answer.split(SEPARATOR)]
