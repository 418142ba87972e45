"""A metric by itself, and in the form that DSPy calls."""

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.metrics.metric import Metric, as_dspy, feedback

ONE, OTHER = dspy.Example(), dspy.Prediction()


def metric(value, **options):
    return Metric("m", "a metric", lambda example, prediction: value, **options)


def test_columns_that_do_not_apply_are_not_there():
    assert metric(1).columns(ONE, OTHER) == {"m": 1.0}
    assert metric(None).columns(ONE, OTHER) == {}
    assert metric({"a": 1, "b": None}, gives=("a", "b")).columns(ONE, OTHER) == {"a": 1.0}
    assert type(metric(True).columns(ONE, OTHER)["m"]) is float


def test_the_first_of_several_columns_is_the_main_one():
    assert metric(1).main == "m"
    several = metric({"b": 0.25, "a": 0.5}, gives=("a", "b"))
    assert several.main == "a"
    assert as_dspy(several)(ONE, OTHER) == 0.5
    assert as_dspy(several, column="b")(ONE, OTHER) == 0.25
    with pytest.raises(AspectragError, match=r"the metric 'm' has no column 'm': choose of a, b"):
        as_dspy(several, column="m")


@pytest.mark.parametrize(
    ("value", "better", "threshold", "score", "good"),
    [
        (1.0, "higher", None, 1.0, True),
        (0.9, "higher", None, 0.9, False),
        (0.9, "higher", 0.9, 0.9, True),
        (0.0, "higher", 0.0, 0.0, True),  # a threshold of 0 is one
        (3.0, "lower", 5, -3.0, True),
        (6.0, "lower", 5, -6.0, False),
        (None, "higher", 0.0, 0.0, False),
        (None, "lower", 5, 0.0, False),
    ],
)
def test_dspy_gets_a_score_or_while_it_collects_demos_a_verdict(value, better, threshold, score, good):
    scored = as_dspy(metric(value, better=better), threshold=threshold)
    assert scored.__name__ == "m"
    assert scored(ONE, OTHER) == score
    assert scored(ONE, OTHER, trace=[]) is good
    told = scored(ONE, OTHER, [], "predictor", [])  # as GEPA asks
    assert (told.score, told.feedback) == (score, f"m {score:.2f} (a metric)")


def test_what_an_optimizer_that_reads_is_told_is_short_and_says_what_was_expected():
    example = dspy.Example(question="q", route="complex", id="x", answers=["a" * 999], meta={"k": 1})
    told = feedback(metric(0.5), example.with_inputs("question"), 0.5)
    assert told.startswith("m 0.50 (a metric); expected: route 'complex'; answers 'aaa")
    assert len(told) < 400
    assert "meta" not in told
