"""DIV: how near the order of passages comes to the one that covers the sub-answers best."""

from collections.abc import Sequence

from ..ranker.coverage import Scores, list_worth, silver_list


def div(scores: Scores, order: Sequence[int], k: int = 10) -> float:
    """Worth of the first ``k`` passages of an order, divided by that of the silver list.

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
