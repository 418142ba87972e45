"""Compound Acc: how many of the things that were asked the prediction contains."""

from collections.abc import Sequence
from statistics import fmean

import dspy

from .accuracy import accuracy
from .metric import Metric
from .reading import against, answers_of, parts_answers

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


def _asked(example: dspy.Example) -> list[list[str]]:
    """The answers of what was asked: of the sub-questions, else the parts of the first joined answer."""
    joined = [answer for answer in answers_of(example) if SEPARATOR in answer]
    return parts_answers(example) or (parts_of(joined[0]) if joined else [])


METRIC = Metric("compound_acc", "how many of the things asked the answer contains", against(_asked, compound_accuracy))
