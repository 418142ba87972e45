"""The acceptance cases of HANRAG: the four chains, what each retrieves, judges and is told, and how each can end."""

import json
import time
from collections import Counter
from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from dspy.lm15 import ContextLengthError
from fakes import ListRetriever, by_fields

PASSAGES = [
    Passage("p1", "Alexander", "Alexander was taught by Aristotle."),
    Passage("p2", "Aristotle", "Aristotle was taught by Plato."),
    Passage("p3", "Tesla", "Tesla was born in 1856."),
    Passage("p4", "New York", "Tesla died in 1943."),
    # Every question below finds these too, after the passage that helps.
    *(Passage(f"q{n:02}", f"Noise {n}", f"Alexander, Aristotle, Tesla, part {n}.") for n in range(12)),
]
# For each simple question its answer and the title of the one passage that gives it.
KNOWN = {
    "When was Tesla born?": ("1856", "Tesla"),
    "When did Tesla die?": ("1943", "New York"),
    "Who taught Alexander?": ("Aristotle", "Alexander"),
    "Who taught Aristotle?": ("Plato", "Aristotle"),
}
COMPOUND, PARTS = "When was Tesla born? When did he die?", ["When was Tesla born?", "When did Tesla die?"]
COMPLEX, SIMPLE = "Who taught the teacher of Alexander?", "Who taught Alexander?"


def found(call):
    """What a judge of the ending or a refiner is told, as (question, answer) pairs."""
    return [(hop["question"], hop["answer"]) for hop in json.loads(call.inputs["found"])]


def shown(call):
    """Titles of the passages in a generator's prompt, in order."""
    return [passage["title"] for passage in json.loads(call.inputs["passages"])]


def relevant(call):
    return call.inputs["title"] == KNOWN[call.inputs["question"]][1]


def answer(call):
    if "sub_answers" in call.inputs:
        return " and ".join(part["answer"] for part in json.loads(call.inputs["sub_answers"]))
    fact, _ = KNOWN.get(call.inputs["question"], ("Aristotle", ""))
    return f"{fact} [1]" if "passages" in call.inputs else f"{fact}, as I recall"


def seed_question(call):
    """Asks for the teacher of whoever was found last."""
    return f"Who taught {found(call)[-1][1] if found(call) else 'Alexander'}?"


def verdict(call):
    return "end" if len(found(call)) == 2 else "continue"


def reply(broken="", said: Any = "I would rather not.", **changes):
    """Replies of a model that does everything right, but for the ``broken`` field."""
    script = {"relevant": relevant, "answer": answer, "seed_question": seed_question, "verdict": verdict}
    usual = by_fields(**{**script, "sub_questions": PARTS, **changes})
    return lambda call: said if broken in call.fields else usual(call)


def run(question, route="single-step", config: Any = None, retriever=None, latency=0.0, **script):
    """Run HANRAG; gives the result, the model's calls by stage, and the retriever."""
    retriever = retriever or ListRetriever(PASSAGES)
    lm = scripted_lm(reply(**{"route": route, **script}), latency)
    with dspy.context(lm=lm):
        out = HanRag(HanRagConfig(**config or {}), retriever)(question=question)
    calls: dict[str, list] = {}
    for call in lm.engine.calls:
        name = {"relevant": "judge_relevance", "verdict": "judge_ending"}.get(call.fields[0], call.fields[0])
        if name == "answer":
            name = next((kind for kind in ("sub_answers", "passages") if kind in call.inputs), "answer_directly")
        calls.setdefault(name, []).append(call)
    assert out.usage["lm_calls"] == len(lm.engine.calls)
    return out, calls, retriever


def stages(out):
    return Counter(step.name for step in out.trace.walk() if step.kind == "module")


def flags(out):
    return [fallback.stage for fallback in out.fallbacks]


