"""EM: the prediction is one of the answers."""

from collections.abc import Sequence

from .metric import Metric
from .normalisation import normalise
from .reading import against, answers_of


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """1 where the normalised prediction equals a normalised answer, else 0.

    Source: SQuAD (Rajpurkar et al., EMNLP 2016), section 6.

    Example:
        >>> exact_match("The Vistula.", ["Vistula", "Wisła"])
        1.0
    """
    said = normalise(prediction)
    return float(any(said == normalise(answer) for answer in answers))


METRIC = Metric("em", "the answer is one of the right ones, word for word", against(answers_of, exact_match))
