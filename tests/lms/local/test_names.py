import json
import shutil

import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.local import bases, names
from aspectrag.lms.local.bases import info_of, open_base
from aspectrag.lms.local.card import read_card, write_card
from aspectrag.lms.local.names import adapters, base_of, find, model_string
from tiny import tiny_adapter, tiny_base


@pytest.fixture
def adapter(adapters, tmp_path):
    return shutil.copytree(adapters[0], tmp_path / "router")


def test_an_adapter_and_its_base(adapter, base):
    name = find(f"local/{adapter}")
    assert (name.folder, name.base, name.card) == (adapter, str(base), read_card(adapter))
    assert find(str(name)) == find(f"{adapter}/") == name
    assert model_string(adapter) == str(name)
    assert str(name).startswith(f"local/{adapter}@")
    assert base_of(str(name)) == str(base)


def test_a_base_alone(base):
    name = find(f"local/{base}")
    assert (name.folder, name.card, name.base) == (None, None, str(base))
    assert find(str(name)) == name


def test_the_default_base_is_known_before_it_is_there():
    assert model_string("smollm2") == "local/smollm2@b179c952"
    assert base_of("local/smollm2@b179c952") == "smollm2"


def test_the_name_changes_with_what_is_answered(adapter, base):
    known = model_string(adapter)
    card = read_card(adapter)
    for other in (
        card.__class__(card.base, "chat"),
        card.__class__(card.base, thresholds={"relevant": 0.4}),
        card.__class__({**card.base, "sha256": "0" * 64}),
    ):
        write_card(adapter, other)
        assert model_string(adapter) != known
    write_card(adapter, card.__class__({**card.base, "name": "elsewhere"}, skill="other", scores={"em": 1}))
    assert model_string(adapter) == known
    tiny_adapter(adapter, base, seed=9)
    with pytest.raises(AspectragError, match=r"is not what it was: its hash is .*, not .*; name it local/"):
        find(known)


def test_other_settings_of_the_adapter_are_another_model(adapter):
    known = model_string(adapter)
    path = adapter / "adapter_config.json"
    config = json.loads(path.read_text())
    same = {"base_model_name_or_path": "x", "target_modules": config["target_modules"][::-1]}
    path.write_text(json.dumps({**config, **same}))
    assert model_string(adapter) == known
    path.write_text(json.dumps({**config, "lora_alpha": 99}))
    assert model_string(adapter) != known


@pytest.mark.parametrize("lacking", ["card.json", "adapter_model.safetensors"])
def test_an_adapter_that_is_not_whole(adapter, lacking):
    (adapter / lacking).unlink()
    with pytest.raises(AspectragError, match=f"no {lacking}.*not"):
        find(str(adapter))


def test_an_adapter_whose_settings_were_cut_short(adapter):
    (adapter / "adapter_config.json").write_text("{")
    with pytest.raises(AspectragError, match="cannot be read"):
        find(str(adapter))


@pytest.mark.parametrize("name", ["nowhere", "./nowhere", "a/b/c", "~/nowhere", "empty"])
def test_what_is_no_model(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(AspectragError, match="is no local model: give a folder"):
        find(f"local/{name}")


def test_a_hub_out_of_reach():
    with pytest.raises(AspectragError, match="nobody/nothing is no folder, and the hub did not give it") as caught:
        find("local/nobody/nothing")
    assert "\n" not in str(caught.value)


def test_a_folder_without_weights(base, tmp_path):
    shutil.copy(base / "config.json", tmp_path)
    with pytest.raises(AspectragError, match="holds no weights"):
        find(str(tmp_path))


def test_a_model_that_is_not_causal(base, tmp_path):
    folder = shutil.copytree(base, tmp_path / "encoder")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    with pytest.raises(AspectragError, match=r"no causal language model \(BertModel\)"):
        open_base(str(folder))
    (folder / "config.json").write_text(json.dumps({"model_type": "unheard-of"}))
    with pytest.raises(AspectragError, match="no model that transformers knows"):
        open_base(str(folder))


def test_weights_that_were_cut_short(tmp_path):
    folder = tiny_base(tmp_path / "base")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(AspectragError, match="cannot be opened") as caught:
        open_base(str(folder))
    assert "\n" not in str(caught.value)


def test_each_open_base_is_a_model_of_its_own(base):
    one, other = open_base(str(base)), open_base(str(base))
    assert one.model is not other.model
    assert one.info == info_of(str(base))
    assert {"name", "sha256", "model_type", "layers", "hidden_size"} == set(one.info)
    assert not one.model.training
    assert one.info["layers"] == 2


def test_weights_are_hashed_once(base, monkeypatch):
    known = find(str(base))
    monkeypatch.setattr("aspectrag.lms.local.weights.hashlib.sha256", _only_names(monkeypatch))
    assert find(str(base)) == known
    assert bases.sha256_of(str(base)).startswith(known.digits)


def _only_names(monkeypatch):
    """SHA-256 that takes what it is given at once, as the name of a note, and is not fed weights."""
    import hashlib

    real = hashlib.sha256

    def once(data=b""):
        assert data, "weights were hashed again"
        return real(data)

    return once


def test_adapters_that_belong_together(adapter, tmp_path, monkeypatch):
    folder = adapter.parent
    assert adapters(str(folder)) == {"router": f"local/{folder}/router"}
    monkeypatch.setattr(names, "SHIPPED", folder.parent)
    assert adapters(folder.name) == {"router": f"local/{folder.name}:router"}
    assert find(f"local/{folder.name}:router").folder == adapter
    assert str(find(f"{folder.name}:router")).startswith(f"local/{folder.name}:router@")


@pytest.mark.parametrize("name", ["nowhere", "", "."])
def test_a_folder_without_adapters_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AspectragError, match="holds no adapters: give a folder"):
        adapters(name)
