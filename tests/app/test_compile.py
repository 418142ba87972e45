"""``aspectrag compile``: from examples in files to a program that ``ask`` uses, and what is refused."""

import json

import pytest
from aspectrag.app import compile as command
from aspectrag.programs.han_rag import HanRag
from aspectrag.programs.saved import read_manifest
from fakes import ListRetriever
from learning import calls_of, learner, model, routed


@pytest.fixture
def lm(monkeypatch):
    """The model of ``--lm``; others by name."""
    own = model()
    monkeypatch.setattr(command, "load", lambda name=None, **_: model(learner, name) if name else own)
    return own


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, count, start in (("train", 12, 0), ("val", 8, 100), ("test", 8, 200)):
        lines = [json.dumps(example.toDict()) for example in routed(count, start)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


OWN = ("--train", "train.jsonl", "--val", "val.jsonl", "--test", "test.jsonl", "--yes")


def test_a_stage_is_tuned_and_told(run, lm, world):
    code, out, err = run("compile", "han.route", *OWN, "--optimizer", "gepa")
    assert code == 0, err
    assert "accuracy (8)" in out
    assert "+0.750" in out
    assert "the compiled program is kept: it scores better on the test examples" in out
    assert "this takes at most" in err
    assert HanRag.load("compiled/han.route", ListRetriever()).route.signature.instructions.startswith(
        "Look at the last"
    )
    assert json.loads((world / "compiled/han.route/report.json").read_text())["recipe"] == "router"


def test_listing(run):
    code, out, _ = run("compile", "--list")
    assert code == 0
    assert "han.judge_relevance" in out
    assert "max_bootstrapped_demos=4/8" in out


def test_arguments_budget_teacher_and_start(run, lm, world):
    given = ("--optimizer", "bootstrap", "--arg", "max_labeled_demos=0", "--arg", "max_bootstrapped_demos=2")
    code, _, err = run("compile", "han.route", *OWN, *given, "--teacher-lm", "scripted/t", "--keep", "compiled")
    assert code == 0, err
    report = json.loads((world / "compiled/han.route/report.json").read_text())
    assert report["arguments"] == {"max_bootstrapped_demos": 2, "max_labeled_demos": 0, "max_rounds": 1}
    assert report["models"]["teacher"] == "scripted/t"
    code, _, err = run(
        "compile", "han.route", *OWN, "--optimizer", "labeled", "--program", "compiled/han.route", "--out", "second"
    )
    assert code == 0, err
    assert read_manifest("second")["meta"]["stages"]["route"]["optimizer"]


def test_a_threshold_out_of_reach_is_told(run, lm, world):
    code, out, err = run("compile", "han.route", *OWN, "--optimizer", "bootstrap", "--threshold", "2")
    assert code == 0, err
    assert "! no run reached the threshold of 2 (12 were scored): no demo is one of a run" in out


def test_a_place_that_is_no_folder(run, lm, world):
    code, _, err = run("compile", "han.route", *OWN, "--out", "train.jsonl/compiled")
    assert code == 1
    assert err.splitlines()[-1] == (
        "aspectrag: train.jsonl/compiled cannot be written into (Not a directory): give another --out"
    )
    assert calls_of(lm) == 0


def test_markup_of_a_model_is_text(run, lm, world, monkeypatch):
    hint = "[bold]no[/bold] \x1b[31mred"
    reply = lambda call: learner(call) if "route" in call.fields else dict.fromkeys(call.fields, hint)  # noqa: E731
    monkeypatch.setattr(command, "load", lambda *_, **__: model(reply))
    code, out, err = run("compile", "han.route", *OWN, "--optimizer", "gepa", "--keep", "compiled")
    assert code == 0 or "changed nothing" in err
    assert "\x1b[31mred" not in out + err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--yes",), "say what is tuned"),
        (("han.rout", "--yes"), "there is no recipe for 'han.rout'"),
        (("hen.route", "--yes"), "no method 'hen'"),
        (("han.route", "--recipe", "ending", "--yes"), "the recipe ending tunes han.judge_ending"),
        (("--recipe", "routr", "--yes"), "did you mean 'router'"),
        (("han.route",), "give --yes"),
        (("han.route", *OWN, "--keep", "best"), "--keep is better or compiled"),
        (("han.route", "--train", "train.jsonl", "--yes"), "need --train and --test"),
        (("han.route", "--train", "no.jsonl", "--test", "test.jsonl", "--yes"), "no.jsonl does not exist"),
        (("han.route", *OWN, "--arg", "k"), "--arg takes NAME=VALUE"),
        (("han.route", *OWN, "--arg", "k=2"), "has no argument 'k'"),
        (("han.route", *OWN, "--arg", "max_bootstrapped_demos=0"), "max_bootstrapped_demos must be 1 or more"),
        (("han.route", *OWN, "--budget", "huge"), "no budget 'huge'"),
        (("han.route", *OWN, "--budget", "3"), "needs at least"),
        (("han.route", *OWN, "--budget", "²"), "no budget '²'"),
        (("han.route", *OWN, "--budget", "9" * 5000), "no budget '999"),
        (("han.route", *OWN, "--role", "route=scripted/other"), "this stage is tuned"),
        (("han.route", *OWN, "--program", "nowhere"), "holds no saved program"),
        (("han.route", "--data", "nowhere", "--yes"), "commonsenseqa"),
        (("han.combine", "--train", "train.jsonl", "--test", "test.jsonl", "--yes"), "whole methods look things up"),
    ],
)
def test_what_is_refused(arguments, message, run, lm, world, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code, _, err = run("compile", *arguments)
    assert code == 1
    assert message in err
    assert err.count("\n") == 1 or "holds no" in err
    assert calls_of(lm) == 0
    assert not (world / "compiled").exists()


def test_a_folder_that_is_taken_is_refused_before_examples_are_gathered(run, lm, world):
    (world / "mine").mkdir()
    (world / "mine" / "file").write_text("years of work")
    code, _, err = run("compile", "han.route", "--train", "no.jsonl", "--test", "no.jsonl", "--yes", "--out", "mine")
    assert (code, err) == (1, "aspectrag: mine holds other files: give a new folder as --out\n")


def test_a_damaged_file_of_examples(run, lm, world):
    (world / "train.jsonl").write_text('{"question": "a"}\nnot json\n')
    code, _, err = run("compile", "han.route", *OWN)
    assert code == 1
    assert "train.jsonl, line 2" in err


def test_files_written_by_hand(run, lm, world):
    # No end of line at the end, an empty line, a byte order mark, and names that Python has for itself.
    lines = [json.dumps({**example.toDict(), "self": 1, "base": 2}) for example in routed(12)]
    (world / "train.jsonl").write_text("\ufeff" + "\n\n".join(lines), encoding="utf-8")
    code, _, err = run("compile", "han.route", *OWN, "--optimizer", "labeled")
    assert code == 0, err
    assert json.loads((world / "compiled/han.route/report.json").read_text())["examples"]["train"] == 12
