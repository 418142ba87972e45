"""What each control stage of HANRAG learns, from a little world of questions."""

from collections import Counter

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.construction.relevance import relevance
from aspectrag.data.construction.revelator import BUILDERS, decomposer, ending, refiner, route_of, router
from aspectrag.data.construction.stages import STAGES
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.lms import scripted_lm
from aspectrag.signatures import (
    DecomposeCompound,
    JudgeEnding,
    JudgeRelevance,
    RefineSeedQuestion,
    RouteQuestion,
)
from fakes import ListRetriever

SIGNATURES = {
    "router": RouteQuestion,
    "decomposer": DecomposeCompound,
    "refiner": RefineSeedQuestion,
    "relevance": JudgeRelevance,
    "ending": JudgeEnding,
}


def easy(n):
    return question(f"s{n}", f"What do people do with thing {n}?", ["use it"], hops=0)


def single(n, **more):
    return question(f"n{n}", f"who made thing {n}", [f"Maker{n}"], hops=1, supporting_ids=[f"made{n}"], **more)


def compound(n):
    parts = [
        {"question": f"Who owns town {n}?", "answers": [f"Owner{n}"], "supporting_id": f"own{n}"},
        {"question": f"When was town {n} founded?", "answers": [f"16{n:02}"], "supporting_id": f"founded{n}"},
    ]
    ids = [f"own{n}", f"founded{n}"]
    return question(f"c{n}", f"Who owns town {n} and when was it founded?", [], type="compound-2", hops=2,
                    supporting_ids=ids, sub_questions=parts)  # fmt: skip


def chain(n):
    parts = [
        {"question": f"Who wrote Song {n}?", "answers": [f"Singer{n}"], "supporting_id": f"song{n}"},
        {"question": "#1 >> place of birth", "answers": [f"Burg{n}"], "supporting_id": f"singer{n}"},
    ]
    ids = [f"song{n}", f"singer{n}"]
    return question(f"m{n}", f"Where was the writer of Song {n} born?", [f"Burg{n}"], type="2hop", hops=2,
                    supporting_ids=ids, sub_questions=parts)  # fmt: skip


WORLD = [make(n) for make in (easy, single, compound, chain) for n in range(6)]


def by_id(records):
    return {record["id"]: record for record in records}


def test_routes_are_as_many_of_each_and_first_hops_are_single_steps():
    assert Counter(map(route_of, WORLD)) == dict.fromkeys(("straightforward", "single-step", "compound", "complex"), 6)
    records = router(WORLD)
    assert Counter(record["route"] for record in records) == {
        "straightforward": 6, "single-step": 6, "compound": 6, "complex": 6,
    }  # fmt: skip
    # Six complex questions alone: as many first hops of theirs are single-step, asked in words and not by a relation.
    hops = [record for record in router(WORLD[18:]) if record["route"] == "single-step"]
    assert len(hops) == 6
    hop = by_id(hops)["m2#router#1"]
    assert (hop["question"], hop["source_id"], hop["supporting_ids"]) == ("Who wrote Song 2?", "m2", ["song2"])
    assert Counter(record["route"] for record in router(WORLD, most=2)) == dict.fromkeys(
        ("straightforward", "single-step", "compound", "complex"), 2
    )
    assert router(WORLD, seed=1) == router(WORLD, seed=1)


def test_questions_without_a_known_route_or_with_two_are_left_out():
    assert route_of(question("x", "Why?")) is None
    twice = [question("a", "Who won?", ["A"], hops=1), question("b", "who WON?", ["A"], hops=2), easy(1), single(1)]
    assert [record["id"] for record in router(twice)] == ["s1#router", "n1#router"]


def test_compound_questions_are_decomposed_and_single_ones_stay():
    records = by_id(decomposer(WORLD))
    assert records["c3#decomposer"]["sub_questions"] == ["Who owns town 3?", "When was town 3 founded?"]
    singles = [record for record in records.values() if record["id"].startswith("n")]
    assert len(singles) == 3
    assert all(record["sub_questions"] == [record["question"]] for record in singles)
    assert len(records) == 9


def test_seed_questions_name_what_was_found():
    records = by_id(refiner(WORLD))
    assert records["m4#refiner#0"]["found"] == []
    assert records["m4#refiner#0"]["seed_question"] == "Who wrote Song 4?"
    assert records["m4#refiner#1"]["found"] == [{"question": "Who wrote Song 4?", "answer": "Singer4"}]
    assert records["m4#refiner#1"]["seed_question"] == "What is the place of birth of Singer4?"
    echoed = [record for record in records.values() if record["id"].startswith("n")]
    assert len(echoed) == 3
    assert all(record["seed_question"] == record["question"] and not record["found"] for record in echoed)


