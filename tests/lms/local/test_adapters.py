"""Adapters that do not fit are refused, and leave base and others as they were."""

import json
import pickle
import shutil

import pytest
import torch
from aspectrag.errors import AspectragError
from aspectrag.lms import adapters as adapters_in
from aspectrag.lms import load
from aspectrag.lms.local.engine import LocalEngine, shared
from aspectrag.lms.local.model import LocalModel
from aspectrag.lms.local.names import WEIGHTS, find
from aspectrag.lms.local.slots import tokens
from safetensors.torch import load_file, save_file
from tiny import tiny_adapter, tiny_base


def asked(model, folder):
    prompt, options = tokens(model.tokenizer, "Why?"), [tokens(model.tokenizer, label) for label in "ab"]
    return model.choose(find(str(folder)), [prompt], options)


def other_shape(weights):
    name = sorted(weights)[-1]
    return {**weights, name: torch.zeros(7, 7)}


def renamed(weights):
    return {name.replace("lora_A", "lora_C"): value for name, value in weights.items()}


def halved(weights):
    return {name: value for name, value in weights.items() if "layers.0" in name}


def foreign(_):
    return {"x": torch.zeros(1)}


def no_numbers(weights):
    return {name: value * float("nan") for name, value in weights.items()}


def test_the_base_is_not_looked_for_on_the_hub(base, adapters, tmp_path, monkeypatch):
    folder = tmp_path / "named"
    shutil.copytree(adapters[0], folder)
    config = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": "smollm2"}))
    monkeypatch.setattr(
        "peft.utils.save_and_load.check_file_exists_on_hf_hub", lambda *_: pytest.fail("the hub was asked")
    )
    assert asked(LocalModel(str(base), "cpu"), folder)


@pytest.mark.parametrize("change", [other_shape, renamed, halved, foreign, no_numbers])
def test_weights_that_do_not_fit_are_refused_and_nothing_else_is_changed(base, adapters, tmp_path, change):
    folder = tmp_path / "damaged"
    shutil.copytree(adapters[0], folder)
    save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS)
    whole, model = LocalModel(str(base), "cpu"), LocalModel(str(base), "cpu")
    with pytest.raises(AspectragError, match=r"the adapter in .*damaged cannot be opened .*: copy it again"):
        asked(model, folder)
    assert asked(model, base) == asked(whole, base)
    right = asked(whole, adapters[0])
    assert asked(model, adapters[0]) == right
    with pytest.raises(AspectragError, match="cannot be opened"):
        asked(model, folder)
    assert asked(model, adapters[0]) == right


def test_a_base_that_lacks_weights_is_refused(tmp_path):
    base = tiny_base(tmp_path / "base")
    weights = load_file(base / "model.safetensors")
    save_file({name: each for name, each in weights.items() if "layers.1" not in name}, base / "model.safetensors")
    with pytest.raises(AspectragError, match=r"weights are missing, such as model\.layers\.1"):
        asked(LocalModel(str(base), "cpu"), base)


def test_a_base_that_was_replaced_is_another(tmp_path):
    base = tiny_base(tmp_path / "base", seed=1)
    before = load(f"local/{base}", cache=False)
    shared()._model(shared().named(before.model))  # known, and not opened yet
    shutil.rmtree(base)
    tiny_base(base, seed=2)
    after = load(f"local/{base}", cache=False)
    assert after.model != before.model
    engine = LocalEngine()
    old, new = engine._model(shared().named(before.model)), engine._model(engine.named(after.model))
    assert asked(new, base) == asked(LocalModel(str(base), "cpu"), base)
    with pytest.raises(AspectragError, match="was replaced since it was named"):
        old.choose(shared().named(before.model), [[1]], [[2], [3]])


def test_a_folder_may_be_called_as_if_it_had_a_hash(base, tmp_path):
    folder = tiny_adapter(tmp_path / "run@20250714", base)
    name = find(str(folder))
    assert name.folder == folder
    assert find(str(name)).folder == folder


def test_a_single_adapter_is_no_collection(adapters):
    with pytest.raises(AspectragError, match="is a single adapter: give the folder that it lies in"):
        adapters_in(str(adapters[0]))


@pytest.mark.parametrize("config", ["[]", "7", "{"])
def test_settings_that_are_none_are_said_in_a_line(adapters, tmp_path, config):
    folder = tmp_path / "damaged"
    shutil.copytree(adapters[0], folder)
    (folder / "adapter_config.json").write_text(config)
    with pytest.raises(AspectragError, match=r"adapter_config\.json cannot be read"):
        find(str(folder))


def test_a_model_can_be_pickled(adapters):
    lm = load(f"local/{adapters[0]}", cache=False)
    again = pickle.loads(pickle.dumps(lm))
    assert again.model == lm.model
    assert pickle.loads(pickle.dumps(shared())) is shared()
