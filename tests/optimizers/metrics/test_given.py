"""Metrics as users give them."""

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.metrics.given import as_metric
from aspectrag.optimizers.metrics.metric import Metric
from aspectrag.optimizers.metrics.registry import metric

ONE, OTHER = dspy.Example(answer="Oder"), dspy.Prediction(answer="Oder")


def two(example, prediction):
    return example.answer == prediction.answer


def traced(example, prediction, trace):
    """Is it right?

    Said at length.
    """
    return 0.25 if trace is None else True


def of_gepa(gold, pred, trace, pred_name, pred_trace):
    return dspy.Prediction(score=0.5, feedback="nearly")


class Module(dspy.Module):
    def forward(self, example, pred, trace=None):
        return 0.75


@pytest.mark.parametrize(
    ("given", "name", "about", "score"),
    [
        (two, "two", "two", 1.0),
        (traced, "traced", "Is it right?", 0.25),
        (of_gepa, "of_gepa", "of_gepa", 0.5),
        (lambda example, prediction, trace=None: None, "lambda", "lambda", None),
        (Module(), "Module", None, 0.75),
    ],
)
def test_functions_become_metrics(given, name, about, score):
    made = as_metric(given)
    assert (made.name, made.score(ONE, OTHER)) == (name, score)
    assert type(made.score(ONE, OTHER)) in (float, type(None))
    assert about in (made.about, None)


def test_metrics_and_their_names_are_what_they_are():
    own = Metric("own", "mine", two)
    assert as_metric(own) is own
    assert as_metric("f1") is metric("f1")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("f2", "there is no metric 'f2'"),
        (3, "3 is no metric: give a Metric"),
        (None, "None is no metric"),
        (Module, "is no metric"),
        (lambda example: 1.0, r"the metric lambda takes \(example\): it must take \(example, prediction, trace=None\)"),
        (lambda *, example, prediction: 1.0, "it must take"),
    ],
)
def test_what_is_no_metric(given, message):
    with pytest.raises(AspectragError, match=message):
        as_metric(given)
