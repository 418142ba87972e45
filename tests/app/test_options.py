"""Options that several commands share: stages on language models of their own."""

import pytest
from aspectrag.app.options import roles_of
from aspectrag.errors import AspectragError

STAGES = ["route", "answer", "route"]
PROFILE = '[lms.small]\nmodel = "ollama_chat/qwen3:4b"\n[roles]\nroute = "small"\nmediate = "small"\n'


@pytest.fixture
def profile(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "aspectrag.toml").write_text(PROFILE)


def models(*given):
    return {stage: lm.model for stage, lm in roles_of(given, STAGES).items()}


def test_roles_of_the_command_line_go_before_those_of_the_profile_file(profile):
    small = "ollama_chat/qwen3:4b"
    assert models() == {"route": small, "mediate": small}
    assert roles_of(None, STAGES).keys() == {"route", "mediate"}
    assert models("route=openai/gpt-4o-mini", " answer = small ") == {
        "route": "openai/gpt-4o-mini", "mediate": small, "answer": small,
    }  # fmt: skip
    assert models("answer=openai/a=b")["answer"] == "openai/a=b"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["route"], r"--role route: write STAGE=LM, such as"),
        (["route="], "write STAGE=LM"),
        (["=openai/x"], "write STAGE=LM"),
        ([" "], "write STAGE=LM"),
        (["rout=openai/x"], r"there is no stage 'rout' \(stages: route, answer\)"),
        (["mediate=openai/x"], "there is no stage 'mediate'"),
        (["route=openai/x", "route=openai/y"], "the stage route is given twice"),
        (["route=smal"], "there is no language model 'smal': did you mean 'small'"),
    ],
)
def test_what_is_no_role_is_refused(profile, given, message):
    with pytest.raises(AspectragError, match=message):
        roles_of(given, STAGES)
