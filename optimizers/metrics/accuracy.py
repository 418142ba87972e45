"""Acc: the prediction contains one of the answers."""

from collections.abc import Sequence

from .metric import Metric
from .normalisation import normalise
from .reading import against, answers_of


def accuracy(prediction: str, answers: Sequence[str]) -> float:
    """1 where a normalised answer is contained in the normalised prediction, else 0.

    Source: Adaptive-RAG (Jeong et al., NAACL 2024), section 4.3, and HANRAG (arXiv 2509.09713), section 4. It is
    containment of characters, as there, so long predictions have an advantage.

    Example:
        >>> accuracy("It flows into the Baltic Sea.", ["Baltic Sea"])
        1.0
    """
    said = normalise(prediction)
    return float(any((gold in said) if (gold := normalise(answer)) else not said for answer in answers))


METRIC = Metric("acc", "the answer contains one of the right ones", against(answers_of, accuracy))
