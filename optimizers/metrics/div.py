"""DIV: how near the order of passages comes to the one that covers the sub-answers best."""

from collections.abc import Sequence

import dspy

from ..ranker.coverage import Scores, coverage_scores, list_worth, silver_list
from .metric import Metric
from .reading import passages_of, sub_answers_of

DEFAULT_K = 10


def div(scores: Scores, order: Sequence[int], k: int = DEFAULT_K) -> float:
    r"""Worth of the first ``k`` passages of an order, divided by that of the silver list.

    Of a list it is the sum of what its passages add, each at its place, where ``c`` is how well a sub-answer is covered
    by those before it:

    .. math:: W(d_1 \dots d_k) = \sum_t \sum_i \frac{1 - c_{t,i}}{\sum_j (1 - c_{t,j})} \, score(i, d_t)

    Source: RichRAG (arXiv 2406.12566), section 3.4 and its public code ("RANK DIV"). The silver list is made greedily,
    so a better one may exist, and DIV may exceed 1. Where no passage covers anything, every order is as good as any: 1.

    Args:
        scores: ``[sub_answers, passages]``, as :func:`..ranker.coverage.coverage_scores` gives them.
        order: Places of passages, best first.
        k: Length at which lists are compared.

    Example:
        >>> import numpy as np
        >>> scores = np.array([[.9, .8, .1, .2], [.1, .2, .7, .6]])
        >>> div(scores, [0, 2, 1, 3]), round(div(scores, [0, 1], k=2), 2)
        (1.0, 0.67)
    """
    best = list_worth(scores, silver_list(scores, k))
    return list_worth(scores, list(order)[:k]) / best if best > 0 else 1.0


def div_at(k: int) -> Metric:
    """DIV of the passages that an answer was written from, in their order, against the best order of the same ones.

    The pool they were chosen from is not known to a finished run. So this says how well a program orders what it reads
    and not what it should have found; only ranks over the same passages compare. An answer that read nothing has none.
    """

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
        sub_answers, passages = sub_answers_of(example), passages_of(prediction)
        if not sub_answers or not passages:
            return None
        scores = coverage_scores(sub_answers, [passage.contents for passage in passages])
        return div(scores, range(len(passages)), k)

    name = "div" if k == DEFAULT_K else f"div@{k}"
    return Metric(name, f"order of the first {k} passages read, by the sub-answers they cover, beside the best", score)
