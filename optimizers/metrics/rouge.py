"""ROUGE: the words, pairs of words and longest common sequence that a text shares with a reference."""

import functools
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import Tokenizer

from .normalisation import by_character

Variant = Literal["rouge1", "rouge2", "rougeL"]
VARIANTS: tuple[Variant, ...] = ("rouge1", "rouge2", "rougeL")


def rouge(prediction: str, references: Sequence[str], variant: Variant) -> float:
    """F1 of ROUGE-1, ROUGE-2 or ROUGE-L, the best over the references.

    Source: Lin, 2004, as ``rouge-score`` computes it, without stemming; its values for ASCII text are these. Words of
    all scripts count here, and where a script has no blanks each character is a word.

    Example:
        >>> round(rouge("the cat sat", ["the cat lay down"], "rouge1"), 3)
        0.571
        >>> rouge("他走了", ["他走了"], "rouge2")
        1.0
    """
    scorer = _scorer((variant,))
    return max((scorer.score(reference, prediction)[variant].fmeasure for reference in references), default=0.0)


def rouge_recall(prediction: str, reference: str, variants: Sequence[Variant] = VARIANTS) -> dict[Variant, float]:
    """Recall by variant: the share of the reference that the prediction has.

    Example:
        >>> rouge_recall("the cat sat", "the cat", ["rouge1", "rougeL"])
        {'rouge1': 1.0, 'rougeL': 1.0}
    """
    scores = _scorer(tuple(variants)).score(reference, prediction)
    return {variant: scores[variant].recall for variant in variants}


@functools.lru_cache(maxsize=4096)
def rouge_tokens(text: str) -> tuple[str, ...]:
    """Runs of letters, marks and digits in lower case; characters of scripts without blanks one by one.

    Example:
        >>> rouge_tokens("The 2nd naïve test: 富士山!")
        ('the', '2nd', 'naïve', 'test', '富', '士', '山')
    """
    text = unicodedata.normalize("NFKC", text).lower()
    if text.isascii():
        return tuple(re.findall(r"[a-z0-9]+", text))
    kept = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in text)
    return tuple(by_character(kept).split())


class _Words(Tokenizer):
    def tokenize(self, text: str) -> list[str]:
        return list(rouge_tokens(text))


@functools.lru_cache(maxsize=8)
def _scorer(variants: tuple[Variant, ...]) -> RougeScorer:
    return RougeScorer(list(variants), tokenizer=_Words())
