"""Retrieval metrics: what the passages that were read are worth, by judgements of which passages are relevant.

Sources: the definitions of ``trec_eval``, whose values these are. A passage is relevant where its grade is 1 or more;
one that is ranked twice counts where it first stands; passages without a judgement are not relevant.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

import dspy

from .metric import Metric
from .reading import passages_of

Qrels = Mapping[str, int]


def recall(ranking: Sequence[str], qrels: Qrels, k: int | None = None) -> float:
    """The share of the relevant passages that are among the first ``k``.

    Example:
        >>> recall(["a", "b", "c"], {"a": 1, "c": 1, "d": 0}, k=2)
        0.5
    """
    relevant = sum(grade > 0 for grade in qrels.values())
    return _hits(ranking, qrels, k) / relevant if relevant else 0.0


def precision(ranking: Sequence[str], qrels: Qrels, k: int) -> float:
    """The share of ``k`` places that relevant passages take; places left empty count as missed.

    Example:
        >>> precision(["a", "b"], {"a": 1}, k=5)
        0.2
    """
    return _hits(ranking, qrels, k) / k


def ndcg(ranking: Sequence[str], qrels: Qrels, k: int | None = None) -> float:
    r"""Discounted gain of the first ``k``, as a share of that of the best ranking there could be.

    .. math:: \mathrm{DCG} = \sum_r \frac{grade_r}{\log_2(r + 1)}

    Source: Järvelin and Kekäläinen, 2002, with the gain of ``trec_eval``. The best ranking is made of all judged
    passages, those too that were not found.

    Example:
        >>> round(ndcg(["b", "a"], {"a": 2, "b": 1, "c": 1}, k=2), 3)
        0.86
    """
    found = [max(qrels.get(id, 0), 0) for id in _first(ranking, k)]
    best = sorted((max(grade, 0) for grade in qrels.values()), reverse=True)[:k]
    ideal = _dcg(best)
    return _dcg(found) / ideal if ideal else 0.0


def reciprocal_rank(ranking: Sequence[str], qrels: Qrels, k: int | None = None) -> float:
    """One divided by the place of the first relevant passage; 0 where none is among the first ``k``.

    Example:
        >>> reciprocal_rank(["b", "a"], {"a": 1}), reciprocal_rank(["b", "a"], {"a": 1}, k=1)
        (0.5, 0.0)
    """
    places = (place for place, id in enumerate(_first(ranking, k), 1) if qrels.get(id, 0) > 0)
    return next((1 / place for place in places), 0.0)


def _first(ranking: Sequence[str], k: int | None) -> list[str]:
    return list(islice(dict.fromkeys(ranking), k))


def _hits(ranking: Sequence[str], qrels: Qrels, k: int | None) -> int:
    return sum(qrels.get(id, 0) > 0 for id in _first(ranking, k))


def _dcg(grades: Sequence[int]) -> float:
    return math.fsum(grade / math.log2(place + 1) for place, grade in enumerate(grades, 1))


def recall_at(k: int) -> Metric:
    """R@k."""
    return _metric(f"R@{k}", f"share of the relevant passages among the first {k} read", partial(recall, k=k))


def precision_at(k: int) -> Metric:
    """P@k."""
    return _metric(f"P@{k}", f"share of the first {k} places that relevant passages take", partial(precision, k=k))


def ndcg_at(k: int) -> Metric:
    """nDCG@k."""
    return _metric(f"nDCG@{k}", f"relevance of the first {k} passages read, early places first", partial(ndcg, k=k))


def reciprocal_rank_at(k: int | None = None) -> Metric:
    """RR, or RR@k."""
    name, among = (f"RR@{k}", f" among the first {k}") if k else ("RR", "")
    return _metric(name, f"1 / place of the first relevant passage read{among}", partial(reciprocal_rank, k=k))


def _metric(name: str, about: str, measure: Callable[[Sequence[str], Qrels], float]) -> Metric:
    """A metric of the passages read; it does not apply to a question that no relevant passage is known for."""

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
        qrels = example.get("qrels") or {}
        if not any(grade > 0 for grade in qrels.values()):
            return None
        return measure([passage.id for passage in passages_of(prediction)], qrels)

    return Metric(name, about, score)