def test_the_last_hop_is_the_end():
    records = by_id(ending(WORLD))
    assert [records[f"m0#ending#{n}"]["verdict"] for n in range(3)] == ["continue", "continue", "end"]
    assert records["m0#ending#2"]["found"][-1] == {
        "question": "What is the place of birth of Singer0?", "answer": "Burg0",
    }  # fmt: skip
    singles = [record for record in records.values() if record["id"].startswith("n")]
    assert Counter(record["verdict"] for record in singles) == {"continue": 3, "end": 3}


def passages():
    made = [Passage(f"made{n}", f"Thing {n}", f"Maker{n} made thing {n}.") for n in range(6)]
    made += [Passage(f"song{n}", f"Song {n}", f"Singer{n} wrote Song {n}.") for n in range(6)]
    made += [Passage(f"singer{n}", f"Singer{n}", f"Singer{n} is of Burg{n}, a place of birth.") for n in range(6)]
    return made


def test_found_passages_that_hold_no_answer_are_irrelevant():
    extra = [
        Passage("x1", "About 2", "who made thing 2? Maker2, it is said."),  # holds the answer
        Passage("x2", "thing 2", "who made thing 2 is not known."),  # the question names it
        Passage("x3", "Other", "Maker2 made thing 2."),  # the answer again
        Passage("x4", "Other", "who made thing 9 is told here."),
    ]
    everything = {passage.id: passage for passage in passages() + extra}
    records = relevance([single(2)], everything, ListRetriever(list(everything.values())), negatives=1)
    assert [(record["id"], record["relevant"]) for record in records] == [("n2#made2", True), ("n2#x4", False)]
    assert records[0]["title"] == "Thing 2"
    assert records[0]["passage"] == "Maker2 made thing 2."
    told = []
    records = relevance(
        [single(2)], everything, ListRetriever(list(everything.values())), negatives=9,
        judge=lambda question, passage: told.append(passage.id) or passage.id == "x4",
    )  # fmt: skip
    assert "n2#x4" not in by_id(records)
    assert "x4" in told
    assert len(records) > 2


def test_hops_are_asked_on_their_own_and_the_other_hop_is_no_negative():
    everything = {passage.id: passage for passage in passages()}
    retriever = ListRetriever(list(everything.values()))
    records = relevance([chain(1)], everything, retriever, negatives=20)
    assert retriever.queries == ["Who wrote Song 1?", "What is the place of birth of Singer1?"]
    relevant = {(record["question"], record["id"]) for record in records if record["relevant"]}
    assert relevant == {
        ("Who wrote Song 1?", "m1#1#song1"),
        ("What is the place of birth of Singer1?", "m1#2#singer1"),
    }
    wrong = {record["id"].rsplit("#", 1)[1] for record in records if not record["relevant"]}
    assert wrong
    assert not wrong & {"song1", "singer1"}
    assert relevance([chain(1)], {}, retriever) == []


@pytest.mark.parametrize("name", STAGES)
def test_examples_have_the_fields_of_the_signature_and_are_fit_as_demos(name):
    stage, signature = STAGES[name], SIGNATURES[name]
    assert list(stage.inputs) == list(signature.input_fields)
    assert [stage.output] == list(signature.output_fields)
    everything = {passage.id: passage for passage in passages()}
    records = (
        relevance(WORLD, everything, ListRetriever(list(everything.values())))
        if name == "relevance"
        else BUILDERS[name](WORLD)
    )
    assert len({record["id"] for record in records}) == len(records)
    examples = [stage.example(record) for record in records]
    assert all(set(example.keys()) == {*signature.fields} for example in examples)
    predictor = dspy.Predict(signature)
    predictor.demos = examples[:4]
    lm = scripted_lm({stage.output: examples[0][stage.output]})
    with dspy.context(lm=lm):
        out = predictor(**examples[0].inputs())
    assert out[stage.output] == examples[0][stage.output]
    assert examples[1].question in lm.engine.calls[0].prompt


def test_a_record_of_another_stage_is_refused():
    with pytest.raises(AspectragError, match="no record of the refiner: it has no found, seed_question"):
        STAGES["refiner"].example({"question": "Why?", "route": "complex"})