# Case 20
def test_straightforward_is_answered_from_memory():
    out, _, retriever = run(SIMPLE, "straightforward")
    assert (out.route, out.answer, out.steps, out.stopped_by) == ("straightforward", "Aristotle, as I recall", 0, None)
    assert retriever.searches == []
    assert list(stages(out)) == ["route", "answer_directly"]
    assert out.usage["lm_calls"] == 2
    assert out.passages == out.sub_questions == out.fallbacks == []


# Case 21
def test_single_step_judges_ten_passages_and_answers_from_the_relevant_one():
    out, calls, retriever = run(SIMPLE)
    assert (out.route, out.answer, out.steps, out.stopped_by) == ("single-step", "Aristotle [1]", 1, None)
    assert retriever.searches == [([SIMPLE], 10)]
    assert stages(out) == {"route": 1, "judge_relevance": 10, "answer": 1}
    # One passage per verdict, all different, with its text.
    assert len({call.inputs["passage"] for call in calls["judge_relevance"]}) == 10
    (generation,) = calls["passages"]
    assert shown(generation) == ["Alexander"]
    assert "Noise" not in generation.prompt
    assert [(c.number, c.passage_id) for c in out.citations] == [(1, "p1")]
    assert [p.id for p in out.passages] == ["p1"]


@pytest.mark.parametrize(("keep_k", "kept"), [(1, [1]), (3, [1, 4, 6]), (9, [1, 4, 6, 7])])
@pytest.mark.parametrize("judge", ["each", "together"])
def test_the_first_keep_k_of_the_relevant_reach_the_generator_in_the_order_found(judge, keep_k, kept):
    passages = [Passage(f"m{n}", f"Maribor {n}", f"Maribor, part {n}.") for n in range(9)]

    def good(call):
        # A judge of all at once may name them in any order, twice, and with numbers that nothing has.
        if "passages" in call.inputs:
            return [8, 2, 99, 7, 5, 0, -1, 2]
        return call.inputs["title"][-1] in "1467"

    config = {"keep_k": keep_k, "judge": judge}
    out, calls, _ = run("Maribor?", config=config, retriever=ListRetriever(passages), relevant=good)
    assert shown(calls["passages"][0]) == [f"Maribor {n}" for n in kept]
    assert [p.id for p in out.passages] == [f"m{n}" for n in kept]
    assert len(calls["judge_relevance"]) == (9 if judge == "each" else 1)
    assert not out.fallbacks


def test_twins_among_the_passages_are_judged_once():
    twins = [*PASSAGES[:1], Passage("p1b", "Alexander", PASSAGES[0].text), *PASSAGES[1:2]]
    out, calls, _ = run(SIMPLE, retriever=ListRetriever(twins))
    assert len(calls["judge_relevance"]) == 2
    assert [p.id for p in out.passages] == ["p1"]


@pytest.mark.parametrize("said", ["Perhaps.", ContextLengthError("too long")], ids=["prose", "too long"])
@pytest.mark.parametrize("judge", ["each", "together"])
def test_passages_without_a_verdict_are_kept_and_flagged(judge, said):
    out, calls, _ = run(SIMPLE, config={"judge": judge}, broken="relevant", said=said)
    assert shown(calls["passages"][0]) == ["Alexander", "Aristotle", "Noise 0"]
    assert flags(out) == ["judge_relevance"] * (10 if judge == "each" else 1)
    assert all("unjudged" in fallback.reason for fallback in out.fallbacks)
    attempts = 3 if said == "Perhaps." else 1
    assert len(calls["judge_relevance"]) == attempts * len(out.fallbacks)


def test_one_passage_without_a_verdict_leaves_the_others_to_theirs():
    def unsure(call):
        return "perhaps" if call.inputs["title"] == "Noise 3" else relevant(call)

    out, calls, _ = run(SIMPLE, relevant=unsure)
    assert shown(calls["passages"][0]) == ["Alexander", "Noise 3"]
    assert flags(out) == ["judge_relevance"]
    assert "'Noise 3'" in out.fallbacks[0].reason


