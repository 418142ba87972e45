"""answer_hit@k: the passages that were read hold an answer."""

from collections.abc import Sequence

import dspy

from .metric import Metric
from .normalisation import VERDICTS, normalise, tokens
from .reading import answers_of, passages_of


def answer_hit(texts: Sequence[str], answers: Sequence[str]) -> float:
    """1 where one of the texts holds one of the answers, normalised and as whole words, else 0.

    Source: DPR (Karpukhin et al., EMNLP 2020), section 5, which counts a passage that holds an answer string.

    Example:
        >>> answer_hit(["It flows into the Baltic Sea."], ["baltic sea"]), answer_hit(["In 16510"], ["1651"])
        (1.0, 0.0)
    """
    wanted = [f" {' '.join(words)} " for answer in answers if (words := tokens(answer))]
    held = [f" {' '.join(tokens(text))} " for text in texts]
    return float(any(answer in text for answer in wanted for text in held))


def answer_hit_at(k: int) -> Metric:
    """answer_hit@k, over titles and texts.

    It does not apply to questions that are answered by yes or no: any passage may hold the word. Nor does it mean much
    for long answers, or for several in one, which no passage holds word for word.
    """

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
        answers = [answer for answer in answers_of(example) if normalise(answer) not in VERDICTS]
        texts = [passage.contents for passage in passages_of(prediction)[:k]]
        return answer_hit(texts, answers) if answers else None

    return Metric(f"answer_hit@{k}", f"one of the first {k} passages read holds a right answer", score)
