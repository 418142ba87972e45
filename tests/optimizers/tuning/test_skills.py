"""What each skill is learnt from."""

import json
from collections import Counter

import pytest
from aspectrag.data.benchmarks.loading import load
from aspectrag.data.construction.words import tokens
from aspectrag.errors import AspectragError
from aspectrag.optimizers.tuning import skills
from aspectrag.optimizers.tuning.skills import SKILLS, lessons, predictor_of, stage_of
from aspectrag.signatures.han import RouteQuestion
from sets import make_sets


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_sets(tmp_path_factory.mktemp("sets"))


def said(examples):
    return [repr(sorted(each.toDict().items())) for each in examples]


@pytest.mark.parametrize("skill", SKILLS)
def test_examples_are_of_the_stage_and_none_is_of_dev(skill, store):
    found = lessons(skill, store, most=60)
    fields = set(predictor_of(skill).signature.fields)
    assert found.learn
    assert found.held_out
    for each in found.learn + found.held_out:
        assert set(each.keys()) == fields
        assert " dev " not in str(each.toDict())
        assert set(each.inputs().keys()) == set(predictor_of(skill).signature.input_fields)
    assert not set(said(found.learn)) & set(said(found.held_out))


def test_nothing_is_learnt_that_is_measured_on_in_whatever_benchmark(tmp_path):
    """A question of nq is part of a compound one; a question type is asked in a benchmark that no skill learns from."""
    store = make_sets(tmp_path)
    nq, squad, compound, types = (
        [json.loads(line) for line in (store / name / f"{split}.jsonl").read_text().splitlines()]
        for name, split in (("nq", "tune"), ("squad", "tune"), ("compound", "dev"), ("nf_cats", "tune"))
    )
    compound[0]["sub_questions"][0]["question"] = nq[0]["question"]
    compound[1]["meta"] = {"entity": squad[0]["supporting_titles"][0]}
    (store / "compound" / "dev.jsonl").write_text("".join(json.dumps(each) + "\n" for each in compound))
    (store / "asqa").mkdir()
    asked = {**nq[0], "id": "asqa:1", "dataset": "asqa", "question": types[0]["question"], "supporting_ids": []}
    (store / "asqa" / "dev.jsonl").write_text(json.dumps(asked) + "\n")
    for skill in SKILLS:
        found = lessons(skill, store, most=500)
        learnt = " ".join(said(found.learn + found.held_out)).casefold()
        for question in (nq[0], squad[0], types[0]):
            assert question["question"].casefold() not in learnt, skill


def test_a_skill_that_the_sets_hold_nothing_for_is_named(store, monkeypatch):
    monkeypatch.setitem(skills.BUILDERS, "refiner", lambda *_, **__: [])
    with pytest.raises(AspectragError, match="too little for the refiner in musique, 2wikimultihopqa"):
        lessons("refiner", store, most=10)


def test_what_is_held_out_is_of_other_questions(store):
    found = lessons("ending", store, most=100)
    asked = [{each.question for each in part} for part in (found.learn, found.held_out)]
    assert not asked[0] & asked[1]


def test_labels_are_balanced_and_rare_ones_filled_up_for(store):
    routes = Counter(each.route for each in lessons("router", store, most=40).learn)
    assert sum(routes.values()) == 40
    assert set(routes) == {"straightforward", "single-step", "compound", "complex"}
    assert routes["compound"] == routes["complex"] == routes["single-step"] == 10 or min(routes.values()) >= 9


def test_single_questions_about_one_thing_are_asked_at_once_too(store):
    made = [each for each in lessons("decomposer", store, most=400).learn if len(each.sub_questions) > 1]
    given = {question.question for question in load("compound", "tune", store=store).questions}
    assert any(each.question not in given for each in made)
    for each in made:
        words = [tokens(part.casefold()) for part in each.sub_questions]
        assert len(words) == len(each.sub_questions)
        assert all(set(part) <= set(tokens(each.question.casefold())) for part in words)


def test_the_same_seed_gives_the_same(store):
    first, again = lessons("router", store, most=20, seed=3), lessons("router", store, most=20, seed=3)
    assert said(first.learn) == said(again.learn)
    assert said(first.learn) != said(lessons("router", store, most=20, seed=4).learn)


def test_a_skill_is_a_stage_of_a_method():
    assert stage_of("classifier") == ("typed", "classify")
    assert predictor_of("router").signature.fields.keys() == RouteQuestion.fields.keys()
    with pytest.raises(AspectragError, match=r"no skill 'rooter': did you mean 'router'\?"):
        stage_of("rooter")
