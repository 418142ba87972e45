"""Whether a question was taken for what it is."""

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.optimizers.metrics.registry import metric


@pytest.mark.parametrize(("route", "right"), [("REASON", 1), ("DEBATE", 0), ("", 0), (None, 0)])
def test_the_type_is_compared_with_the_route_taken(route, right):
    asked = question("q", "Why?", type="REASON")
    assert metric("type_accuracy").columns(asked, dspy.Prediction(route=route)) == {"type_accuracy": right}


def test_the_route_that_suits_a_question_is_read_where_it_is_known():
    went = dspy.Prediction(route="compound")
    score = metric("route_accuracy").columns
    assert score(question("q", "Why?", meta={"route": "compound"}), went) == {"route_accuracy": 1}
    assert score(dspy.Example(question="Why?", route="complex"), went) == {"route_accuracy": 0}
    assert score(question("q", "Why?", type="compound"), went) == {}
    assert metric("type_accuracy").columns(question("q", "Why?"), went) == {}
