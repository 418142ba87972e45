"""Self-RAG: whether to retrieve, one answer per relevant passage, and the one that stands up best."""

import re
from collections import Counter
from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.self_rag import SelfRag, SelfRagConfig
from dspy.lm15 import ContextLengthError
from fakes import ListRetriever, by_fields

QUESTION = "alpha?"
PASSAGES = [Passage(f"a{n}", f"alpha {n}", f"alpha, part {n}.") for n in range(9)]
FULLY, PARTIALLY, NOT = "fully supported", "partially supported", "no support"


def number(text):
    """Which passage this is, or which one an answer comes from."""
    found = re.search(r"(?:part|claim) (\d)", text)
    return int(found[1]) if found else None


def answer(call):
    return f"claim {number(call.inputs['passages'])} [1]" if "passages" in call.inputs else "recalled"


def run(k=3, reply=None, retriever=None, **script):
    """Run Self-RAG; gives the result, how often each stage was called, the model's calls, and the retriever."""
    good = {"retrieve": True, "relevant": True, "answer": answer, "support": FULLY, "usefulness": 5}
    usual, retriever = by_fields(**{**good, **script}), retriever or ListRetriever(PASSAGES)
    lm = scripted_lm((lambda call: reply(call) or usual(call)) if reply else usual)
    with dspy.context(lm=lm):
        out = SelfRag(SelfRagConfig(k=k), retriever)(question=QUESTION)
    stages = Counter(step.name for step in out.trace.walk() if step.kind == "module")
    return out, stages, lm.engine.calls, retriever


def test_without_a_need_to_retrieve_it_answers_from_memory():
    out, stages, calls, retriever = run(retrieve=False)
    assert (out.route, out.steps, out.answer, out.stopped_by) == ("none", 0, "recalled", None)
    assert stages == {"judge_retrieval": 1, "answer_directly": 1}
    assert calls[0].inputs == {"question": QUESTION}
    assert retriever.searches == []
    assert out.passages == out.sub_questions == out.fallbacks == []


def test_every_relevant_passage_gives_an_answer_that_is_judged():
    out, stages, calls, retriever = run(k=5, relevant=lambda call: number(call.inputs["passage"]) in (1, 2, 4))
    assert retriever.searches == [([QUESTION], 5)]
    each = dict.fromkeys(["answer", "judge_support", "judge_usefulness"], 3)
    assert stages == {"judge_retrieval": 1, "judge_relevance": 5, **each}
    assert out.usage["lm_calls"] == 1 + 5 + 3 * 3
    assert [(part.question, part.answer, [p.id for p in part.passages]) for part in out.sub_questions] == [
        (QUESTION, f"claim {n} [1]", [f"a{n}"]) for n in (1, 2, 4)
    ]
    # Support is judged by the answer's own passage; neither judge sees its citations.
    support = [call.inputs for call in calls if "support" in call.fields]
    assert {(given["passage"], given["answer"]) for given in support} == {
        (f"alpha, part {n}.", f"claim {n}") for n in (1, 2, 4)
    }
    useful = [call.inputs for call in calls if "usefulness" in call.fields]
    assert sorted(given["answer"] for given in useful) == ["claim 1", "claim 2", "claim 4"]
    assert all(given.keys() == {"question", "answer"} for given in useful)
    assert (out.route, out.steps, out.fallbacks) == ("retrieve", 1, [])


@pytest.mark.parametrize(
    ("judged", "best"),
    [
        ([(NOT, 3), (PARTIALLY, 3), (FULLY, 3)], 2),
        ([(FULLY, 3), (FULLY, 4), (FULLY, 2)], 1),
        # Usefulness weighs half as much as support, over a range twice as wide.
        ([(FULLY, 1), (PARTIALLY, 4), (NOT, 5)], 1),
        ([(PARTIALLY, 5), (FULLY, 3), (FULLY, 2)], 0),
        ([(NOT, 4), (PARTIALLY, 1), (NOT, 5)], 2),
        # Ties go to the passage found first.
        ([(NOT, 1), (FULLY, 4), (FULLY, 4)], 1),
        ([(FULLY, 1), (NOT, 5), (PARTIALLY, 3)], 0),
        ([(NOT, 1), (NOT, 1), (NOT, 1)], 0),
    ],
)
def test_the_best_supported_and_most_useful_answer_wins(judged, best):
    out, *_ = run(
        support=lambda call: judged[number(call.inputs["answer"])][0],
        usefulness=lambda call: judged[number(call.inputs["answer"])][1],
    )
    assert out.answer == f"claim {best} [1]"
    assert [p.id for p in out.passages] == [c.passage_id for c in out.citations] == [f"a{best}"]
    assert len(out.sub_questions) == 3
    assert not out.fallbacks


