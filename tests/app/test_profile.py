"""``--profile``: small models for the stages that steer, by default beside the embedded model alone."""

import shutil

import pytest
from aspectrag.app import profile as profiles
from aspectrag.app.profile import stage_models
from aspectrag.data.index.retriever import NoPassages
from aspectrag.errors import AspectragError
from aspectrag.lms import load
from aspectrag.lms.local import names
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.registry import method
from tiny import tiny_adapter, tiny_base


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    base = tiny_base(folder / "base")
    for skill in ("router", "ending"):
        tiny_adapter(folder / "mine" / skill, base)
    return folder / "mine"


@pytest.fixture
def shipped(trained, tmp_path, monkeypatch):
    shutil.copytree(trained, tmp_path / "compiled" / "revelator")
    for module in (names, profiles):
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "compiled")
    monkeypatch.chdir(tmp_path)


def models(profile=None, lm="embedded", role=None, methods=("han",), **more):
    lm = load(lm) if isinstance(lm, str) else lm
    programs = {name: method(name)(None, NoPassages()) for name in methods}
    found = stage_models(role, profile, programs, lm, **more)
    return {stage: each.model.rpartition("@")[0] for stage, each in found.items()}


OURS = {"route": "local/revelator:router", "judge_ending": "local/revelator:ending"}
LINE = "stages route, judge_ending on small models tuned for that (profile revelator); --profile none turns this off"


def test_beside_the_embedded_model_they_are_used_unasked(shipped, capsys):
    assert models() == OURS
    assert " ".join(capsys.readouterr().err.split()) == LINE
    assert models(methods=["rag"]) == {}
    assert models(quiet=True) == OURS
    assert capsys.readouterr().err == ""


def test_beside_another_model_they_are_used_where_they_are_asked_for(shipped):
    other = scripted_lm({})
    assert models(lm=other) == {}
    assert models("revelator", other) == OURS


def test_they_are_left_out_where_that_is_said(shipped, monkeypatch):
    assert models("none") == {}
    assert models(default=False) == {}
    assert models("revelator", default=False) == OURS
    monkeypatch.setattr(profiles, "installed", lambda: False)
    assert models() == {}


def test_a_folder_of_ones_own(shipped, trained, capsys):
    assert models(str(trained)) == {"route": f"local/{trained}/router", "judge_ending": f"local/{trained}/ending"}
    assert f"(profile {trained})" in capsys.readouterr().err.replace("\n", "")


def test_what_is_said_of_a_stage_goes_before(shipped, tmp_path, monkeypatch, capsys):
    (tmp_path / "aspectrag.toml").write_text('[roles]\njudge_ending = "ollama_chat/qwen3:4b"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = stage_models(["route=openai/x"], None, {"han": method("han")(None, NoPassages())}, load("embedded"))
    assert {stage: lm.model for stage, lm in found.items()} == {
        "route": "openai/x", "judge_ending": "ollama_chat/qwen3:4b",
    }  # fmt: skip
    assert capsys.readouterr().err == ""


def test_a_profile_without_use_is_refused(shipped):
    with pytest.raises(AspectragError, match="--profile revelator has nothing for rag: leave it out"):
        models("revelator", methods=["rag"])
    with pytest.raises(AspectragError, match="revelater holds no adapters: give a folder"):
        models("revelater")


def test_unasked_they_are_left_out_where_they_cannot_be_had(shipped, trained, tmp_path, monkeypatch, capsys):
    def gone(self):
        raise AspectragError("no network")

    monkeypatch.setattr("aspectrag.lms.local.lm.LocalLM.load", gone)
    assert models() == {}
    assert " ".join(capsys.readouterr().err.split()) == (
        "! route, judge_ending: without the small models of the package, no network"
    )
    assert models("revelator") == OURS  # where they were asked for, loading them tells


@pytest.mark.parametrize("command", [("ask", "Who wrote it?", "-m", "han"), ("eval", "han")])
def test_commands_take_it(command, shipped, run):
    code, _, err = run(*command, "--profile", "nowhere")
    assert code != 0
    assert "nowhere holds no adapters" in err
