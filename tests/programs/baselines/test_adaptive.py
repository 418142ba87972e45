"""Adaptive-RAG: a class of complexity decides between no retrieval, a single one, and the chain of IRCoT."""

import json
from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.adaptive import Adaptive, AdaptiveConfig
from aspectrag.programs.baselines.ircot import Ircot, IrcotConfig
from fakes import ListRetriever, by_fields

QUESTION = "alpha?"
PASSAGES = [Passage(f"a{n}", f"alpha {n}", f"alpha, part {n}.") for n in range(9)]


def answered(call):
    return len(json.loads(call.inputs["thoughts"])) == 1


def thought(call):
    return f"alpha, {call.inputs['thoughts']}"


def run(look_ups, config: Any = None, **script):
    retriever = ListRetriever(PASSAGES)
    lm = scripted_lm(by_fields(**{"look_ups": look_ups, "thought": thought, "answered": answered, **script}))
    with dspy.context(lm=lm):
        out = Adaptive(AdaptiveConfig(**config or {}), retriever)(question=QUESTION)
    return out, [step.name for step in out.trace.walk() if step.kind == "module"], lm.engine.calls, retriever


@pytest.mark.parametrize(
    ("look_ups", "stages", "retrieved", "steps", "stopped_by"),
    [
        ("none", ["classify", "answer_directly"], [], 0, None),
        ("single", ["classify", "answer"], [5], 1, None),
        ("multiple", ["classify", "think", "think", "answer"], [6, 6], 2, "verdict"),
    ],
)
def test_the_class_decides_how_much_is_retrieved(look_ups, stages, retrieved, steps, stopped_by):
    out, made, calls, retriever = run(look_ups)
    assert (out.route, made, out.steps, out.stopped_by) == (look_ups, stages, steps, stopped_by)
    assert [k for _, k in retriever.searches] == retrieved
    assert len(out.passages) == max(retrieved, default=0)
    assert out.usage["lm_calls"] == len(calls) == len(stages)
    assert calls[0].inputs == {"question": QUESTION}
    assert out.answer
    assert not out.fallbacks


def test_a_single_retrieval_answers_the_question_itself():
    out, _, calls, retriever = run("single", {"single_k": 2, "k": 7})
    assert retriever.searches == [([QUESTION], 2)]
    assert [passage["title"] for passage in json.loads(calls[-1].inputs["passages"])] == ["alpha 0", "alpha 1"]
    assert (out.answer, [c.passage_id for c in out.citations]) == (f"About {QUESTION} [1].", ["a0"])


@pytest.mark.parametrize("said", ["B", "several", "", None])
def test_a_class_that_cannot_be_told_is_a_single_retrieval(said):
    out, made, _, _ = run(said)
    assert (out.route, out.steps, made) == ("single", 1, [*["classify"] * 3, "answer"])
    assert [(f.stage, "a single retrieval instead" in f.reason) for f in out.fallbacks] == [("classify", True)]


@pytest.mark.parametrize("script", [{}, {"answered": False}, {"thought": "alpha"}, {"thought": ""}])
def test_multiple_is_ircot_with_its_settings(script):
    config: dict[str, Any] = {"k": 3, "max_steps": 3, "max_passages": 4}
    out, _, _, retriever = run("multiple", config, **script)
    alone = ListRetriever(PASSAGES)
    with dspy.context(lm=scripted_lm(by_fields(**{"thought": thought, "answered": answered, **script}))):
        chain = Ircot(IrcotConfig(**config), alone)(question=QUESTION)
    assert out.toDict() == chain.toDict()
    assert retriever.searches == alone.searches


@pytest.mark.parametrize(
    ("look_ups", "stage"), [("none", "answer_directly"), ("single", "answer"), ("multiple", "answer")]
)
def test_not_knowing_is_flagged(look_ups, stage):
    out, _, _, _ = run(look_ups, answer="I don't know.")
    assert (out.answer, [f.stage for f in out.fallbacks]) == ("I don't know.", [stage])


@pytest.mark.parametrize("field", ["single_k", "k", "max_steps"])
def test_settings_that_make_no_sense_are_refused_by_name(field):
    bad: dict[str, Any] = {field: 0}
    with pytest.raises(AspectragError, match=f"^{field} must be"):
        AdaptiveConfig(**bad)
