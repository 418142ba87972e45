"""How often a simpler path was taken, of a live program and of a run that was read back."""

import dspy
import pytest
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.evaluation.records import prediction_of
from aspectrag.optimizers.metrics.registry import metric
from aspectrag.programs.baselines.direct import Direct

READ_BACK = prediction_of(
    {
        "answer": "So.",
        "fallbacks": [
            {"stage": "classify", "reason": "the output does not parse; plain RAG instead"},
            {"stage": "refine", "reason": "0 seed questions where at least 1 are needed; asked as it is"},
            {"stage": "retrieve", "reason": "nothing was found; answered without passages"},
        ],
    }
)


@pytest.mark.parametrize(("name", "expected"), [("fallbacks", 3), ("parse_failures", 2)])
def test_what_a_run_says(name, expected):
    assert metric(name).columns(dspy.Example(), READ_BACK) == {name: expected}
    assert metric(name).columns(dspy.Example(), prediction_of({"answer": "So."})) == {name: 0}
    assert metric(name).columns(dspy.Example(), dspy.Prediction(answer="So.")) == {}


@pytest.mark.parametrize(
    ("reply", "fallbacks", "failures"),
    [({"answer": "The Vistula"}, 0, 0), ({"answer": "I don't know."}, 1, 0), ({"answer": " "}, 1, 1)],
)
def test_what_a_live_program_says(reply, fallbacks, failures):
    with dspy.context(lm=scripted_lm(reply)):
        out = Direct()(question="Which river?")
    assert metric("fallbacks").columns(dspy.Example(), out) == {"fallbacks": fallbacks}
    assert metric("parse_failures").columns(dspy.Example(), out) == {"parse_failures": failures}
