"""What a list of passages is worth: how well it covers the sub-answers, and the list that covers them best.

Source: RichRAG (arXiv 2406.12566), section 3.4, with the reset rule of its public code. ``scores`` is always an array
``[sub_answers, passages]``: how much of each sub-answer each passage holds, 0 to 1.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..metrics.rouge import rouge_tokens

Scores = npt.NDArray[np.float64]


def coverage_scores(sub_answers: Sequence[str], texts: Sequence[str]) -> Scores:
    """How much of each sub-answer each text holds: the best of ROUGE-1, ROUGE-2 and ROUGE-L recall.

    ROUGE-L needs no computing: a common sequence is made of common words, so its recall is never above ROUGE-1's. Each
    text is counted once and not once per pair: pools are large.

    Returns:
        ``[len(sub_answers), len(texts)]``, 0 to 1.

    Example:
        >>> coverage_scores(["cheap coal"], ["Coal is cheap.", "Wind."]).tolist()
        [[1.0, 0.0]]
    """
    passages = [_counts(text) for text in texts]
    rows = [
        [max(_recall(part, whole) for part, whole in zip(answer, passage, strict=True)) for passage in passages]
        for answer in map(_counts, sub_answers)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(sub_answers), len(texts))


def _counts(text: str) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    words = rouge_tokens(text)
    return Counter(words), Counter(pairwise(words))


def _recall(reference: Counter, found: Counter) -> float:
    return (reference & found).total() / reference.total() if reference else 0.0


class Coverage:
    """How well the passages chosen so far cover each sub-answer, and what each further one would add.

    Once every sub-answer is covered as well as any passage can cover it, counting starts anew: the next passages are
    second witnesses.

    Args:
        scores: ``[sub_answers, passages]``.

    Example:
        >>> state = Coverage(np.array([[.9, .8, .1, .2], [.1, .2, .7, .6]]))
        >>> state.add(0)
        >>> state.utilities().round(2).tolist()
        [0.18, 0.26, 0.64, 0.56]
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._best = scores.max(axis=1, initial=0.0)
        self._covered = np.zeros(len(scores))

    def utilities(self) -> npt.NDArray[np.float64]:
        """What each passage is worth next, ``[passages]``: its scores, weighted by what is still uncovered."""
        missing = 1.0 - self._covered
        total = missing.sum()
        weights = missing / total if total > 0 else np.full(len(missing), 1.0 / max(len(missing), 1))
        return weights @ self._scores

    def add(self, passage: int) -> None:
        """Choose a passage."""
        self._covered = np.maximum(self._covered, self._scores[:, passage])
        if (self._covered >= self._best).all():
            self._covered = np.zeros_like(self._covered)


def utilities_along(scores: Scores, order: Sequence[int]) -> npt.NDArray[np.float64]:
    """Utilities before each choice of a list, ``[len(order), passages]``."""
    state = Coverage(scores)
    steps = []
    for passage in order:
        steps.append(state.utilities())
        state.add(passage)
    return np.array(steps).reshape(len(order), scores.shape[1])


def silver_list(scores: Scores, k: int) -> list[int]:
    """The list that greedy choice gives: at each step the passage that is worth most, the first of equals.

    Returns:
        ``min(k, passages)`` distinct passages.

    Example:
        >>> silver_list(np.array([[.9, .8, .1, .2], [.1, .2, .7, .6]]), 4)
        [0, 2, 1, 3]
    """
    state = Coverage(scores)
    chosen: list[int] = []
    while len(chosen) < min(k, scores.shape[1]):
        worth = state.utilities()
        worth[chosen] = -1.0
        chosen.append(int(worth.argmax()))
        state.add(chosen[-1])
    return chosen


def list_worth(scores: Scores, order: Sequence[int]) -> float:
    """The summed utilities of a list's passages, each at its place.

    Example:
        >>> round(list_worth(np.array([[.9, .8, .1, .2], [.1, .2, .7, .6]]), [0, 2, 1, 3]), 2)
        2.16
    """
    along = utilities_along(scores, order)
    return float(sum(along[step, passage] for step, passage in enumerate(order)))
