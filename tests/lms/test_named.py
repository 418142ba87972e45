"""Language models are saved by what names them, and made again by that: no key, no address, nothing started."""

import json

import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import load
from aspectrag.lms.named import NamedLM
from aspectrag.lms.patient import PatientLM

SERVER = "http://gpu:8000/v1"


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("ASPECTRAG_API_BASE", "ASPECTRAG_API_KEY_ENV", "ASPECTRAG_LM", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def again(lm):
    return NamedLM.load_state(json.loads(json.dumps(lm.dump_state())))


def test_of_the_embedded_model_the_name_is_kept_and_nothing_starts():
    lm = load("embedded", max_tokens=77, context_window=4096, extra={"max_batch": 3})
    made = again(lm)
    assert isinstance(made, NamedLM)
    assert (made.model, made.kwargs, made.num_retries) == (lm.model, lm.kwargs, 0)
    assert made.engine is lm.engine
    assert made.context_window == 4096
    assert made.engine._pipeline is None
    assert lm.dump_state()["options"] == {
        "model": "embedded", "max_tokens": 77, "context_window": 4096, "extra": {"max_batch": 3}
    }  # fmt: skip


def test_what_a_copy_changed_is_kept():
    lm = load("openai/gpt-4o-mini", num_retries=1, extra={"top_p": 0.5})
    made = again(lm.copy(temperature=0.7, max_tokens=5, cache=False, stop=["."]))
    assert isinstance(made, PatientLM)
    assert (made.kwargs["temperature"], made.kwargs["max_tokens"], made.kwargs["stop"]) == (0.7, 5, ["."])
    assert (made.cache, made.patience, made.kwargs["top_p"]) == (False, 1, 0.5)
    assert again(lm.copy(model="openai/gpt-4o")).model == "openai/gpt-4o"
    assert again(load("openai/gpt-5-mini")).kwargs == load("openai/gpt-5-mini").kwargs


def test_neither_key_nor_address_is_kept(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-abc123def456ghi789")
    lm = load("openai/m", api_base=SERVER, api_key_env="MY_KEY", extra={"base_url": "http://other"})
    text = json.dumps(lm.copy(api_key="sk-abc123def456ghi789").dump_state())
    assert not any(said in text for said in ("sk-abc", "MY_KEY", "http://"))


def test_a_server_is_one_that_is_named_here(monkeypatch, tmp_path):
    lm = load("openai/m", api_base=SERVER, json_schema=True)
    with pytest.raises(AspectragError, match=r"openai/m was asked at the server gpu-8000-v1-\w+, and saved"):
        again(lm)
    monkeypatch.setenv("ASPECTRAG_API_BASE", "http://elsewhere/v1")
    with pytest.raises(AspectragError, match="export ASPECTRAG_API_BASE"):
        again(lm)
    (tmp_path / "aspectrag.toml").write_text(f'[lms.mine]\nmodel = "openai/other"\napi_base = "{SERVER}"\n')
    assert again(lm).model == lm.model
    (tmp_path / "aspectrag.toml").unlink()
    monkeypatch.setenv("ASPECTRAG_API_BASE", SERVER)
    assert again(lm).model == lm.model


def test_the_environment_is_not_that_of_a_stage(monkeypatch):
    state = load("openai/gpt-4o-mini").dump_state()
    monkeypatch.setenv("ASPECTRAG_API_BASE", SERVER)
    monkeypatch.setenv("ASPECTRAG_MAX_TOKENS", "9")
    made = NamedLM.load_state(state)
    assert (made.model, made.kwargs["max_tokens"]) == ("openai/gpt-4o-mini", None)


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"model": "openai/m", "api_base": "http://thief"}},
        {"options": {"model": "openai/m", "api_key_env": "MY_KEY"}},
        {"options": {"model": "openai/m", "extra": {"base_url": "http://thief"}}},
        {"settings": {"api_base": "http://thief"}},
        {"settings": {"api_key": "x"}},
    ],
)
def test_a_file_sends_nobody_elsewhere(change):
    with pytest.raises(ValueError, match="names an address or a key"):
        NamedLM.load_state({**load("openai/m").dump_state(), **change})
