r"""Whether a question was taken for what it is: its type, or the route that suits it.

.. math:: \frac{1}{n} \sum_i [taken_i = expected_i]

Over the questions whose type or route is known. Types are those of Typed-RAG (arXiv 2503.15879), routes those of HANRAG
(arXiv 2509.09713). F1 by class and the confusion matrix come from :func:`.classification.classification`.
"""

from collections.abc import Callable
from typing import get_args

import dspy

from ...signatures.han import Complexity
from ...signatures.typed import QuestionType
from .metric import Metric

_TYPES, _ROUTES = get_args(QuestionType), get_args(Complexity)


def expected_type(example: dspy.Example) -> str | None:
    """The question's type in the words of its benchmark."""
    return example.get("type") or None


def expected_route(example: dspy.Example) -> str | None:
    """The route that suits the question, where its record says so: as ``route``, there or in its ``meta``.

    Example:
        >>> expected_route(dspy.Example(meta={"route": "compound"}))
        'compound'
    """
    return example.get("route") or (example.get("meta") or {}).get("route") or None


def _metric(name: str, about: str, expected: Callable[[dspy.Example], str | None], labels: tuple[str, ...]) -> Metric:
    """A metric of the route taken; it does not apply to programs that do not tell such questions apart."""

    def pair(example: dspy.Example, prediction: dspy.Prediction) -> tuple[str, str] | None:
        right, taken = expected(example), prediction.get("route") or ""
        return (right, taken) if right and (not taken or taken in labels) else None

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
        compared = pair(example, prediction)
        return float(compared[0] == compared[1]) if compared else None

    return Metric(name, about, score, labels=pair)


METRICS = (
    _metric("type_accuracy", "the question was taken for one of its type", expected_type, _TYPES),
    _metric("route_accuracy", "the question went the way that suits it", expected_route, _ROUTES),
)
