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


def test_programs_that_tell_no_types_or_routes_apart_are_not_scored_by_them():
    asked = dspy.Example(question="Why?", type="REASON", route="complex")
    assert metric("type_accuracy").columns(asked, dspy.Prediction(route="rag")) == {}
    assert metric("route_accuracy").columns(asked, dspy.Prediction(route="REASON")) == {}


def test_the_labels_of_a_run_make_its_confusion_matrix():
    labels = metric("route_accuracy").labels
    assert labels is not None
    asked = dspy.Example(question="Why?", route="complex")
    assert labels(asked, dspy.Prediction(route="compound")) == ("complex", "compound")
    assert labels(dspy.Example(question="Why?"), dspy.Prediction(route="compound")) is None
