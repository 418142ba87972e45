"""Adaptive Retrieval: looked up only where what is asked about is little known, or the model is not sure."""

from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.adaptive_retrieval import AdaptiveRetrieval, AdaptiveRetrievalConfig
from fakes import ListRetriever, by_fields

QUESTION = "alpha?"
PASSAGES = [Passage(f"a{n}", f"alpha {n}", f"alpha, part {n}.") for n in range(9)]
TESTS = {"popularity": "rate_popularity", "confidence": "answer_directly"}


def answer(call):
    return "found [1]" if "passages" in call.inputs else "recalled"


def run(test, rating, threshold=4, **script):
    retriever = ListRetriever(PASSAGES)
    lm = scripted_lm(by_fields(**{"entity": "Alpha", "answer": answer, test: rating, **script}))
    with dspy.context(lm=lm):
        program = AdaptiveRetrieval(AdaptiveRetrievalConfig(test=test, threshold=threshold), retriever)
        out = program(question=QUESTION)
    return out, [step.name for step in out.trace.walk() if step.kind == "module"], retriever


@pytest.mark.parametrize(
    ("rating", "threshold", "known"),
    [
        (1, 4, False),
        (3, 4, False),
        (4, 4, True),
        (5, 4, True),
        (4, 5, False),
        (5, 5, True),
        (1, 1, True),
        (1, 2, False),
    ],
)
@pytest.mark.parametrize("test", TESTS)
def test_ratings_below_the_threshold_retrieve(test, rating, threshold, known):
    out, stages, retriever = run(test, rating, threshold)
    # The answer that the model is sure of was given along with the rating, and stands.
    memory = ["answer_directly"] if test == "popularity" else []
    assert stages == [TESTS[test], *(memory if known else ["answer"])]
    assert out.usage["lm_calls"] == len(stages)
    assert retriever.searches == ([] if known else [([QUESTION], 5)])
    expected = ("none", 0, "recalled", 0) if known else ("single", 1, "found [1]", 5)
    assert (out.route, out.steps, out.answer, len(out.passages)) == expected
    assert (out.stopped_by, out.sub_questions, out.fallbacks) == (None, [], [])


@pytest.mark.parametrize("rating", [0, 6, "very", "", None])
@pytest.mark.parametrize("test", TESTS)
def test_a_rating_that_cannot_be_told_is_looked_up(test, rating):
    out, stages, _ = run(test, rating)
    assert (out.route, out.answer, stages) == ("single", "found [1]", [*[TESTS[test]] * 3, "answer"])
    assert [(f.stage, "looked up" in f.reason) for f in out.fallbacks] == [(TESTS[test], True)]


def test_certainty_of_knowing_nothing_is_looked_up():
    def ignorant(call):
        return "found [1]" if "passages" in call.inputs else "I don't know."

    out, stages, _ = run("confidence", 5, answer=ignorant)
    assert (out.route, out.answer, stages) == ("single", "found [1]", ["answer_directly", "answer"])


def test_an_empty_answer_is_none_however_sure():
    out, stages, _ = run("confidence", 5, answer=lambda call: "found [1]" if "passages" in call.inputs else " ")
    assert (out.route, out.answer, stages) == ("single", "found [1]", [*["answer_directly"] * 3, "answer"])
    assert "the answer is empty" in out.fallbacks[0].reason


@pytest.mark.parametrize(("rating", "stage"), [(5, "answer_directly"), (1, "answer")])
def test_not_knowing_of_a_popular_thing_stands_and_is_flagged(rating, stage):
    out, _, _ = run("popularity", rating, answer="I don't know.")
    assert (out.answer, [f.stage for f in out.fallbacks]) == ("I don't know.", [stage])


@pytest.mark.parametrize("test", TESTS)
def test_a_program_has_the_predictors_of_its_test(test):
    program = AdaptiveRetrieval(AdaptiveRetrievalConfig(test=test), ListRetriever())
    fields = {name: list(predictor.signature.output_fields) for name, predictor in program.named_predictors()}
    rated = {"popularity": {"rate_popularity": ["entity", "popularity"], "answer_directly": ["answer"]}}
    assert fields == {
        **rated.get(test, {"answer_directly": ["answer", "confidence"]}),
        "answer": ["answer", "citations"],
    }


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"threshold": 6}, "threshold is at most 5"),
        ({"threshold": 0}, "threshold must be"),
        ({"threshold": 3.5}, "threshold must be"),
        ({"test": "mood"}, "test must be popularity or confidence"),
        ({"test": "confidence", "answers": "full"}, "confidence gives brief answers"),
        ({"k": 0}, "k must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(bad: Any, said):
    with pytest.raises(AspectragError, match=said):
        AdaptiveRetrievalConfig(**bad)
