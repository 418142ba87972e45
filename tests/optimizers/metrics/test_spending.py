"""What an answer took, of a live program and of a run that was read back; what is unknown is not 0."""

import dspy
import pytest
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.metrics.registry import metric
from aspectrag.programs.baselines.direct import Direct

USAGE = {"lm_calls": 3, "prompt_tokens": 100, "completion_tokens": 20, "cached_calls": 1}
READ_BACK = dspy.Prediction(steps=2, usage=USAGE, seconds=1.5, cost=0.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("steps", 2),
        ("lm_calls", 3),
        ("prompt_tokens", 100),
        ("completion_tokens", 20),
        ("tokens", 120),
        ("cost", 0),
        ("seconds", 1.5),
    ],
)
def test_the_numbers_of_a_run(name, expected):
    assert metric(name).columns(dspy.Example(), READ_BACK) == {name: expected}


def test_an_unknown_price_is_no_column_and_neither_is_anything_else_unknown():
    assert metric("cost").columns(dspy.Example(), dspy.Prediction(cost=None)) == {}
    for name in ("steps", "lm_calls", "tokens", "cost", "seconds"):
        assert metric(name).columns(dspy.Example(), dspy.Prediction()) == {}


def test_a_live_program_tells_its_calls_and_tokens():
    with dspy.context(lm=scripted_lm({"answer": "The Vistula"})):
        out = Direct()(question="Which river?")
    assert metric("lm_calls").columns(dspy.Example(), out) == {"lm_calls": 1}
    assert metric("tokens").columns(dspy.Example(), out)["tokens"] > 10
    assert metric("steps").columns(dspy.Example(), out) == {"steps": 0}
