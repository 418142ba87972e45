"""The relevance filter, one by one and all at once: order kept, and nothing lost for want of a verdict."""

import json

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.blocks.relevance import relevant_each, relevant_together
from aspectrag.programs.trace import record
from aspectrag.signatures import JudgeRelevance, SelectRelevant
from dspy.lm15 import AuthError, ContextLengthError

PASSAGES = [Passage(f"p{n}", f"T{n}" if n else "", f"text {n}") for n in range(5)]
QUESTION = "why?"
JUDGES = {"each": (relevant_each, JudgeRelevance), "together": (relevant_together, SelectRelevant)}
# Prompts that are too long are not tried again; prose is, as often as allowed.
GIVES_NOTHING = [
    pytest.param("Perhaps.", 2, "the output does not parse", id="prose"),
    pytest.param(ContextLengthError("too long"), 1, "the prompt exceeds the context window", id="too long"),
]


def judge(how, relevant, passages=PASSAGES, window=None):
    """What is kept, the calls, and the reasons of the fallbacks."""

    def reply(call):
        said = relevant(call) if callable(relevant) else relevant
        return said if isinstance(said, (str, Exception)) else {"relevant": said}

    lm = scripted_lm(reply, max_tokens=200)
    lm.context_window = window
    block, signature = JUDGES[how]
    with dspy.context(lm=lm, fallbacks=[]):
        kept = block("judge", dspy.Predict(signature), 2, QUESTION, passages)
        assert {flag.stage for flag in dspy.settings.fallbacks} <= {"judge"}
        return kept, lm.engine.calls, [flag.reason for flag in dspy.settings.fallbacks]


def test_each_passage_is_judged_alone_and_the_relevant_stay_in_order():
    with record() as trace:
        kept, calls, flags = judge("each", lambda call: call.inputs["title"] in ("T3", "T1"))
    assert (kept, flags) == ([PASSAGES[1], PASSAGES[3]], [])
    shown = sorted((call.inputs["title"], call.inputs["passage"], call.inputs["question"]) for call in calls)
    assert shown == [(p.title, p.text, QUESTION) for p in PASSAGES]
    assert [step.name for step in trace.steps] == [f"passage {n}" for n in range(1, 6)]


@pytest.mark.parametrize(("said", "tries", "reason"), GIVES_NOTHING)
def test_a_passage_without_a_verdict_is_kept_and_named(said, tries, reason):
    def relevant(call):
        return said if call.inputs["title"] in ("", "T2") else call.inputs["title"] == "T3"

    kept, calls, flags = judge("each", relevant)
    assert kept == [PASSAGES[0], PASSAGES[2], PASSAGES[3]]
    assert flags == [f"{reason}; the passage {name} is kept unjudged" for name in ("'p0'", "'T2'")]
    assert len(calls) == 3 + 2 * tries


def test_a_verdict_may_come_with_the_second_attempt():
    kept, calls, flags = judge("each", lambda call: False if call.index else "Perhaps.", PASSAGES[:1])
    assert (kept, len(calls), flags) == ([], 2, [])


@pytest.mark.parametrize(
    ("numbers", "kept"),
    [
        ([2, 4], [1, 3]),
        ([4, 2, 4], [1, 3]),  # any order, and twice
        ([5, 99, 0, -1], [4]),  # numbers of nothing beside one of something
        ([], []),
        ([1, 2, 3, 4, 5], [0, 1, 2, 3, 4]),
    ],
)
def test_all_together_take_one_call_and_stay_in_order(numbers, kept):
    found, calls, flags = judge("together", numbers)
    assert (found, flags) == ([PASSAGES[n] for n in kept], [])
    (call,) = calls
    assert [(p["number"], p["title"], p["text"]) for p in json.loads(call.inputs["passages"])] == [
        (n, p.title, p.text) for n, p in enumerate(PASSAGES, 1)
    ]


@pytest.mark.parametrize(
    ("said", "tries", "reason"),
    [*GIVES_NOTHING, pytest.param([99, 0], 2, "numbers [0, 99], where 5 passages were shown", id="out of range")],
)
def test_without_verdicts_all_are_kept_and_flagged(said, tries, reason):
    kept, calls, flags = judge("together", said)
    assert (kept, len(calls)) == (PASSAGES, tries)
    assert flags == [f"{reason}; the passages are kept unjudged"]


LONG = [Passage(f"p{n}", f"T{n}", f"word{n} " * 300) for n in range(5)]


def test_only_what_the_window_holds_is_judged_together():
    # 1000 for the prompt and 200 for the answer leave room for two.
    kept, calls, flags = judge("together", [2, 3], LONG, window=2000)
    assert [p["title"] for p in json.loads(calls[0].inputs["passages"])] == ["T0", "T1"]
    assert (kept, flags) == ([LONG[1]], [])  # number 3 was not shown


def test_where_the_window_holds_two_and_the_judge_fails_all_are_kept():
    kept, _, flags = judge("together", "Perhaps.", LONG, window=2000)
    assert (kept, len(flags)) == (LONG, 1)


@pytest.mark.parametrize("how", JUDGES)
def test_nothing_to_judge_takes_no_call(how):
    assert judge(how, True, []) == ([], [], [])


@pytest.mark.parametrize("how", JUDGES)
def test_a_model_that_refuses_is_an_error_and_no_verdict(how):
    with pytest.raises(dspy.LMError):
        judge(how, AuthError("no key"))


@pytest.mark.parametrize("how", JUDGES)
def test_half_a_surrogate_pair_in_a_passage_is_judged_like_any_text(how):
    torn = [Passage("p", "T", "torn \ud83d text")]
    kept, _, flags = judge(how, True if how == "each" else [1], torn, window=4000)
    assert (kept, flags) == (torn, [])


@pytest.mark.parametrize("how", JUDGES)
def test_the_judge_may_have_a_model_of_its_own(how):
    own = scripted_lm({"relevant": True if how == "each" else [1]})
    other = scripted_lm({"relevant": False if how == "each" else []})
    block, signature = JUDGES[how]
    with dspy.context(lm=other, roles={"judge": own}):
        assert block("judge", dspy.Predict(signature), 1, QUESTION, PASSAGES[:1]) == PASSAGES[:1]
    assert (len(own.engine.calls), len(other.engine.calls)) == (1, 0)
