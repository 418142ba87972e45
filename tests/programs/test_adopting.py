"""Tuned stages of a saved program go into any other of its class, where they promise the same; or nothing changes."""

import dataclasses
import itertools
import json
from typing import Literal, get_args, get_origin, get_type_hints

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.baselines.adaptive_retrieval import AdaptiveRetrieval, AdaptiveRetrievalConfig
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.config import AnswerConfig
from aspectrag.programs.han_rag import HanRag, HanRagConfig
from aspectrag.programs.registry import METHODS, class_of
from aspectrag.programs.saved import tuned_stages
from fakes import ListRetriever, by_fields
from tuned import INSTRUCTIONS, save_tuned, tune


def han(**settings):
    return HanRag(HanRagConfig(**settings), ListRetriever())


def change(file, **entries):
    file.write_text(json.dumps({**json.loads(file.read_text()), **entries}))


def test_tuned_stages_are_taken_over_whatever_the_config(tmp_path):
    saved = save_tuned(tmp_path / "p", "route", "judge_ending")
    program = han(k=3, judge="together", answers="full", max_steps=2)
    before = program.dump_state()
    assert program.adopt(saved) == ["route", "judge_ending"]
    assert program.route.signature.instructions == f"{INSTRUCTIONS} (route)"
    assert program.route.demos == [{"question": "demo of route", "route": "demo of route"}]
    assert program.config == HanRagConfig(k=3, judge="together", answers="full", max_steps=2)
    after = program.dump_state()
    assert {name for name in after if after[name] != before[name]} == {"route", "judge_ending"}
    assert program.tuning["stages"]["route"]["lm"] == "scripted/main"
    assert han().route.signature.instructions != program.route.signature.instructions  # the class is what it was


def test_what_was_adopted_is_asked(tmp_path):
    program = han()
    program.adopt(save_tuned(tmp_path / "p", "route"))
    lm = scripted_lm(by_fields())
    with dspy.context(lm=lm):
        program(question="Is coal cheap?")
    assert f"{INSTRUCTIONS} (route)" in lm.engine.calls[0].prompt
    assert "demo of route" in lm.engine.calls[0].prompt


def test_given_stages_are_taken_whether_tuned_or_not(tmp_path):
    saved = save_tuned(tmp_path / "p", "route", "refine")
    program = tune(han(), "decompose")
    assert program.adopt(saved, ["refine", "decompose"]) == ["decompose", "refine"]
    assert program.decompose.demos == []
    assert program.route.demos == []
    assert program.adopt(saved, []) == []
    with pytest.raises(AspectragError, match=r"no stage 'rout' \(it has: route, decompose"):
        program.adopt(saved, ["route", "rout"])
    assert program.route.demos == []


def test_stages_of_another_contract_are_left_as_they_are(tmp_path):
    saved = save_tuned(tmp_path / "p", "route", "answer", "combine", "judge_relevance")
    assert han().adopt(saved) == ["route", "judge_relevance", "answer", "combine"]
    assert han(answers="full").adopt(saved) == ["route", "judge_relevance"]
    assert han(judge="together").adopt(saved) == ["route", "answer", "combine"]
    by_popularity = save_tuned(tmp_path / "q", "rate_popularity", "answer_directly", method="adaptive-retrieval")
    sure = AdaptiveRetrieval(AdaptiveRetrievalConfig(test="confidence"), ListRetriever())
    assert sure.adopt(by_popularity) == []


def configs(cls):
    """One config per choice that a setting leaves."""
    yield cls()
    for name, kind in get_type_hints(cls).items():
        for value in get_args(kind) if get_origin(kind) is Literal else [False] if kind is bool else []:
            yield dataclasses.replace(cls(), **{name: value})


@pytest.mark.parametrize("method", METHODS)
def test_signatures_that_configs_choose_among_are_told_apart(tmp_path, method):
    """Two signatures of one stage that differ by their instructions alone would be taken for each other."""
    cls = METHODS[method]
    programs = [cls(config, ListRetriever()) for config in configs(cls.config_class)]
    for place, program in enumerate(programs):
        program.save(tmp_path / str(place))
    for (place, saved), other in itertools.product(enumerate(programs), programs):
        theirs, ours = dict(saved.named_predictors()), dict(other.named_predictors())
        same = [name for name in ours if name in theirs and ours[name].signature is theirs[name].signature]
        assert other.deepcopy().adopt(tmp_path / str(place), list(theirs)) == same


def test_prefixes_are_what_optimizers_change(tmp_path):
    program = han()
    program.route.signature = program.route.signature.with_updated_fields("route", prefix="The way:")
    program.save(tmp_path / "p", meta={"stages": {"route": {}}})
    assert han().adopt(tmp_path / "p") == ["route"]


def test_a_description_that_was_changed_since_is_another_contract(tmp_path):
    program = han()
    program.route.signature = program.route.signature.with_updated_fields("route", desc="how to look it up")
    program.save(tmp_path / "p", meta={"stages": {"route": {}, "refine": {}}})
    assert han().adopt(tmp_path / "p") == ["refine"]