def test_numbers_of_no_passage_are_no_verdict():
    out, calls, _ = run(SIMPLE, config={"judge": "together"}, relevant=[11, 0])
    assert len(calls["judge_relevance"]) == 3
    assert "numbers [0, 11], where 10 passages were shown" in out.fallbacks[0].reason
    assert len(shown(calls["passages"][0])) == 3


# Case 25: nothing relevant
@pytest.mark.parametrize("judge", ["each", "together"])
@pytest.mark.parametrize(
    ("on_empty", "kept", "said"),
    [
        ("closed_book", [], "answered without passages"),
        ("top1", ["p1"], "answered from the best 1"),
        ("unfiltered", ["p1", "p2", "q00"], "answered from the best 3"),
    ],
)
def test_where_no_passage_is_relevant_the_configured_action_is_taken(judge, on_empty, kept, said):
    nothing = False if judge == "each" else []
    out, calls, _ = run(SIMPLE, config={"on_empty": on_empty, "judge": judge}, relevant=nothing)
    assert [p.id for p in out.passages] == kept
    assert ("answer_directly" in calls, "passages" in calls) == (not kept, bool(kept))
    assert flags(out) == ["judge_relevance"]
    assert said in out.fallbacks[0].reason
    assert out.answer.startswith("Aristotle")
    assert out.steps == 1


@pytest.mark.parametrize(("route", "hops"), [("single-step", 1), ("compound", 2), ("complex", 2)])
def test_where_nothing_is_found_nothing_is_judged(route, hops):
    out, calls, _ = run(COMPLEX, route, retriever=ListRetriever([]))
    assert "judge_relevance" not in calls
    assert "passages" not in calls
    assert len(calls["answer_directly"]) == hops
    assert flags(out) == ["retrieve"] * hops
    assert out.passages == out.citations == []
    assert "as I recall" in out.answer


# Case 22
def test_compound_answers_all_parts_and_combines_them():
    out, calls, retriever = run(COMPOUND, "compound")
    assert (out.route, out.steps, out.stopped_by) == ("compound", 1, None)
    assert retriever.searches == [(PARTS, 10)]
    assert stages(out) == {"route": 1, "decompose": 1, "judge_relevance": 20, "answer": 2, "combine": 1}
    assert Counter(call.inputs["question"] for call in calls["judge_relevance"]) == dict.fromkeys(PARTS, 10)
    # Each part has its own passages and cites them by its own numbers; the whole cites the pool of both.
    assert [(part.question, part.answer) for part in out.sub_questions] == [
        (PARTS[0], "1856 [1]"),
        (PARTS[1], "1943 [1]"),
    ]
    assert [[p.id for p in part.passages] for part in out.sub_questions] == [["p3"], ["p4"]]
    (combination,) = calls["sub_answers"]
    assert combination.inputs["question"] == COMPOUND
    told = json.loads(combination.inputs["sub_answers"])
    assert [(part["question"], part["answer"]) for part in told] == [(PARTS[0], "1856 [1]"), (PARTS[1], "1943 [2]")]
    assert out.answer == "1856 [1] and 1943 [2]"
    assert [c.passage_id for c in out.citations] == ["p3", "p4"]
    assert not out.fallbacks


def test_parts_and_verdicts_are_worked_on_at_once():
    questions = [f"What did Tesla do in {year}?" for year in range(1890, 1894)]
    passages = [Passage(f"t{n:02}", f"Tesla {n}", f"Tesla, part {n}.") for n in range(12)]
    started = time.perf_counter()
    out, _, _ = run(
        "What did Tesla do?",
        "compound",
        {"k": 12},
        ListRetriever(passages),
        0.2,
        sub_questions=questions,
        relevant=True,
    )
    seconds = time.perf_counter() - started
    # One after another they take 11 s; the longest chain is five calls.
    assert out.usage["lm_calls"] == 2 + 4 * (12 + 1) + 1
    assert seconds < 2.5
    # Nothing depends on which came back first.
    assert [part.question for part in out.sub_questions] == questions


