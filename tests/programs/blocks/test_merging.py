"""Merging: one answer with citations into one list of passages, and the parts as they are where it cannot be done."""

import json

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.blocks.answering import SubQuestion
from aspectrag.programs.blocks.merging import merged
from aspectrag.signatures import AggregateAnswers, BriefAggregateAnswers, MediateDebate
from dspy.lm15 import AuthError, ContextLengthError

A, B, C = (Passage(x, x.upper(), f"text {x}") for x in "abc")
TWIN = Passage("t", "Twin", A.text)
# Each part numbers its own passages from 1; pooled they are A, B, C.
PARTS = [SubQuestion("q1", "One [1], two [2].", (A, B)), SubQuestion("q2", "Three [2] [1].", (TWIN, C))]


def merge(said, parts=PARTS, signature=AggregateAnswers, field="sub_answers", **inputs):
    """The answer, the passages, the calls, and the reasons of the fallbacks."""
    lm = scripted_lm(lambda call: said if isinstance(said, Exception) or said == "Prose." else {"answer": said})
    with dspy.context(lm=lm, fallbacks=[]):
        answer, passages = merged("combine", dspy.Predict(signature), 2, parts, field, **inputs or {"question": "q?"})
        assert {flag.stage for flag in dspy.settings.fallbacks} <= {"combine"}
        return answer, passages, lm.engine.calls, [flag.reason for flag in dspy.settings.fallbacks]


def test_the_parts_are_told_with_citations_into_one_list_where_twins_are_one():
    answer, passages, (call,), flags = merge("All [1] of it [3].")
    assert (answer, passages, flags) == ("All [1] of it [3].", [A, B, C], [])
    assert json.loads(call.inputs["sub_answers"]) == [
        {"question": "q1", "answer": "One [1], two [2]."},
        {"question": "q2", "answer": "Three [3] [1]."},
    ]
    assert call.inputs["question"] == "q?"


def test_parts_with_a_perspective_are_told_by_it():
    parts = [SubQuestion("q1", "One [1].", (A,), "for"), SubQuestion("q2", "Two [1].", (B,), "against")]
    answer, _, (call,), _ = merge("Both [2].", parts, MediateDebate, "responses", topic="coal")
    assert answer == "Both [2]."
    assert json.loads(call.inputs["responses"]) == [
        {"perspective": "for", "answer": "One [1]."},
        {"perspective": "against", "answer": "Two [2]."},
    ]
    assert call.inputs["topic"] == "coal"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Two [2].", "Two [2]."),  # its own citations stay alone
        ("All.", "All. [1][2][3]"),  # without any it rests on what its parts rest on
        ("All [4] [0].", "All. [1][2][3]"),  # which numbers of nothing do not change
        ("Two [2, 9].", "Two [2]."),
    ],
)
@pytest.mark.parametrize("signature", [AggregateAnswers, BriefAggregateAnswers])
def test_citations_of_the_merged_answer(signature, said, answer):
    assert merge(said, signature=signature)[0] == answer


def test_of_its_parts_only_what_they_cite_is_cited():
    parts = [SubQuestion("q1", "One [2] [7].", (A, B)), SubQuestion("q2", "Two.", (C,))]
    assert merge("All.", parts)[:2] == ("All. [2]", [A, B, C])


def test_parts_without_passages_make_an_answer_without_citations():
    parts = [SubQuestion("q1", "One [1]."), SubQuestion("q2", "Two.")]
    answer, passages, (call,), _ = merge("Both [1].", parts)
    assert (answer, passages) == ("Both.", [])
    assert [part["answer"] for part in json.loads(call.inputs["sub_answers"])] == ["One.", "Two."]


@pytest.mark.parametrize(
    ("said", "tries", "reason"),
    [
        (ContextLengthError("too long"), 1, "the prompt exceeds the context window; the answers to the parts are"),
        ("  ", 2, "the answer is empty; no answer"),
        ("[1] [2]", 2, "the answer is empty; no answer"),
    ],
    ids=["too long", "blank", "citations alone"],
)
def test_where_it_cannot_be_done_the_answers_stand_one_after_another(said, tries, reason):
    parts = [PARTS[0], SubQuestion("q3", "", (A,)), PARTS[1]]  # a part that has no answer leaves no gap
    answer, passages, calls, flags = merge(said, parts)
    assert (answer, passages) == ("One [1], two [2].\n\nThree [3] [1].", [A, B, C])
    assert len(calls) == tries
    assert [flag.startswith(reason) for flag in flags] == [True]


def test_words_that_do_not_parse_are_kept_and_rest_on_the_parts():
    answer, _, calls, flags = merge("Prose.")
    assert (answer, len(calls)) == ("Prose. [1][2][3]", 2)
    assert flags == ["the output does not parse; the model's own words are kept"]


def test_parts_that_all_have_no_answer_make_none():
    parts = [SubQuestion("q1", "", (A,)), SubQuestion("q2", "")]
    assert merge(ContextLengthError("too long"), parts)[:2] == ("", [A])


def test_a_model_that_refuses_is_an_error():
    with pytest.raises(dspy.LMError):
        merge(AuthError("no key"))