def test_twins_among_the_passages_and_the_answers_are_judged_once():
    twins = [Passage("t1", "Alpha", "alpha, part 0."), Passage("t2", "Alpha again", "alpha, part 0."), *PASSAGES[1:3]]
    _, stages, calls, _ = run(k=4, retriever=ListRetriever(twins), answer="claim 0 [1]")
    assert (stages["judge_relevance"], stages["answer"], stages["judge_support"]) == (3, 3, 3)
    assert stages["judge_usefulness"] == sum("usefulness" in call.fields for call in calls) == 1


def test_where_all_passages_are_irrelevant_it_answers_from_memory_and_says_so():
    out, stages, _, _ = run(relevant=False)
    assert (out.route, out.steps, out.answer) == ("retrieve", 1, "recalled")
    assert stages == {"judge_retrieval": 1, "judge_relevance": 3, "answer_directly": 1}
    assert out.passages == out.sub_questions == []
    assert [(f.stage, "no passage is held to be relevant" in f.reason) for f in out.fallbacks] == [
        ("judge_relevance", True)
    ]


def test_where_nothing_is_found_it_answers_from_memory_and_says_so():
    out, stages, _, _ = run(retriever=ListRetriever([]))
    assert (out.route, out.steps, out.answer, out.passages) == ("retrieve", 1, "recalled", [])
    assert stages == {"judge_retrieval": 1, "answer_directly": 1}
    assert len(out.fallbacks) == 1


@pytest.mark.parametrize("said", ["Hm.", ContextLengthError("too long")], ids=["prose", "too long"])
@pytest.mark.parametrize(
    ("field", "stage", "times", "taken"),
    [
        ("retrieve", "judge_retrieval", 1, "taken for True"),
        ("relevant", "judge_relevance", 3, "kept unjudged"),
        ("support", "judge_support", 3, "taken for 'no support'"),
        ("usefulness", "judge_usefulness", 3, "taken for 3"),
    ],
)
def test_a_judge_that_gives_no_verdict_is_done_without(field, stage, times, taken, said):
    out, stages, _, _ = run(reply=lambda call: said if field in call.fields else None)
    assert (out.route, out.answer, len(out.sub_questions)) == ("retrieve", "claim 0 [1]", 3)
    assert [f.stage for f in out.fallbacks] == [stage] * times
    assert all(taken in f.reason for f in out.fallbacks)
    assert stages[stage] == times * (3 if said == "Hm." else 1)


def test_a_missing_verdict_counts_as_the_least_support_and_middling_use():
    def silent(call):
        return "Hm." if call.inputs.get("answer") == "claim 0" else None

    # Without a verdict the first scores 0: below any support, above what is of no use.
    assert run(reply=silent, support=PARTIALLY, usefulness=3)[0].answer == "claim 1 [1]"
    assert run(reply=silent, support=NOT, usefulness=2)[0].answer == "claim 0 [1]"


def test_not_knowing_loses_to_an_answer_and_is_flagged():
    def ignorant(call):
        return "I don't know." if "part 0" in call.inputs.get("passages", "") else answer(call)

    out, *_ = run(answer=ignorant, usefulness=lambda call: 1 if "know" in call.inputs["answer"] else 4)
    assert out.answer == "claim 1 [1]"
    assert [f.stage for f in out.fallbacks] == ["answer"]


@pytest.mark.parametrize(("field", "value"), [("k", 0), ("max_attempts", "3"), ("answers", "long")])
def test_settings_that_make_no_sense_are_refused_by_name(field, value):
    bad: dict[str, Any] = {field: value}
    with pytest.raises(AspectragError, match=f"^{field} must be"):
        SelfRagConfig(**bad)


@pytest.mark.parametrize("said", ["", "I don't know."])
def test_an_answer_that_says_nothing_never_wins_a_tie(said):
    first = []

    def answer(call):
        first.append(call)
        return said if "Coal is cheap" in call.prompt else "Right"

    with dspy.context(lm=scripted_lm(by_fields(answer=answer, support="fully supported", usefulness=4))):
        out = SelfRag(None, ListRetriever())(question="Is coal cheap and nuclear power costly?")
    assert out.answer.startswith("Right")
