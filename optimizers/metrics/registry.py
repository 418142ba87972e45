"""The metrics by the names that users give them."""

import re
from collections.abc import Callable

from ...errors import AspectragError, nearest
from . import (
    accuracy,
    answer_hit,
    citations,
    com_rouge,
    compound_accuracy,
    coverage,
    div,
    exact_match,
    f1,
    fallbacks,
    linkage,
    retrieval,
    rouge,
    routes,
    spending,
)
from .metric import Metric

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        exact_match.METRIC,
        f1.METRIC,
        accuracy.METRIC,
        compound_accuracy.METRIC,
        *rouge.METRICS,
        *com_rouge.METRICS,
        div.div_at(div.DEFAULT_K),
        answer_hit.answer_hit_at(5),
        retrieval.recall_at(5),
        retrieval.precision_at(5),
        retrieval.ndcg_at(10),
        retrieval.reciprocal_rank_at(),
        linkage.METRIC,
        coverage.METRIC,
        citations.METRIC,
        *routes.METRICS,
        *spending.METRICS,
        *fallbacks.METRICS,
    )
}
# Metrics of the first k passages, by what stands before the @.
FAMILIES: dict[str, Callable[[int], Metric]] = {
    "answer_hit": answer_hit.answer_hit_at,
    "R": retrieval.recall_at,
    "P": retrieval.precision_at,
    "nDCG": retrieval.ndcg_at,
    "RR": retrieval.reciprocal_rank_at,
    "div": div.div_at,
}


def metric(name: str) -> Metric:
    """The metric of a name; those of :data:`FAMILIES` with any number after the ``@``.

    Raises:
        AspectragError: There is none; names the nearest.

    Example:
        >>> metric("nDCG@20").about
        'relevance of the first 20 passages read, early places first'
    """
    if name in METRICS:
        return METRICS[name]
    family, at, k = name.partition("@")
    if family in FAMILIES and re.fullmatch("[1-9][0-9]{0,8}", k):
        return FAMILIES[family](int(k))
    if at and family in FAMILIES:
        raise AspectragError(f"{name!r} needs a number of passages, 1 or more, after the @: as in {family}@5")
    known = ", ".join([*METRICS, *(f"{family}@k" for family in FAMILIES)])
    raise AspectragError(f"there is no metric {name!r}{_hint(name)} (metrics: {known})")


def _hint(name: str) -> str:
    for known in METRICS.values():
        if name in known.gives:
            return f", it is a column of the metric {known.name!r}"
    return nearest(name, METRICS)