@pytest.mark.parametrize(
    ("said", "used"),
    [
        ([" When was Tesla born?", "", "  ", "When was Tesla born? ", PARTS[1]], PARTS),
        ([f"When was Tesla born, {n}?" for n in range(7)], [f"When was Tesla born, {n}?" for n in range(5)]),
    ],
    ids=["blanks and repetitions", "too many"],
)
def test_parts_are_distinct_and_not_too_many(said, used):
    out, calls, retriever = run(COMPOUND, "compound", sub_questions=said, relevant=True)
    assert [part.question for part in out.sub_questions] == retriever.queries == used
    assert len(calls["sub_questions"]) == 1
    assert [f.reason for f in out.fallbacks] == ([] if used == PARTS else ["7 parts, the first 5 are used"])


def test_a_question_that_cannot_be_decomposed_is_looked_up_as_it_stands():
    out, _, retriever = run(SIMPLE, "compound", sub_questions=[SIMPLE])
    assert retriever.queries == [SIMPLE]
    assert stages(out) == {"route": 1, "decompose": 1, "judge_relevance": 10, "answer": 1}
    assert (out.route, out.answer, out.steps) == ("compound", "Aristotle [1]", 1)
    assert [p.id for p in out.passages] == ["p1"]
    assert not out.fallbacks


def test_a_single_part_that_asks_otherwise_answers_the_question():
    out, calls, retriever = run("And Alexander, who taught him?", "compound", sub_questions=[SIMPLE])
    assert retriever.queries == [SIMPLE]
    assert calls["sub_answers"][0].inputs["question"] == "And Alexander, who taught him?"
    assert (out.answer, [p.id for p in out.passages]) == ("Aristotle [1]", ["p1"])


@pytest.mark.parametrize(
    ("script", "reason"),
    [({"sub_questions": ["", " "]}, "0 sub-questions"), ({"broken": "sub_questions"}, "does not parse")],
    ids=["blanks", "prose"],
)
def test_a_decomposer_that_gives_nothing_is_done_without(script, reason):
    out, calls, retriever = run(SIMPLE, "compound", **script)
    assert len(calls["sub_questions"]) == 3
    assert retriever.queries == [SIMPLE]
    assert (out.route, out.answer) == ("compound", "Aristotle [1]")
    assert flags(out) == ["decompose"]
    assert reason in out.fallbacks[0].reason


# Case 23
def test_complex_goes_hop_by_hop_with_seed_questions():
    out, calls, retriever = run(COMPLEX, "complex")
    seeds = ["Who taught Alexander?", "Who taught Aristotle?"]
    assert (out.route, out.steps, out.stopped_by) == ("complex", 2, "verdict")
    assert stages(out) == {"route": 1, "judge_ending": 3, "refine": 2, "judge_relevance": 20, "answer": 2, "combine": 1}
    # The seed is what is searched with, judged against and answered; the question itself never is.
    assert retriever.searches == [([seeds[0]], 10), ([seeds[1]], 10)]
    assert Counter(call.inputs["question"] for call in calls["judge_relevance"]) == dict.fromkeys(seeds, 10)
    assert [call.inputs["question"] for call in calls["passages"]] == seeds
    assert [shown(call) for call in calls["passages"]] == [["Alexander"], ["Aristotle"]]
    # Whoever steers sees the question and all pairs so far, without the numbers of passages that it does not see.
    pairs = [(seeds[0], "Aristotle"), (seeds[1], "Plato")]
    assert [found(call) for call in calls["judge_ending"]] == [[], pairs[:1], pairs]
    assert [found(call) for call in calls["seed_question"]] == [[], pairs[:1]]
    assert {call.inputs["question"] for call in calls["judge_ending"] + calls["seed_question"]} == {COMPLEX}
    (combination,) = calls["sub_answers"]
    assert combination.inputs["question"] == COMPLEX
    told = json.loads(combination.inputs["sub_answers"])
    assert [(hop["question"], hop["answer"]) for hop in told] == [(seeds[0], "Aristotle [1]"), (seeds[1], "Plato [2]")]
    assert out.answer == "Aristotle [1] and Plato [2]"
    assert [(hop.question, [p.id for p in hop.passages]) for hop in out.sub_questions] == [
        (seeds[0], ["p1"]),
        (seeds[1], ["p2"]),
    ]
    assert not out.fallbacks


