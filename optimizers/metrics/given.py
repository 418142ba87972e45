"""A metric as users give it: one of ours, the name of one, or a function as DSPy's optimizers know them."""

import inspect
from collections.abc import Callable
from typing import Any

import dspy

from ...errors import AspectragError
from .metric import Metric
from .registry import metric

Given = Metric | str | Callable[..., Any]
# What DSPy hands over beside example and prediction: nothing; the trace; GEPA a predictor's name and trace as well.
_MORE = (0, 1, 3)


def as_metric(given: Given) -> Metric:
    """The metric; of a function ``metric(example, prediction, trace=None)`` one of its name.

    What the function says is the score, whatever it is asked for: a number, ``True`` for 1 and ``False`` for 0, or
    what GEPA's metrics return, a prediction with a ``score``. It gets no trace.

    Raises:
        AspectragError: There is no metric of the name, or it is no metric at all.

    Example:
        >>> def short(example, prediction, trace=None):
        ...     "the answer has one word"
        ...     return len(prediction.answer.split()) == 1
        >>> metric = as_metric(short)
        >>> metric.name, metric.about, metric.score(dspy.Example(), dspy.Prediction(answer="Oder"))
        ('short', 'the answer has one word', 1.0)
    """
    if isinstance(given, Metric):
        return given
    if isinstance(given, str):
        return metric(given)
    if isinstance(given, type) or not callable(given):
        raise AspectragError(
            f"{given!r:.60} is no metric: give a Metric, the name of one, or a function of example and prediction"
        )
    name = getattr(given, "__name__", type(given).__name__).strip("<>")
    more = (None,) * _more(given, name)

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
        said = given(example, prediction, *more)
        return None if said is None else float(said)

    return Metric(name, (inspect.getdoc(given) or name).splitlines()[0], score)


def _more(given: Callable[..., Any], name: str) -> int:
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError):
        raise AspectragError(f"{name} does not say what it takes: wrap it into a function of yours") from None
    for more in _MORE:
        try:
            signature.bind(*(None,) * (2 + more))
        except TypeError:
            continue
        return more
    raise AspectragError(f"the metric {name} takes {signature}: it must take (example, prediction, trace=None)")
