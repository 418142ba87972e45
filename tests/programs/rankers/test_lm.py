"""The ranker that is a language model: windows that a passage climbs through, and what a model may say wrongly."""

import json
import re

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.rankers.candidates import Candidate
from aspectrag.programs.rankers.lm import LmRanker
from aspectrag.programs.rankers.ranker import ListwiseRanker
from dspy.lm15 import ContextLengthError
from hypothesis import given, settings
from hypothesis import strategies as st

QUESTION, ASPECTS = "Why coal?", ["cost", "safety"]


def pool(size, text="Text of passage {}."):
    return [Candidate(Passage(f"p{n}", "", text.format(n)), {"cost": n}) for n in range(1, size + 1)]


def shown(call):
    """What a call was shown: numbers of passages in the pool, in their order."""
    texts = [passage["text"] for passage in json.loads(call.inputs["passages"])]
    return [int(re.findall(r"\d+", text)[0]) for text in texts]


def prefers(*best):
    """A model that puts some passages first, as far as it is shown them, and the rest in the order it sees."""

    def reply(call):
        seen = shown(call)
        order = sorted(range(len(seen)), key=lambda i: best.index(seen[i]) if seen[i] in best else len(best))
        return {"ranking": [i + 1 for i in order]}

    return reply


def rank(reply, candidates, k=10, window=20, attempts=1, context_window=None):
    lm = scripted_lm(reply)
    lm.context_window = context_window
    with dspy.context(lm=lm, fallbacks=[]):
        ids = LmRanker(window=window, attempts=attempts).rank(QUESTION, ASPECTS, candidates, k)
        fallbacks = [(fallback.stage, fallback.reason) for fallback in dspy.settings.fallbacks]
    return [int(id[1:]) for id in ids], lm.engine.calls, fallbacks


def test_the_model_is_shown_question_aspects_and_numbered_passages():
    order, (call,), fallbacks = rank(prefers(3, 1), pool(3))
    assert isinstance(LmRanker(), ListwiseRanker)
    assert (order, fallbacks) == ([3, 1, 2], [])
    assert call.inputs["question"] == QUESTION
    assert "cost" in call.inputs["aspects"]
    assert [p["number"] for p in json.loads(call.inputs["passages"])] == [1, 2, 3]
    assert "p1" not in call.prompt  # numbers, not ids


@pytest.mark.parametrize(
    ("said", "order", "fault"),
    [
        ([3, 1, 4, 2], [3, 1, 4, 2], ""),
        ([4, 9, 2], [4, 2, 1, 3], "1 unknown, 2 missing"),
        ([0, -1, 2], [2, 1, 3, 4], "2 unknown, 3 missing"),
        ([2, 2, 4, 2], [2, 4, 1, 3], "2 repeated, 2 missing"),
        ([3], [3, 1, 2, 4], "3 missing"),
        ([3, 3, 77], [3, 1, 2, 4], "1 unknown, 1 repeated, 3 missing"),
    ],
)
def test_wrong_numbers_are_dropped_and_what_is_left_out_follows_in_the_order_it_had(said, order, fault):
    given_order, calls, fallbacks = rank({"ranking": said}, pool(4))
    assert given_order == order
    assert len(calls) == 1
    reason = f"of 4 passages: {fault}; the rest keeps the order of the pool"
    assert fallbacks == ([("rank", reason)] if fault else [])


@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("The third passage is the best.", "the output does not parse"),
        ("", "the output does not parse"),
        ('{"ranking": ["best", "worst"]}', "the output does not parse"),
        ('{"ranking": []}', "no number of a passage is named"),
        ('{"ranking": [0, 5, 99]}', "no number of a passage is named"),
    ],
)
def test_a_model_that_names_no_passage_is_asked_again_and_then_the_order_is_kept(said, reason, attempts):
    order, calls, fallbacks = rank(lambda call: said, pool(4), attempts=attempts)
    assert order == [1, 2, 3, 4]
    assert len(calls) == attempts
    assert fallbacks == [("rank", f"{reason}; 4 passages keep the order of the pool")]


def test_a_later_attempt_counts():
    order, calls, fallbacks = rank(lambda call: {"ranking": [2, 1] if call.index else []}, pool(2), attempts=3)
    assert (order, len(calls), fallbacks) == ([2, 1], 2, [])


