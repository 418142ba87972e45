"""``ask`` and ``eval`` with tuned stages that ship, with saved programs, and with stages on models of their own."""

import json
import sys

import pytest
import yaml
from aspectrag.app import ask, evaluate, options
from aspectrag.lms import scripted_lm
from aspectrag.programs import compiled
from aspectrag.programs.baselines.rag import Rag
from aspectrag.programs.compiled import folder_of
from aspectrag.programs.config import AnswerConfig
from fakes import ListRetriever, by_fields
from tuned import INSTRUCTIONS, save_tuned

QUESTION = "Is coal cheap?"
LINE = "stage route compiled for scripted/main; --uncompiled turns this off"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiled, "ROOT", tmp_path / "shipped")
    return tmp_path


@pytest.fixture
def lm(monkeypatch):
    """Every model is this one; those of single stages are made by their names."""
    model = scripted_lm(by_fields(), name="main", cache=False)
    for module in (ask, evaluate):
        monkeypatch.setattr(module, "load", lambda *args, **kwargs: model)
    return model


@pytest.fixture
def others(monkeypatch):
    made = {}

    def roles(given, default=None):
        for name in given.values():
            made.setdefault(name, scripted_lm(by_fields(), name=name, cache=False))
        return {stage: made[name] for stage, name in given.items()}

    monkeypatch.setattr(options, "roles", roles)
    return made


def ship(here, *stages, lm="scripted/main", method="han"):
    return save_tuned(here / "shipped" / method / folder_of(lm), *stages, lm=lm, method=method)


def asked(*arguments, method="han"):
    return "ask", QUESTION, "--kind", "bm25", *(("--method", method) if method else ()), *arguments


def demo(*options):
    return "--benchmark", "demo", "--limit", 3, "--kind", "bm25", *options


def is_tuned(lm, stage="route"):
    """Whether the stage was called as it was tuned."""
    return any(f"{INSTRUCTIONS} ({stage})" in call.prompt for call in lm.engine.calls)


def test_what_ships_is_used_and_said(run, here, lm):
    ship(here, "route")
    code, _, err = run(*asked())
    assert code == 0, err
    assert err.splitlines() == ["Answering from the demo corpus; --docs or --index give your own.", LINE]
    assert is_tuned(lm)


def test_where_the_config_differs_the_stages_that_fit_are_used(run, here, lm):
    ship(here, "route", "judge_ending", "answer")
    code, _, err = run(*asked("--answers", "full", "--k", 3))
    assert code == 0, err
    assert "stages route, judge_ending compiled for scripted/main; --uncompiled" in err
    assert is_tuned(lm)
    assert not is_tuned(lm, "answer")


def test_json_has_no_such_line_but_the_stages(run, here, lm):
    ship(here, "route")
    code, out, err = run(*asked("--json"))
    assert (code, err) == (0, "")
    assert json.loads(out)["answer"]
    assert is_tuned(lm)


@pytest.mark.parametrize(("arguments", "method"), [(["--uncompiled"], "han"), ([], "adaptive"), ([], "rag")])
def test_what_does_not_fit_or_is_declined_is_not_used(run, here, lm, arguments, method):
    ship(here, "route")
    ship(here, "classify", lm="scripted/another", method="adaptive")
    code, _, err = run(*asked(*arguments, method=method))
    assert code == 0, err
    assert "compiled" not in err
    assert not is_tuned(lm)
    assert not is_tuned(lm, "classify")


def test_a_stage_on_a_model_of_its_own_uses_what_ships_for_that_one(run, here, lm, others):
    ship(here, "route", "answer")
    code, _, err = run(*asked("--role", "route=other"))
    assert code == 0, err
    assert err.splitlines()[-1] == LINE.replace("route", "answer")
    assert is_tuned(lm, "answer")
    assert len(others["other"].engine.calls) == 1
    assert not is_tuned(others["other"])
    ship(here, "route", "answer", lm="scripted/other")
    code, _, err = run(*asked("--role", "route=other"))
    assert "stage route compiled for scripted/other, stage answer compiled for scripted/main; --unc" in err
    assert is_tuned(others["other"])
    assert not is_tuned(others["other"], "answer")


