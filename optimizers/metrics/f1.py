"""F1: the words that the prediction shares with an answer."""

from collections import Counter
from collections.abc import Sequence

from .metric import Metric
from .normalisation import VERDICTS, normalise, tokens
from .reading import against, answers_of


def f1(prediction: str, answers: Sequence[str]) -> float:
    """The best harmonic mean of precision and recall over tokens, for any of the answers.

    Source: SQuAD (Rajpurkar et al., EMNLP 2016), section 6; with ``o`` tokens in common, ``p`` predicted and ``g``
    gold, 2o / (p + g). Where either side is yes, no or noanswer, only equality scores (HotpotQA, Yang et al., EMNLP
    2018, its official evaluation). Where nothing is left of either side, they are equal: 1, as in SQuAD 2.0.

    Example:
        >>> round(f1("King George VI", ["George VI", "Albert"]), 2)
        0.8
    """
    return max((_one(prediction, answer) for answer in answers), default=0.0)


def _one(prediction: str, answer: str) -> float:
    said, gold = normalise(prediction), normalise(answer)
    if said == gold:
        return 1.0
    if said in VERDICTS or gold in VERDICTS:
        return 0.0
    predicted, expected = Counter(tokens(prediction)), Counter(tokens(answer))
    return 2 * (predicted & expected).total() / (predicted.total() + expected.total())


METRIC = Metric("f1", "words that the answer shares with the best of the right answers", against(answers_of, f1))