# Case 24
def never(call):
    return f"Tesla, {len(found(call))}?"


@pytest.mark.parametrize("max_steps", [1, 2, 5])
def test_without_an_end_it_stops_at_max_steps(max_steps):
    config = {} if max_steps == 5 else {"max_steps": max_steps}
    out, calls, _ = run(COMPLEX, "complex", config, verdict="continue", seed_question=never, relevant=True)
    assert (out.steps, len(out.sub_questions), out.stopped_by) == (max_steps, max_steps, "max_steps")
    assert len(json.loads(calls["sub_answers"][0].inputs["sub_answers"])) == max_steps
    assert flags(out) == ["judge_ending"]
    assert f"no end after {max_steps} hops" in out.fallbacks[0].reason
    assert out.answer


def test_an_end_after_the_last_hop_is_a_verdict():
    out, _, _ = run(COMPLEX, "complex", {"max_steps": 2})
    assert (out.steps, out.stopped_by, out.fallbacks) == (2, "verdict", [])


@pytest.mark.parametrize("said", ["INSUFFICIENT", "[[ ## verdict ## ]]\nINSUFFICIENT", "The end."])
def test_a_verdict_that_is_none_does_not_end(said):
    config = {"max_steps": 2, "max_attempts": 2}
    out, calls, _ = run(COMPLEX, "complex", config, broken="verdict", said=said)
    assert (out.steps, out.stopped_by) == (2, "max_steps")
    assert len(calls["judge_ending"]) == 2 * 3
    assert flags(out) == ["judge_ending"] * 4
    assert out.answer == "Aristotle [1] and Plato [2]"


def test_an_end_before_the_first_hop_is_a_direct_answer():
    out, calls, retriever = run(COMPLEX, "complex", verdict="end")
    assert (out.route, out.steps, out.stopped_by) == ("complex", 0, "verdict")
    assert retriever.searches == []
    assert list(stages(out)) == ["route", "judge_ending", "answer_directly"]
    assert calls["answer_directly"][0].inputs["question"] == COMPLEX
    assert (out.answer, out.sub_questions, out.fallbacks) == ("Aristotle, as I recall", [], [])


def after_one(call):
    return "end" if found(call) else "continue"


# Case 25: mis-routed
def test_a_simple_question_that_is_routed_as_complex_takes_one_hop():
    out, _, retriever = run(SIMPLE, "complex", verdict=after_one, seed_question=SIMPLE)
    assert (out.route, out.answer, out.steps, out.stopped_by) == ("complex", "Aristotle [1]", 1, "verdict")
    assert retriever.queries == [SIMPLE]
    # There is nothing to combine.
    assert stages(out) == {"route": 1, "judge_ending": 2, "refine": 1, "judge_relevance": 10, "answer": 1}
    assert [p.id for p in out.passages] == ["p1"]
    assert not out.fallbacks


@pytest.mark.parametrize("label", ["multi-hop", "", "I cannot say."])
def test_an_unknown_route_is_a_single_step_and_flagged(label):
    out, calls, retriever = run(SIMPLE, label)
    assert len(calls["route"]) == 3
    assert (out.route, out.answer, out.steps) == ("single-step", "Aristotle [1]", 1)
    assert retriever.searches == [([SIMPLE], 10)]
    assert flags(out) == ["route"]