def test_a_saved_program_is_asked_in_place_of_a_method(run, here, lm):
    ship(here, "decompose", method="han")
    saved = save_tuned(here / "mine", "route")
    code, out, err = run(*asked("--program", saved, "--lm", "openai/x", method=None))
    assert code == 0, err
    assert "compiled" not in err
    assert is_tuned(lm)
    Rag(AnswerConfig(k=1), ListRetriever()).save(here / "one")
    code, out, err = run(*asked("--program", here / "one", "--json", method=None))
    assert (code, err) == (0, "")
    assert len(json.loads(out)["passages"]) == 1


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--method", "han"], "method"),
        (["--k", 3], "k"),
        (["--answers", "full"], "answers"),
        (["--ranker", "lm"], "ranker"),
        (["--uncompiled"], "uncompiled"),
    ],
)
def test_a_saved_program_has_its_own_settings(run, here, lm, arguments, option):
    saved = save_tuned(here / "mine", "route")
    code, out, err = run(*asked("--program", saved, *arguments, method=None))
    assert (code, out) == (1, "")
    assert err == f"aspectrag: --program {saved} is a method with its own settings: leave out --{option}\n"
    assert not lm.engine.calls


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--program", "nowhere"], "nowhere holds no saved program"),
        (["--program", "mine", "--role", "classify=x/y"], "there is no stage 'classify' (stages: answer)"),
        (["--method", "han", "--role", "classify=x/y"], "there is no stage 'classify' (stages: route, decompose"),
        (["--method", "han", "--role", "route"], "--role route: write STAGE=LM"),
        (["--method", "han", "--role", "route=embeded"], "did you mean 'embedded'"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(run, here, lm, arguments, message):
    Rag(None, ListRetriever()).save(here / "mine")
    code, out, err = run("ask", QUESTION, "--docs", "no such file", *arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_damaged_one_is_named(run, here, lm):
    (ship(here, "route") / "state.json").write_text("{")
    code, _, err = run(*asked())
    assert code == 1
    assert "holds no saved program" in err.splitlines()[-1]
    assert run(*asked("--uncompiled"))[0] == 0


def config(run_folder):
    return yaml.safe_load((run_folder / "config.yaml").read_text())


def test_runs_tell_their_compiled_stages_and_go_on_with_the_same_alone(run, here, lm):
    ship(here, "route")
    code, out, err = run("eval", "han", "rag", *demo())
    assert code == 0, err
    assert "han: " + LINE in err.splitlines()
    runs = here / "runs" / "demo"
    assert config(runs / "han")["compiled_stages"] == {"route": "scripted/main"}
    assert config(runs / "rag")["compiled_stages"] is None
    calls = len(lm.engine.calls)
    assert run("eval", "han", "rag", *demo())[:2] == (0, out)
    assert len(lm.engine.calls) == calls
    code, _, err = run("eval", "han", "rag", "--uncompiled", *demo())
    assert code == 1
    assert "holds a run with another compiled_stages ({'route': 'scripted/main'}, not None), and prompts" in err
    code, _, err = run("eval", "han", "--uncompiled", "--out", "runs/other", *demo())
    assert code == 0, err
    assert "compiled for" not in err
    ship(here, "route", "refine")
    calls = len(lm.engine.calls)
    code, _, err = run("eval", "han", *demo())
    assert code == 1
    assert "another compiled_stages" in err
    assert len(lm.engine.calls) == calls


def test_a_run_of_an_earlier_version_goes_on(run, here, lm):
    assert run("eval", "rag", *demo())[0] == 0
    file = here / "runs" / "demo" / "rag" / "config.yaml"
    file.write_text(yaml.safe_dump({k: v for k, v in config(file.parent).items() if k != "compiled_stages"}))
    calls = len(lm.engine.calls)
    code, _, err = run("eval", "rag", *demo())
    assert code == 0, err
    assert len(lm.engine.calls) == calls


def test_a_saved_program_is_evaluated_as_it_is(run, here, lm):
    ship(here, "refine")
    saved = save_tuned(here / "mine", "route", lm="scripted/another")
    code, _, err = run("eval", "han", "--program", saved, "--k", 2, *demo())
    assert code == 0, err
    assert config(here / "runs/demo/mine")["compiled_stages"] == {"route": "scripted/another"}
    assert config(here / "runs/demo/han")["compiled_stages"] == {"refine": "scripted/main"}
    assert config(here / "runs/demo/mine")["config"]["k"] == 10


def test_stages_of_an_evaluation_run_on_models_of_their_own(run, here, lm, others):
    code, _, err = run("eval", "han", "adaptive", "--role", "route=small", "--role", "classify=small", *demo())
    assert code == 0, err
    assert len(others["small"].engine.calls) == 6
    for method, stage in (("han", "route"), ("adaptive", "classify")):
        told = config(here / "runs/demo" / method)["roles"]
        assert {stage: each["model"] for stage, each in told.items()} == {stage: "scripted/small"}
    # Of another program, which has no such stage, the run is the same whatever that stage is given.
    assert run("eval", "han", "--role", "route=small", *demo())[0] == 0
    code, _, err = run("eval", "han", "adaptive", "--role", "route=small", *demo())
    assert code == 1
    assert "holds a run with another roles" in err
    code, _, err = run("eval", "han", "rag", "--role", "classify=small", *demo())
    assert code == 1
    assert "there is no stage 'classify' (stages: route, decompose, refine, judge_relevance," in err


def test_in_a_terminal_the_line_is_apart_from_the_answer(run, here, lm, monkeypatch):
    ship(here, "route")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = run(*asked())
    assert code == 0
    assert LINE not in out
    assert LINE in err
