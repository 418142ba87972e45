"""Coverage as a judge sees it: aspect by aspect, failures told."""

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.lms import scripted_lm
from aspectrag.optimizers.metrics.registry import metric

PARTS = [
    {"question": "cost", "answers": ["it is cheap", "low in price"]},
    {"question": "harm", "answers": ["it is dirty"]},
    {"question": "supply", "answers": []},
    {"question": " "},
]
ASKED = question("q", "Why coal?", sub_questions=PARTS)


def judged(reply, answer="It is cheap [1].", asked=ASKED):
    lm = scripted_lm(reply)
    with dspy.context(lm=lm):
        return metric("coverage").columns(asked, dspy.Prediction(answer=answer)), lm.engine.calls


def verdicts(**by_aspect):
    return lambda call: {"coverage": by_aspect[call.inputs["aspect"]]}


def test_it_is_the_mean_over_the_sub_questions():
    columns, calls = judged(verdicts(cost="fully covered", harm="not covered", supply="partly covered"))
    assert columns == {"coverage": 0.5, "coverage_failed": 0}
    assert len(calls) == 3
    seen = {call.inputs["aspect"]: call.inputs for call in calls}
    assert seen["cost"] == {
        "question": "Why coal?", "answer": "It is cheap.", "aspect": "cost", "expected": "it is cheap"
    }  # fmt: skip
    assert seen["supply"]["expected"] == ""


def test_labels_may_be_spelled_as_models_spell_them():
    columns, calls = judged(lambda call: "[[ ## coverage ## ]]\n**Partly covered.**\n\n[[ ## completed ## ]]")
    assert columns == {"coverage": 0.5, "coverage_failed": 0}
    assert len(calls) == 3


def test_where_the_judge_gives_no_verdict_the_aspect_is_told_and_not_averaged():
    columns, calls = judged(verdicts(cost="fully covered", harm="seven", supply="not covered"))
    assert columns == {"coverage": 0.5, "coverage_failed": pytest.approx(1 / 3)}
    assert len(calls) == 1 + 3 + 1


@pytest.mark.parametrize("nonsense", ["", "I cannot say.", {"coverage": ""}, {"coverage": "9"}])
def test_nonsense_alone_gives_no_score(nonsense):
    columns, calls = judged(lambda call: nonsense)
    assert columns == {"coverage_failed": 1}
    assert len(calls) == 9


@pytest.mark.parametrize("answer", ["", "  ", "[1]"])
def test_an_answer_that_says_nothing_covers_nothing_and_no_one_is_asked(answer):
    assert judged({}, answer) == ({"coverage": 0, "coverage_failed": 0}, [])


def test_it_does_not_apply_without_sub_questions():
    assert judged({}, asked=question("q", "Why coal?")) == ({}, [])


def test_every_verdict_is_told():
    with dspy.context(lm=scripted_lm(verdicts(cost="fully covered", harm="seven", supply="not covered"))):
        detail = metric("coverage").score(ASKED, dspy.Prediction(answer="It is cheap.")).detail
    assert [(each["aspect"], each["verdict"]) for each in detail] == [
        ("cost", "fully covered"), ("harm", None), ("supply", "not covered")
    ]  # fmt: skip
    assert [bool(each["failure"]) for each in detail] == [False, True, False]