def test_the_same_seed_again_ends_the_chain():
    def stuck(call):
        return " who taught ALEXANDER? " if found(call) else SIMPLE

    out, calls, retriever = run(COMPLEX, "complex", seed_question=stuck)
    assert (out.steps, out.stopped_by) == (1, "repetition")
    assert retriever.queries == [SIMPLE]
    assert flags(out) == ["refine"]
    assert len(calls["sub_answers"]) == 1
    assert out.answer == "Aristotle [1]"


@pytest.mark.parametrize("seed", [None, "", "  "], ids=["prose", "empty", "blank"])
def test_a_refiner_that_gives_nothing_lets_the_question_be_asked_as_it_is_once(seed):
    script = {"broken": "seed_question"} if seed is None else {"seed_question": seed}
    out, calls, retriever = run(SIMPLE, "complex", verdict="continue", **script)
    assert retriever.queries == [SIMPLE]
    assert (out.answer, out.steps, out.stopped_by) == ("Aristotle [1]", 1, "failure")
    assert len(calls["seed_question"]) == 6
    assert flags(out) == ["refine", "refine"]
    assert "asked as it is" in out.fallbacks[0].reason
    assert "answered from what was found" in out.fallbacks[1].reason


def test_a_refiner_that_fails_later_leaves_what_was_found():
    def lost(call):
        return "" if found(call) else SIMPLE

    out, calls, _ = run(COMPLEX, "complex", verdict="continue", seed_question=lost)
    assert (out.steps, out.stopped_by) == (1, "failure")
    assert [hop.question for hop in out.sub_questions] == [SIMPLE]
    assert calls["sub_answers"][0].inputs["question"] == COMPLEX
    assert flags(out) == ["refine"]


@pytest.mark.parametrize(
    ("route", "stages_flagged"),
    [
        ("straightforward", ["answer_directly"]),
        ("single-step", ["answer"]),
        ("compound", ["answer", "answer", "combine"]),
        ("complex", ["answer", "answer", "combine"]),
    ],
)
def test_not_knowing_is_flagged_wherever_it_is_said(route, stages_flagged):
    out, _, _ = run(SIMPLE, route, answer="I don't know.", relevant=True, seed_question=never)
    assert out.answer == "I don't know."
    assert flags(out) == stages_flagged


@pytest.mark.parametrize("said", ["", ContextLengthError("too long")], ids=["says nothing", "too long"])
@pytest.mark.parametrize(("route", "question"), [("compound", COMPOUND), ("complex", COMPLEX)])
def test_answers_that_cannot_be_combined_stand_one_after_another(route, question, said):
    usual = reply(route=route)
    lm = scripted_lm(lambda call: said if "sub_answers" in call.inputs else usual(call))
    with dspy.context(lm=lm):
        out = HanRag(None, ListRetriever(PASSAGES))(question=question)
    assert out.answer == "\n\n".join(
        ["1856 [1]", "1943 [2]"] if route == "compound" else ["Aristotle [1]", "Plato [2]"]
    )
    assert flags(out) == ["combine"]


ANRAG = {"judge_relevance": 10, "answer": 1}


@pytest.mark.parametrize(
    ("switches", "route", "question", "made", "steps"),
    [
        # The complex chain can answer all kinds.
        ({"router": False}, "complex", SIMPLE, {**ANRAG, "judge_ending": 2, "refine": 1}, 1),
        ({"decomposer": False}, "compound", SIMPLE, {**ANRAG, "route": 1}, 1),
        ({"refiner": False}, "complex", SIMPLE, {**ANRAG, "route": 1, "judge_ending": 2}, 1),
        ({"relevance": False}, "single-step", SIMPLE, {"route": 1, "answer": 1}, 1),
        (
            {"ending": False, "max_steps": 2},
            "complex",
            COMPLEX,
            {"route": 1, "refine": 2, "judge_relevance": 20, "answer": 2, "combine": 1},
            2,
        ),
        # All at once: the first passages of one retrieval after another.
        (
            {"router": False, "refiner": False, "relevance": False, "ending": False, "max_steps": 3},
            "complex",
            COMPLEX,
            {"answer": 3, "combine": 1},
            3,
        ),
    ],
    ids=["router", "decomposer", "refiner", "relevance", "ending", "all"],
)
def test_a_switch_leaves_out_its_stage_and_no_other(switches, route, question, made, steps):
    ending = verdict if question == COMPLEX else after_one
    out, _, _ = run(question, route, switches, verdict=ending)
    assert stages(out) == made
    assert (out.route, out.steps) == (route, steps)
    assert not out.fallbacks


