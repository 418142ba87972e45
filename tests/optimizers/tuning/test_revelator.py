"""Skills taught one after the other, each an adapter that the stage of its method runs on."""

import time

import dspy
import pytest
from aspectrag.data.index.retriever import NoPassages
from aspectrag.errors import AspectragError
from aspectrag.lms import load, scripted_lm
from aspectrag.lms.local.card import read_card
from aspectrag.optimizers.tuning import trainer
from aspectrag.optimizers.tuning.lora import LoraSettings
from aspectrag.optimizers.tuning.revelator import PLANS, train_revelator
from aspectrag.optimizers.tuning.skills import SKILLS
from aspectrag.programs.han_rag import HanRag
from fakes import by_fields
from sets import make_sets
from tiny import tiny_base

QUICK = LoraSettings(rank=2, evaluations=1)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_sets(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return str(tiny_base(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def taught(store, base, tmp_path_factory):
    out = tmp_path_factory.mktemp("revelator")
    told = []
    folders = train_revelator(
        store, out, base=base, most=24, epochs=1, settings=QUICK, told=lambda skill, _: told.append(skill),
        progress=False,
    )  # fmt: skip
    assert told == list(folders) == list(SKILLS)
    return folders


def test_each_skill_is_an_adapter_with_its_card(taught, base):
    for skill, folder in taught.items():
        card = read_card(folder)
        assert (card.skill, card.prompt, card.base["name"]) == (skill, "bare", base)
        assert card.training["examples"]["learn"] > 0
        scores = card.scores["held out"]
        assert scores.get("failed") or 0 < scores["n"] <= 200
        assert skill not in ("router", "relevance", "ending", "classifier") or "macro_f1" in scores
        assert set(card.thresholds) == ({"relevant"} if skill == "relevance" else set())


def test_the_stages_of_a_method_run_on_them(taught):
    from aspectrag.programs.trace import record

    own = {"route": load(f"local/{taught['router']}"), "decompose": load(f"local/{taught['decomposer']}")}
    program = HanRag(None, NoPassages())
    with dspy.context(lm=scripted_lm(by_fields()), roles=own), record(program) as trace:
        program(question="Who leads nq tune 1?")
    (routed,) = (step for step in trace.walk() if step.kind == "lm" and step.name == own["route"].model)
    chances = routed.outputs[0]["probabilities"]["route"]
    assert set(chances) == {"straightforward", "single-step", "compound", "complex"}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-4)


def test_what_is_there_is_not_taught_again(taught, store, base, monkeypatch):
    monkeypatch.setattr(trainer, "Trainer", None)
    folder = taught["relevance"]
    before = read_card(folder)
    again = train_revelator(
        store, folder.parent, skills=["relevance"], base=base, most=24, epochs=1, settings=QUICK, progress=False
    )
    assert again == {"relevance": folder}
    assert read_card(folder) == before


def test_minutes_are_shared_out_by_what_there_is_to_read(store, base, tmp_path, monkeypatch):
    from aspectrag.optimizers.tuning import revelator

    given, ends = {}, []

    def teach(skill, lm, found, out, how, *, until, progress):
        given[skill] = how.minutes
        ends.append(until)

    monkeypatch.setattr(revelator, "teach", teach)
    began = time.monotonic()
    train_revelator(store, tmp_path, skills=["router", "relevance"], base=base, most=24, minutes=10)
    assert sum(given.values()) == pytest.approx(10)
    assert given["relevance"] > given["router"]
    # The time in which the sets were read is part of it.
    assert ends == [pytest.approx(began + 60 * given["router"], abs=1), pytest.approx(began + 600, abs=1)]
    train_revelator(store, tmp_path, skills=["router", "relevance"], base=base, most=24, epochs=1, minutes=10)
    once = given["router"]
    monkeypatch.setitem(revelator.PLANS, "router", revelator.Plan(24, 3.0))
    train_revelator(store, tmp_path, skills=["router", "relevance"], base=base, most=24, minutes=10)
    assert given["router"] > once


def test_a_skill_that_there_is_not_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(AspectragError, match="no skill 'routing'"):
        train_revelator(tmp_path / "none", tmp_path, skills=["routing"])


def test_every_skill_has_a_plan():
    assert set(PLANS) == set(SKILLS)
