"""ROUGE: the words, pairs of words and longest common sequence that a text shares with a reference."""

import functools
import re
import unicodedata
from collections.abc import Sequence
from functools import partial
from typing import Literal

from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import Tokenizer

from ...data.sentences import sentence_spans
from .metric import Metric
from .normalisation import by_character
from .reading import against, references_of

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


def rouge_lsum(prediction: str, references: Sequence[str]) -> float:
    """F1 of ROUGE-L over summaries: each sentence of a reference is matched with all of the prediction's at once.

    Source: Lin, 2004, section 3.2, as ``rouge-score`` computes ``rougeLsum``, which takes each line for a sentence.
    Here lines are cut into sentences too, since answers are seldom written one a line.

    Example:
        >>> rouge_lsum("Coal is dirty. It is cheap.", ["It is cheap. Coal is dirty."])
        1.0
        >>> rouge("Coal is dirty. It is cheap.", ["It is cheap. Coal is dirty."], "rougeL")
        0.5
    """
    scorer, said = _scorer(("rougeLsum",)), _lines(prediction)
    return max((scorer.score(_lines(each), said)["rougeLsum"].fmeasure for each in references), default=0.0)


def _lines(text: str) -> str:
    return "\n".join(line[start:end] for line in text.split("\n") for start, end in sentence_spans(line))


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
def _scorer(variants: tuple[str, ...]) -> RougeScorer:
    return RougeScorer(list(variants), tokenizer=_Words())


METRICS = (
    *(
        Metric(
            variant,
            f"{shared} that the answer shares with the best of the references",
            against(references_of, partial(rouge, variant=variant)),
        )
        for variant, shared in zip(VARIANTS, ("words", "pairs of words", "longest common sequence"), strict=True)
    ),
    Metric(
        "rougeLsum",
        "longest common sequences, sentence by sentence, with the best of the references",
        against(references_of, rouge_lsum),
    ),
)