def test_without_a_refiner_hops_look_up_the_question_and_the_answers_so_far():
    out, calls, retriever = run(COMPLEX, "complex", {"refiner": False}, relevant=True)
    queries = [COMPLEX, f"{COMPLEX} Aristotle"]
    assert retriever.queries == [hop.question for hop in out.sub_questions] == queries
    assert {call.inputs["question"] for call in calls["judge_relevance"]} == set(queries)
    assert (out.steps, out.stopped_by) == (2, "verdict")


def test_without_an_ending_judge_all_hops_are_made_and_nothing_is_flagged():
    out, _, _ = run(COMPLEX, "complex", {"ending": False}, seed_question=never, relevant=True)
    assert (out.steps, out.stopped_by, out.fallbacks) == (5, "max_steps", [])


def test_without_the_relevance_judge_the_first_keep_k_are_used():
    _, calls, retriever = run(SIMPLE, config={"relevance": False, "keep_k": 2})
    assert retriever.searches == [([SIMPLE], 10)]
    assert shown(calls["passages"][0]) == ["Alexander", "Aristotle"]


@pytest.mark.parametrize(("answers", "said"), [("brief", "as short as can be"), ("full", "in your own words")])
def test_answers_are_brief_or_full(answers, said):
    _, calls, _ = run(SIMPLE, config={"answers": answers})
    assert said in calls["passages"][0].prompt


@pytest.mark.parametrize("route", ["straightforward", "single-step", "compound", "complex"])
def test_same_question_again_costs_nothing_and_changes_nothing(route):
    lm, retriever = scripted_lm(reply(route=route)), ListRetriever(PASSAGES)
    with dspy.context(lm=lm):
        first, again = (HanRag(None, retriever)(question=COMPOUND if route == "compound" else SIMPLE) for _ in range(2))
    assert (again.usage["lm_calls"], again.usage["cached_calls"]) == (0, first.usage["lm_calls"])
    assert again.toDict() == first.toDict()


@pytest.mark.parametrize("field", ["verdict", "seed_question"])
def test_what_was_found_is_not_lost_where_it_becomes_too_long_for_a_prompt(field):
    def too_long(call):
        return ContextLengthError("too long") if field in call.fields and found(call) else usual(call)

    usual, retriever = reply(route="complex"), ListRetriever(PASSAGES)
    with dspy.context(lm=scripted_lm(too_long)):
        out = HanRag(HanRagConfig(max_steps=2), retriever)(question=COMPLEX)
    # As where the stage gives nothing usable: another hop, or an answer from the one there was.
    assert out.answer == ("Aristotle [1] and Plato [2]" if field == "verdict" else "Aristotle [1]")
    assert out.stopped_by == ("max_steps" if field == "verdict" else "failure")
    assert out.fallbacks


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", 0),
        ("keep_k", 0),
        ("max_parts", "5"),
        ("max_steps", -1),
        ("max_attempts", 1.5),
        ("judge", "x"),
        ("on_empty", "y"),
        ("answers", "long"),
        ("router", 1),
        ("decomposer", None),
        ("refiner", "no"),
        ("relevance", 0),
        ("ending", "true"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(field, value):
    bad: dict[str, Any] = {field: value}
    with pytest.raises(AspectragError, match=rf"^{field} must be .*{value!r}"):
        HanRagConfig(**bad)
