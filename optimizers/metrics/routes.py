"""Whether a question was taken for what it is: its type, or the route that suits it."""

import dspy

from .metric import Metric


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


def _type(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
    expected = expected_type(example)
    return float(prediction.get("route") == expected) if expected else None


def _route(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
    expected = expected_route(example)
    return float(prediction.get("route") == expected) if expected else None


METRICS = (
    Metric("type_accuracy", "the question was taken for one of its type", _type),
    Metric("route_accuracy", "the question went the way that suits it", _route),
)
