"""The acceptance cases of Typed-RAG: what is called, with what, in which order, and what happens when it goes wrong."""

from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.typed_rag import TypedRag, TypedRagConfig
from dspy.lm15 import ContextLengthError
from fakes import PLANS, ListRetriever, by_fields


def run(question, config=None, reply=None, retriever=None, **changes):
    retriever = retriever or ListRetriever()
    lm = scripted_lm(reply or by_fields(**changes))
    with dspy.context(lm=lm):
        out = TypedRag(config, retriever)(question=question)
    calls = [call for call in lm.engine.calls if call.fields != ("type",)]
    return out, calls, retriever


def stages(out):
    return [step.name for step in out.trace.walk() if step.kind == "module"]


def test_evidence_based_is_one_retrieval_and_one_generation():
    question = "How does sterilisation help to keep the money flow even?"
    out, calls, retriever = run(question)
    assert out.route == "EVIDENCE-BASED"
    assert retriever.searches == [([question], 5)]
    assert out.sub_questions == []
    assert len(calls) == 1
    # The model sees texts, not ids.
    assert "sterilisation helps banks keep money flow even" in calls[0].inputs["passages"]
    assert "d1" not in calls[0].inputs["passages"]


def test_comparison_retrieves_each_keyword_and_reranks_by_the_question():
    question = "what is the difference between dysphagia and odynophagia"
    out, calls, retriever = run(question, type="COMPARISON")
    assert out.route == "COMPARISON"
    assert len(calls) == 2
    assert retriever.searches == [(["dysphagia", "odynophagia"], 5)]
    assert retriever.ranks == [question]
    assert calls[1].inputs["compare_type"] == "difference"
    assert "odynophagia" in calls[1].inputs["keywords"]
    assert {p.id for p in out.passages} == {"d2", "d3"}


def test_comparison_drops_exact_duplicates_and_keeps_five():
    many = [Passage(f"x{i}", "Twin", "dysphagia odynophagia same text") for i in range(3)]
    many += [Passage(f"y{i}", f"Other {i}", f"dysphagia text {i}") for i in range(9)]
    many += [Passage(f"z{i}", f"Other {i}", f"odynophagia text {i}") for i in range(9)]
    out, _, retriever = run("dysphagia or odynophagia?", retriever=ListRetriever(many), type="COMPARISON")
    found = {p.id for passages in retriever.search(["dysphagia", "odynophagia"], 5) for p in passages}
    assert {"x0", "x1", "x2", "y0", "z0"} <= found
    texts = [p.text for p in out.passages]
    assert len(texts) == len(set(texts)) == 5


@pytest.mark.parametrize(
    ("setting", "query"),
    [
        ("question", "What are some of the best Portuguese wines?"),
        ("keywords", "Portuguese wines, best"),
        ("question+keywords", "What are some of the best Portuguese wines? Portuguese wines, best"),
    ],
)
def test_experience_reranks_by_keywords(setting, query):
    out, calls, retriever = run(
        "What are some of the best Portuguese wines?",
        TypedRagConfig(experience_query=setting),
        type="EXPERIENCE",
        keywords=["Portuguese wines", "best"],
    )
    assert out.route == "EXPERIENCE"
    assert len(calls) == 2
    assert retriever.queries == [query]
    assert retriever.ranks == ["Portuguese wines, best"]


@pytest.mark.parametrize(
    ("kind", "stage", "question"),
    [
        ("REASON", "reason_queries", "Kresy, a part of the land beyond the Curzon Line, was drawn for what reason?"),
        ("INSTRUCTION", "instruction_queries", "How can you find a lodge to ask to be a member of?"),
    ],
)
def test_reason_and_instruction_answer_each_part_and_aggregate(kind, stage, question):
    out, calls, retriever = run(question, type=kind)
    n = len(PLANS["queries"])
    assert out.route == kind
    assert len(calls) == n + 2
    assert stages(out) == ["classify", stage, *["answer"] * n, "aggregate"]
    assert retriever.searches == [(PLANS["queries"], 5)]
    assert [part.question for part in out.sub_questions] == PLANS["queries"]
    last = calls[-1].inputs
    assert last["question"] == question
    for part in out.sub_questions:
        assert part.question in last["sub_answers"]
        assert part.answer.split("[")[0] in last["sub_answers"]