def test_language_models_of_predictors_stay_where_they_are(tmp_path):
    saved = tune(han(), "route")
    saved.route.lm = dspy.LM("openai/another")
    saved.save(tmp_path / "p", meta={"stages": {"route": {}}})
    program, own = han(), scripted_lm({})
    program.route.lm = own
    assert program.adopt(tmp_path / "p") == ["route"]
    assert program.route.lm is own
    plain = han()
    plain.adopt(tmp_path / "p")
    assert plain.route.lm is None


@pytest.mark.parametrize("meta", [None, [], {}, {"stages": None}, {"stages": []}, {"lm": {}, "stages": {}}, "compiled"])
def test_without_a_tuning_record_nothing_is_tuned(tmp_path, meta):
    saved = save_tuned(tmp_path / "p", "route")
    change(saved / "manifest.json", meta=meta)
    program = han()
    assert program.adopt(saved) == []
    assert program.adopt(saved, ["route"]) == ["route"]
    assert HanRag.load(saved, ListRetriever()).tuning == {"stages": {}}


def test_parts_of_the_tuning_record_may_be_missing():
    record = {"meta": {"stages": {"route": None, "refine": {"lm": "a/b", "demos": 2}}}}
    assert tuned_stages(record) == {"route": {"lm": None}, "refine": {"lm": "a/b", "demos": 2}}


def test_what_is_known_of_stages_adds_up(tmp_path):
    program = HanRag.load(save_tuned(tmp_path / "p", "route", lm="a/b"), ListRetriever())
    program.adopt(save_tuned(tmp_path / "q", "refine", lm="c/d"))
    assert {stage: told["lm"] for stage, told in program.tuning["stages"].items()} == {"route": "a/b", "refine": "c/d"}
    assert program.deepcopy().tuning == program.tuning


def another_class(folder):
    Rag(AnswerConfig(), ListRetriever()).save(folder)


def truncated(name):
    def cut(folder):
        text = (folder / name).read_text()
        (folder / name).write_text(text[: len(text) // 2])

    return cut


def state(**parts):
    """A state whose last tuned stage is damaged: those before it must not be taken over."""

    def damage(folder):
        file = folder / "state.json"
        told = json.loads(file.read_text())["judge_ending"]
        change(file, judge_ending={**told, **parts})

    return damage


DAMAGES = {
    "another class": (another_class, "class is 'Rag', this program's is 'HanRag'"),
    "another format": (lambda folder: change(folder / "manifest.json", format=7), "format is 7, this program's is 1"),
    "no predictors": (lambda folder: change(folder / "manifest.json", predictors=None), "damaged"),
    "unknown stage": (
        lambda folder: change(folder / "manifest.json", meta={"stages": {"route": {}, "rout": {}}}),
        "no stage 'rout'",
    ),
    "truncated manifest": (truncated("manifest.json"), "holds no saved program"),
    "truncated state": (truncated("state.json"), "holds no saved program"),
    "no state": (lambda folder: (folder / "state.json").unlink(), "holds no saved program"),
    "state of no stages": (lambda folder: (folder / "state.json").write_text("{}"), "damaged"),
    "stage is nothing": (lambda folder: change(folder / "state.json", judge_ending=None), "damaged"),
    "demos are a number": (state(demos=5), "demos are no list of records"),
    "demos are words": (state(demos=["a"]), "demos are no list of records"),
    "no signature": (state(signature=None), "damaged"),
    "instructions are a number": (state(signature={"instructions": 5, "fields": []}), "instructions are no text"),
    "fewer fields": (state(signature={"instructions": "", "fields": []}), "fields are missing"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_cannot_be_adopted_changes_nothing(tmp_path, damage):
    saved = save_tuned(tmp_path / "p", "route", "judge_ending")
    do, message = DAMAGES[damage]
    do(saved)
    program = han()
    before, predictors = program.dump_state(), dict(program.named_predictors())
    with pytest.raises(AspectragError, match=message) as caught:
        program.adopt(saved)
    assert str(saved) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert program.dump_state() == before
    assert dict(program.named_predictors()) == predictors
    assert program.tuning == {}


@pytest.mark.parametrize("demos", [5, None, ["a"], {"question": "a"}])
def test_demos_that_are_none_are_not_loaded_either(tmp_path, demos):
    saved = save_tuned(tmp_path / "p", "route")
    state(demos=demos)(saved)
    with pytest.raises(AspectragError, match="demos are no list of records"):
        HanRag.load(saved, ListRetriever())


def test_a_saved_program_is_looked_at_without_passages_or_weights(tmp_path):
    saved = save_tuned(tmp_path / "p", "write", method="rich")
    (saved / "ranker").mkdir()  # whose weights are not there
    cls = class_of(saved)
    assert dict(cls.inspect(saved).named_predictors())["write"].demos
    with pytest.raises(AspectragError, match="no ranker that can be read"):
        cls.load(saved, ListRetriever())
    change(saved / "manifest.json", **{"class": "Other"})
    with pytest.raises(AspectragError, match="of the class 'Other', which is no method"):
        class_of(saved)


def test_stages_are_those_of_the_config():
    assert METHODS["rag"].stages() == ["answer"]
    by = {test: AdaptiveRetrieval.stages(AdaptiveRetrievalConfig(test=test)) for test in ("popularity", "confidence")}
    assert by == {
        "popularity": ["rate_popularity", "answer_directly", "answer"],
        "confidence": ["answer_directly", "answer"],
    }