def test_a_prompt_that_is_too_long_keeps_the_order():
    order, calls, fallbacks = rank(lambda call: ContextLengthError("too long"), pool(3), attempts=3)
    assert order == [1, 2, 3]
    assert len(calls) == 1
    assert fallbacks == [("rank", "the prompt exceeds the context window; 3 passages keep the order of the pool")]


def test_a_passage_at_the_very_end_of_the_pool_climbs_to_its_top():
    order, calls, fallbacks = rank(prefers(50, 49, 1), pool(50))
    assert order == [50, 49, 1, 2, 3, 4, 5, 6, 7, 8]
    assert fallbacks == []
    # Windows of 20 that overlap by half, from the end to the start: 31-50, 21-40, 11-30, 1-20.
    assert [len(shown(call)) for call in calls] == [20] * 4
    assert shown(calls[0]) == list(range(31, 51))
    assert shown(calls[1])[:10] == list(range(21, 31))
    assert shown(calls[1])[10:12] == [50, 49]
    assert shown(calls[3]) == [*range(1, 11), 50, 49, *range(11, 19)]


@pytest.mark.parametrize(
    ("size", "window", "calls"),
    [(1, 20, 0), (2, 20, 1), (20, 20, 1), (21, 20, 2), (30, 20, 2), (31, 20, 3), (100, 20, 9), (5, 2, 4), (5, 3, 2)],
)
def test_calls_grow_with_the_pool(size, window, calls):
    order, made, _ = rank(prefers(size), pool(size), window=window)
    assert order[0] == size
    assert len(made) == calls
    assert max((len(shown(call)) for call in made), default=0) <= window


def test_a_window_of_one_compares_two():
    order, calls, _ = rank(prefers(4), pool(4), window=1)
    assert order[0] == 4
    assert [len(shown(call)) for call in calls] == [2, 2, 2]


def test_a_model_that_reads_less_is_shown_less_at_once():
    long = pool(12, "Text of passage {} " + "word " * 200)
    # Beside instructions, answer and question there is room for some five of these passages.
    order, calls, fallbacks = rank(prefers(12), long, context_window=1000 + 4096 + 1100)
    sizes = [len(shown(call)) for call in calls]
    assert order[0] == 12
    assert sorted(order) == sorted({*order})
    assert len(order) == 10
    assert 2 <= max(sizes) <= 6
    assert len(calls) > 2
    assert fallbacks == []
    # Those that end the pool are looked at first: what does not fit is at the front.
    assert shown(calls[0])[-1] == 12


def test_a_model_that_reads_next_to_nothing_compares_two():
    order, calls, _ = rank(prefers(4), pool(4, "Text {} " + "word " * 900), context_window=2000)
    assert order[0] == 4
    assert {len(shown(call)) for call in calls} == {2}


@pytest.mark.parametrize(("size", "calls"), [(0, 0), (1, 0), (2, 1)])
def test_a_pool_smaller_than_k_is_given_whole(size, calls):
    order, made, fallbacks = rank(prefers(2), pool(size), k=10)
    assert order == [[], [1], [2, 1]][size]
    assert len(made) == calls
    assert fallbacks == []


def test_each_window_that_fails_keeps_its_order_and_the_others_are_ranked():
    def reply(call):
        return "no" if call.index == 1 else prefers(30, 1)(call)

    order, calls, fallbacks = rank(reply, pool(40), k=40)
    assert len(calls) == 3
    assert len(fallbacks) == 1
    assert order[0] == 1
    assert sorted(order) == list(range(1, 41))


def test_the_given_predictor_is_called_on_the_model_of_the_role():
    predictor = dspy.Predict("passages, question, aspects -> ranking: list[int]")
    main, special = scripted_lm(lambda call: RuntimeError("wrong model")), scripted_lm({"ranking": [2, 1]})
    with dspy.context(lm=main, roles={"rank": special}):
        assert LmRanker(predictor).rank(QUESTION, [], pool(2), 1) == ["p2"]
    assert len(special.engine.calls) == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 9), st.integers(1, 12), st.integers(1, 5), st.lists(st.integers(-1, 9), max_size=8))
def test_whatever_a_model_says_the_ids_are_distinct_and_as_many_as_promised(size, k, window, said):
    order, _, _ = rank({"ranking": said}, pool(size), k=k, window=window)
    assert len(order) == len(set(order)) == min(k, size)
    assert set(order) <= set(range(1, size + 1))