def test_debate_gives_every_perspective_to_the_mediator():
    out, calls, _ = run("Should nuclear power replace coal?", type="DEBATE")
    plan = PLANS["perspectives"]
    assert len(calls) == len(plan) + 2
    assert [part.perspective for part in out.sub_questions] == [p["opinion"] for p in plan]
    assert [part.question for part in out.sub_questions] == [p["query"] for p in plan]
    mediation = calls[-1].inputs
    assert mediation["topic"] == PLANS["topic"]
    assert all(p["opinion"] in mediation["responses"] for p in plan)
    assert "participants" not in out.answer


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_decomposer_that_talks_prose_falls_back_to_plain_rag(attempts):
    def reply(call):
        return "I would rather not." if call.fields == ("queries",) else by_fields(type="REASON")(call)

    out, calls, retriever = run("Why Kresy?", TypedRagConfig(max_attempts=attempts), reply=reply)
    assert sum(call.fields == ("queries",) for call in calls) == attempts
    assert [(f.stage, "parse" in f.reason) for f in out.fallbacks] == [("reason_queries", True)]
    assert out.answer
    assert retriever.queries == ["Why Kresy?"]


@pytest.mark.parametrize(
    "said",
    [
        '[[ ## queries ## ]]\n```json\n[\n  "Why Kresy?",\n  "Who drew it?"\n]\n```',
        "[[ ## queries ## ]]\n['Why Kresy?', 'Who drew it?']",
        '[[ ## queries ## ]]\n["Why Kresy?", "Who drew it?"]\n\nI hope this helps!',
        '```json\n{"queries": ["Why Kresy?", "Who drew it?"]}\n```',
        'Here they are:\n["Why Kresy?",\n "Who drew it?"]\nDone.',
    ],
    ids=["fenced", "single quotes", "trailing words", "fenced object", "bare list"],
)
def test_untidy_lists_are_accepted_at_once(said):
    def reply(call):
        return said if call.fields == ("queries",) else by_fields(type="REASON")(call)

    out, calls, _ = run("Why Kresy?", reply=reply)
    assert [part.question for part in out.sub_questions] == ["Why Kresy?", "Who drew it?"]
    assert sum(call.fields == ("queries",) for call in calls) == 1
    assert {f.stage for f in out.fallbacks} <= {"retrieve"}  # not every part finds something


def test_one_sub_query_is_asked_again_and_six_are_trimmed():
    out, calls, _ = run("Why Kresy?", type="REASON", queries=["only one", " ONLY ONE "])
    assert sum(call.fields == ("queries",) for call in calls) == 3
    assert "1 distinct sub-questions where at least 2 are needed" in out.fallbacks[0].reason

    out, _, _ = run("Why Kresy?", type="REASON", queries=[f"Why {i}?" for i in range(6)])
    assert len(out.sub_questions) == 5
    assert (out.fallbacks[0].stage, out.fallbacks[0].reason) == ("reason_queries", "6 parts, the first 5 are used")
    assert {f.stage for f in out.fallbacks[1:]} <= {"retrieve"}


def test_an_opinion_without_its_query_is_asked_for_again():
    broken = [{"opinion": "for"}, {"opinion": "against", "query": "coal"}]

    def perspectives(call):
        return PLANS["perspectives"] if call.index >= 2 else broken

    out, calls, _ = run("Should nuclear power replace coal?", type="DEBATE", perspectives=perspectives)
    assert sum("perspectives" in call.fields for call in calls) == 2
    assert len(out.sub_questions) == 3
    assert not out.fallbacks


