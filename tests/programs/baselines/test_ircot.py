"""IRCoT: each thought finds the passages for the next, until one gives the answer; a reader has the last word."""

import json
from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.ircot import Ircot, IrcotConfig
from dspy.lm15 import ContextLengthError
from fakes import ListRetriever, by_fields

QUESTION = "alpha?"
THOUGHTS = ["beta is next", "gamma is next", "So it is delta"]
# Each word of the chain finds seven passages of its own.
PASSAGES = [
    Passage(f"{word[0]}{n}", f"{word} {n}", f"{word}, part {n}.")
    for word in ("alpha", "beta", "gamma")
    for n in range(7)
]


def chain(call):
    return json.loads(call.inputs["thoughts"])


def shown(call):
    return [passage["title"] for passage in json.loads(call.inputs["passages"])]


def thought(call):
    return THOUGHTS[len(chain(call))]


def answered(call):
    return len(chain(call)) == len(THOUGHTS) - 1


def run(config: Any = None, reply=None, retriever=None, **script):
    """Run IRCoT; gives the result, the calls of the thinker, the call of the reader, and the retriever."""
    retriever = retriever or ListRetriever(PASSAGES)
    usual = by_fields(**{"thought": thought, "answered": answered, "answer": "delta [1]", **script})
    lm = scripted_lm((lambda call: reply(call) or usual(call)) if reply else usual)
    with dspy.context(lm=lm):
        out = Ircot(IrcotConfig(**config or {}), retriever)(question=QUESTION)
    *thinking, reading = lm.engine.calls
    assert "thought" not in reading.fields
    return out, thinking, reading, retriever


def flags(out):
    return [fallback.stage for fallback in out.fallbacks]


def test_each_thought_is_the_next_query_until_one_gives_the_answer():
    out, thinking, reading, retriever = run()
    assert retriever.searches == [([QUESTION], 6), ([THOUGHTS[0]], 6), ([THOUGHTS[1]], 6)]
    assert (out.route, out.steps, out.stopped_by, out.fallbacks) == ("multiple", 3, "verdict", [])
    assert [(link.question, link.answer) for link in out.sub_questions] == list(
        zip([QUESTION, *THOUGHTS[:2]], THOUGHTS, strict=True)
    )
    assert [{p.id[0] for p in link.passages} for link in out.sub_questions] == [{"a"}, {"b"}, {"g"}]
    # A thinker sees the question, the chain so far, and all that was gathered.
    assert [chain(call) for call in thinking] == [[], THOUGHTS[:1], THOUGHTS[:2]]
    assert [len(shown(call)) for call in thinking] == [6, 12, 15]
    assert {call.inputs["question"] for call in [*thinking, reading]} == {QUESTION}
    # The reader sees the passages and not the chain.
    assert shown(reading) == shown(thinking[-1])
    assert THOUGHTS[0] not in reading.prompt
    assert out.answer == "delta [1]"
    assert out.usage["lm_calls"] == 4


@pytest.mark.parametrize(
    ("config", "ids"),
    [
        ({"k": 2}, ["a0", "a1", "b0", "b1", "g0", "g1"]),
        ({"k": 2, "max_passages": 5}, ["a0", "a1", "b0", "b1", "g0"]),
        ({"k": 2, "max_passages": 2}, ["a0", "a1"]),
        ({}, [f"a{n}" for n in range(6)] + [f"b{n}" for n in range(6)] + [f"g{n}" for n in range(3)]),
    ],
)
def test_passages_are_gathered_first_come_first_up_to_the_most(config, ids):
    out, _, reading, _ = run(config)
    assert [p.id for p in out.passages] == ids
    assert len(shown(reading)) == len(ids)


def test_a_passage_found_twice_is_gathered_once():
    out, _, _, _ = run(thought=lambda call: f"alpha, {len(chain(call))}", answered=lambda call: len(chain(call)) == 2)
    assert [p.id for p in out.passages] == [f"a{n}" for n in range(6)]
    assert out.steps == 3


@pytest.mark.parametrize("max_steps", [1, 3, 8])
def test_without_an_end_it_stops_at_max_steps(max_steps):
    config = {} if max_steps == 8 else {"max_steps": max_steps}
    out, thinking, _, retriever = run(config, thought=lambda call: f"alpha, {len(chain(call))}", answered=False)
    assert (out.steps, out.stopped_by, out.answer) == (max_steps, "max_steps", "delta [1]")
    assert len(thinking) == len(retriever.searches) == len(out.sub_questions) == max_steps
    assert [(f.stage, f.reason.split(";")[0]) for f in out.fallbacks] == [
        ("think", f"no end after {max_steps} thoughts")
    ]


def test_an_answer_in_the_first_thought_takes_one_step():
    out, thinking, _, _ = run(answered=True)
    assert (out.steps, out.stopped_by, len(thinking), out.usage["lm_calls"]) == (1, "verdict", 1, 2)


def test_the_same_thought_again_ends_the_chain():
    out, _, _, retriever = run(thought=" beta is next ", answered=False)
    assert (out.steps, out.stopped_by, out.answer) == (2, "repetition", "delta [1]")
    assert [link.answer for link in out.sub_questions] == ["beta is next"]
    # What the repeated thought's step found is read all the same.
    assert {p.id[0] for p in out.passages} == {"a", "b"}
    assert retriever.queries == [QUESTION, "beta is next"]
    assert flags(out) == ["think"]


@pytest.mark.parametrize("said", ["Let me see.", {"thought": "  ", "answered": True}, ContextLengthError("too long")])
@pytest.mark.parametrize("links", [0, 1])
def test_a_thinker_that_gives_nothing_leaves_what_was_found(links, said):
    def broken(call):
        return said if "thought" in call.fields and len(chain(call)) == links else None

    out, thinking, reading, _ = run(reply=broken)
    assert (out.steps, out.stopped_by, out.answer) == (links + 1, "failure", "delta [1]")
    assert len(out.sub_questions) == links
    assert len(shown(reading)) == 6 * (links + 1)
    assert flags(out) == ["think"]
    # A prompt that is too long would be so again; the rest is worth another try.
    assert len(thinking) == links + (1 if isinstance(said, Exception) else 3)


def test_finding_nothing_still_answers():
    out, _, reading, _ = run(retriever=ListRetriever([]), answer="delta")
    assert (out.answer, out.passages, out.steps, out.stopped_by) == ("delta", [], 3, "verdict")
    assert shown(reading) == []


def test_not_knowing_is_flagged():
    out, _, _, _ = run(answer="I don't know.")
    assert (out.answer, flags(out)) == ("I don't know.", ["answer"])


@pytest.mark.parametrize("field", ["k", "max_passages", "max_steps", "max_attempts"])
def test_settings_that_make_no_sense_are_refused_by_name(field):
    for value in (0, "6", True):
        bad: dict[str, Any] = {field: value}
        with pytest.raises(AspectragError, match=f"^{field} must be"):
            IrcotConfig(**bad)
