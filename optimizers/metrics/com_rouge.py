"""Com-ROUGE: how much of each sub-answer a long answer covers."""

from collections.abc import Sequence
from functools import partial

from .metric import Metric
from .reading import against, sub_answers_of
from .rouge import VARIANTS, Variant, rouge_recall, rouge_tokens


def com_rouge(prediction: str, sub_answers: Sequence[str], variant: Variant) -> float:
    r"""Recall of the sub-answers, each weighted by its length in words.

    .. math:: \sum_i \frac{|a_i|}{\sum_j |a_j|} \, \mathrm{ROUGE\text{-}recall}(prediction, a_i)

    Source: RichRAG (arXiv 2406.12566), section 4.2, with the weights of its public code. A sub-answer without a word
    weighs nothing; without any word at all the score is 0.

    Example:
        >>> com_rouge("It is cheap.", ["It is cheap", "dirty"], "rouge1")
        0.75
    """
    lengths = [len(rouge_tokens(answer)) for answer in sub_answers]
    covered = [rouge_recall(prediction, answer, [variant])[variant] for answer in sub_answers]
    total = sum(lengths)
    return sum(n * share for n, share in zip(lengths, covered, strict=True)) / total if total else 0.0


METRICS = tuple(
    Metric(
        f"com_{variant}",
        f"how much of each sub-answer the answer holds, longer ones counting more (recall of {variant})",
        against(sub_answers_of, partial(com_rouge, variant=variant)),
    )
    for variant in VARIANTS
)
