"""A program is saved with the language models that were set on its stages, and loaded with them."""

import shutil

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import load
from aspectrag.lms.local.lm import LocalLM
from aspectrag.lms.scripted import scripted_lm
from aspectrag.programs.describing import describe
from aspectrag.programs.han_rag import HanRag
from fakes import ListRetriever
from tiny import tiny_adapter, tiny_base


def saved(folder, **lms):
    program = HanRag(retriever=ListRetriever())
    for stage, lm in lms.items():
        getattr(program, stage).lm = lm
    program.save(folder)
    return folder


def test_a_tuned_model_comes_along_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("ASPECTRAG_HOME", str(tmp_path / "home"))
    adapter = tiny_adapter(tmp_path / "adapter", tiny_base(tmp_path / "base"))
    lm = load(f"local/{adapter}", max_tokens=9)
    folder = saved(tmp_path / "p", route=lm.copy(temperature=0.5))
    found = HanRag.load(folder, ListRetriever()).route.lm
    assert isinstance(found, LocalLM)
    assert (found.model, found.engine, found.prompt) == (lm.model, lm.engine, "bare")
    assert (found.kwargs["max_tokens"], found.kwargs["temperature"]) == (9, 0.5)
    shutil.rmtree(adapter)
    lm.engine._names.clear()  # as in another process
    looked = HanRag.inspect(folder)
    assert describe(looked).stages["route"].lm == lm.model
    with pytest.raises(AspectragError, match="adapter is no local model"):
        HanRag.load(folder, ListRetriever())
    looked.save(tmp_path / "q")
    assert (tmp_path / "q" / "state.json").read_text() == (folder / "state.json").read_text()


def test_others_come_along_too(tmp_path):
    program = HanRag(retriever=ListRetriever())
    program.set_lm(load("embedded", max_tokens=77))
    program.route.lm = dspy.LM("openai/gpt-4o-mini", api_key="sk-abc123def456ghi789", max_tokens=5)
    program.refine.lm = load("ollama_chat/qwen3:4b", num_ctx=4096)
    program.combine.lm = None
    program.save(tmp_path / "p")
    assert "sk-abc" not in (tmp_path / "p" / "state.json").read_text()
    found = HanRag.load(tmp_path / "p", ListRetriever())
    assert (found.answer.lm.model, found.answer.lm.kwargs) == (program.answer.lm.model, program.answer.lm.kwargs)
    assert found.answer.lm.engine is program.answer.lm.engine
    assert (type(found.route.lm), found.route.lm.kwargs["max_tokens"]) == (dspy.LM, 5)
    assert found.refine.lm.context_window == 4096
    assert found.combine.lm is None


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    with pytest.raises(AspectragError, match=r"language model of route \(ScriptedLM\) cannot be saved"):
        saved(tmp_path / "p", route=scripted_lm({}))
    assert not (tmp_path / "p").exists()