def test_not_a_comparison_is_plain_rag_without_retry():
    out, calls, retriever = run("dysphagia?", type="COMPARISON", is_compare=False)
    assert sum("is_compare" in call.fields for call in calls) == 1
    assert out.fallbacks[0].stage == "extract_comparison"
    assert retriever.queries == ["dysphagia?"]


@pytest.mark.parametrize(
    ("kind", "question"), [("FACTOID", "When did Google begin?"), ("NOT-A-QUESTION", "hello there")]
)
def test_plain_types_survive_finding_nothing(kind, question):
    out, calls, _ = run(question, type=kind)
    assert out.route == kind
    assert len(calls) == 1
    assert out.passages == []
    assert out.answer


def test_an_unknown_type_counts_as_plain_and_is_flagged():
    out, _, _ = run("Why Kresy?", type="PHILOSOPHY")
    assert out.route == "EVIDENCE-BASED"
    assert out.fallbacks[0].stage == "classify"


def test_same_question_again_costs_nothing_and_changes_nothing():
    retriever, lm = ListRetriever(), scripted_lm(by_fields(type="REASON"))
    with dspy.context(lm=lm):
        first = TypedRag(None, retriever)(question="Why Kresy?")
        again = TypedRag(None, retriever)(question="Why Kresy?")
    assert again.usage == {"lm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cached_calls": 6}
    assert first.usage["lm_calls"] == 6
    assert again.toDict() == first.toDict()


def test_cache_misses_when_model_instructions_or_k_change():
    retriever, reply = ListRetriever(), by_fields()
    question = "nuclear power or coal, cheap or costly"
    lm = scripted_lm(reply)

    def spent(program, lm=lm):
        with dspy.context(lm=lm):
            return program(question=question).usage["lm_calls"]

    assert spent(TypedRag(None, retriever)) == 2
    assert spent(TypedRag(None, retriever)) == 0
    assert spent(TypedRag(None, retriever), scripted_lm(reply)) == 2
    assert spent(TypedRag(TypedRagConfig(k=1), retriever)) == 1
    changed = TypedRag(None, retriever)
    changed.answer.signature = changed.answer.signature.with_instructions("Answer in one word.")
    assert spent(changed) == 1


def test_sub_answers_keep_their_passages_and_citations_point_into_the_pool():
    def answer(call):
        return "Merged [1] [2] [99]." if "sub_answers" in call.inputs else "Part [1] [42]."

    out, calls, _ = run("Why?", type="REASON", queries=["coal", "nuclear"], answer=answer)
    first, second = out.sub_questions
    assert first.passages[0].title == "Coal"
    assert second.passages[0].title == "Nuclear power"
    assert first.answer == second.answer == "Part [1]."
    place = [p.id for p in out.passages].index("d7") + 1
    assert f"Part [{place}]." in calls[-1].inputs["sub_answers"]
    assert [(c.number, c.passage_id) for c in out.citations] == [(1, out.passages[0].id), (2, out.passages[1].id)]
    assert "99" not in out.answer


@pytest.mark.parametrize("failure", [ContextLengthError("too long"), ""], ids=["too long", "says nothing"])
def test_answers_that_cannot_be_merged_stand_one_after_another(failure):
    def reply(call):
        return failure if "sub_answers" in call.inputs else by_fields(type="REASON", queries=["coal", "nuclear"])(call)

    out, _, _ = run("Why?", reply=reply)
    assert out.answer == "About coal [1].\n\nAbout nuclear [2]."
    assert [f.stage for f in out.fallbacks] == ["aggregate"]


def test_settings_that_make_no_sense_are_refused():
    bad: dict[str, Any]
    wrong = [{"k": "5"}, {"k": 2.5}, {"k": 0}, {"max_attempts": 0}, {"min_parts": 4, "max_parts": 3}]
    for bad in [*wrong, {"experience_query": "both"}]:
        with pytest.raises(AspectragError):
            TypedRagConfig(**bad)
