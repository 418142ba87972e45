"""The chain of thoughts at its own level: what it asks for, what it is shown, what it gathers, and how it ends."""

import json

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.blocks.answering import SubQuestion
from aspectrag.programs.blocks.interleaving import interleave
from aspectrag.signatures import NextThought
from dspy.lm15 import AuthError, ContextLengthError
from fakes import ListRetriever

QUESTION = "alpha?"
THOUGHTS = ["beta it is", "gamma it is", "alpha again", "delta"]
PASSAGES = [Passage(f"{w[0]}{n}", f"{w} {n}", f"{w}, part {n}.") for w in ("alpha", "beta", "gamma") for n in range(3)]
A, B, G = PASSAGES[:3], PASSAGES[3:6], PASSAGES[6:]


def told(call):
    return json.loads(call.inputs["thoughts"])


def ids(passages):
    return [passage.id for passage in passages]


def think(*said, passages=PASSAGES, window=None, attempts=2, k=2, max_passages=99, max_steps=3):
    """Run a chain whose n-th thought is ``said[n]``, the last of them final; gives it, calls, flags and retriever.

    A thought is a text, or whatever the model says instead.
    """

    def reply(call):
        n = len(told(call))
        return {"thought": said[n], "answered": n == len(said) - 1} if isinstance(said[n], str) else said[n]

    lm, retriever = scripted_lm(reply, max_tokens=200), ListRetriever(passages)
    lm.context_window = window
    with dspy.context(lm=lm, fallbacks=[]):
        chain = interleave(
            retriever, dspy.Predict(NextThought), attempts, QUESTION,
            k=k, max_passages=max_passages, max_steps=max_steps,
        )  # fmt: skip
        flags = [flag.reason.removesuffix("; answered from what was found") for flag in dspy.settings.fallbacks]
        assert {flag.stage for flag in dspy.settings.fallbacks} <= {"think"}
    return chain, lm.engine.calls, flags, retriever


def test_each_thought_searches_for_the_next_and_is_linked_to_what_was_found_for_it():
    chain, calls, flags, retriever = think(*THOUGHTS[:3])
    assert (chain.stopped_by, chain.steps, flags) == ("verdict", 3, [])
    assert retriever.searches == [([query], 2) for query in (QUESTION, *THOUGHTS[:2])]
    assert [(link.question, link.answer, ids(link.passages)) for link in chain.links] == [
        (QUESTION, THOUGHTS[0], ["a0", "a1"]),
        (THOUGHTS[0], THOUGHTS[1], ["b0", "b1"]),
        (THOUGHTS[1], THOUGHTS[2], ["g0", "g1"]),
    ]
    assert ids(chain.passages) == ["a0", "a1", "b0", "b1", "g0", "g1"]
    assert [told(call) for call in calls] == [[], THOUGHTS[:1], THOUGHTS[:2]]
    assert [len(json.loads(call.inputs["passages"])) for call in calls] == [2, 4, 6]
    assert all(isinstance(link, SubQuestion) and link.perspective is None for link in chain.links)


def test_the_first_found_stay_and_a_text_is_gathered_once():
    twin = Passage("twin", "Twin", A[0].text + " beta")  # not a twin of a0, but of the next
    again = Passage("zz", "Again", twin.text)
    chain, *_ = think(*THOUGHTS[:2], passages=[A[0], twin, again], k=3)
    assert ids(chain.passages) == ["a0", "twin"]
    assert ids(chain.links[1].passages) == ["twin", "zz"]  # a link has all that was found for it
    assert ids(think(*THOUGHTS[:3], max_passages=3)[0].passages) == ["a0", "a1", "b0"]
    assert ids(think(*THOUGHTS[:3], max_passages=1)[0].passages) == ["a0"]


def test_what_the_window_does_not_hold_is_gathered_and_not_shown():
    long = [Passage(p.id, p.title, p.text + " word" * 300) for p in PASSAGES]
    chain, calls, flags, _ = think(*THOUGHTS[:2], passages=long, window=2200)
    # 1000 for the prompt and 200 for the answer leave room for three.
    assert [len(json.loads(call.inputs["passages"])) for call in calls] == [2, 3]
    assert (ids(chain.passages), flags) == (["a0", "a1", "b0", "b1"], [])


@pytest.mark.parametrize("max_steps", [1, 2, 3])
def test_without_an_end_it_stops_at_the_most_steps(max_steps):
    chain, calls, flags, retriever = think(*THOUGHTS, max_steps=max_steps)
    assert (chain.stopped_by, chain.steps) == ("max_steps", max_steps)
    assert len(calls) == len(retriever.searches) == len(chain.links) == max_steps
    assert flags == [f"no end after {max_steps} thoughts"]


def test_the_last_step_may_give_the_answer():
    chain, _, flags, _ = think(*THOUGHTS[:2], max_steps=2)
    assert (chain.stopped_by, chain.steps, flags) == ("verdict", 2, [])


@pytest.mark.parametrize("again", ["beta it is", " BETA it is\n"])
def test_the_same_thought_again_ends_it_even_as_the_last(again):
    for said in ([THOUGHTS[0], again], [THOUGHTS[0], again, "delta"]):
        chain, _, flags, _ = think(*said)
        assert (chain.stopped_by, chain.steps, len(chain.links)) == ("repetition", 2, 1)
        assert flags == [f"the same thought again ({again.strip()})"]
        assert ids(chain.passages) == ["a0", "a1", "b0", "b1"]  # its step's passages are there all the same


@pytest.mark.parametrize("links", [0, 1])
@pytest.mark.parametrize(
    ("said", "tries", "reason"),
    [
        ({"thought": " ", "answered": True}, 2, "0 thoughts where at least 1 are needed"),
        ({"thought": "So.", "answered": "perhaps"}, 2, "the output does not parse"),
        (ContextLengthError("too long"), 1, "the prompt exceeds the context window"),
    ],
    ids=["blank", "no verdict", "too long"],
)
def test_without_a_thought_it_ends_with_what_was_found(said, tries, reason, links):
    chain, calls, flags, _ = think(*THOUGHTS[:links], said)
    assert (chain.stopped_by, chain.steps, len(chain.links)) == ("failure", links + 1, links)
    assert ids(chain.passages) == ["a0", "a1", "b0", "b1"][: 2 * (links + 1)]
    assert (len(calls), flags) == (links + tries, [reason])


def test_finding_nothing_it_thinks_all_the_same():
    chain, calls, flags, _ = think(*THOUGHTS[:2], passages=[])
    assert (chain.stopped_by, chain.passages, flags) == ("verdict", [], [])
    assert [json.loads(call.inputs["passages"]) for call in calls] == [[], []]
    assert [link.passages for link in chain.links] == [(), ()]


def test_half_a_surrogate_pair_in_a_thought_is_made_fit_for_the_search():
    chain, _, _, retriever = think({"thought": "beta \ud83d", "answered": False}, "gamma")
    assert [query.encode() for query in retriever.queries] == [b"alpha?", b"beta ?"]
    assert chain.links[0].answer == "beta ?"


def test_a_model_that_refuses_is_an_error():
    with pytest.raises(dspy.LMError):
        think(AuthError("no key"))
