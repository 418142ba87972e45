import json

import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms.local.card import Card, read_card, refuse_other_base, write_card

BASE = {"name": "smollm2", "sha256": "b1" * 32, "model_type": "llama", "layers": 30, "hidden_size": 576}


def test_a_card_comes_back_as_it_was(tmp_path):
    card = Card(BASE, "chat", "router", {"relevant": 0.35}, {"accuracy": 0.9}, {"steps": 12})
    write_card(tmp_path, card)
    assert read_card(tmp_path) == card
    assert json.loads((tmp_path / "card.json").read_text())["format"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["card.json"]


def test_what_a_later_release_adds_is_no_hindrance(tmp_path):
    write_card(tmp_path, Card(BASE))
    record = json.loads((tmp_path / "card.json").read_text())
    (tmp_path / "card.json").write_text(json.dumps({**record, "colour": "red"}))
    assert read_card(tmp_path) == Card(BASE)


def changed(**values):
    return json.dumps({"format": 1, "base": BASE, "prompt": "bare", **values})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "has no card.json"),
        ("", "cannot be read"),
        (changed()[:-20], "cannot be read"),
        ("[]", "no card of format 1"),
        ("{}", "no card of format 1"),
        (changed(format=2), "no card of format 1"),
        (changed(base="smollm2"), "base is 'smollm2'"),
        (changed(base={"name": "smollm2"}), "base says nothing about sha256, model_type, layers, hidden_size"),
        (changed(prompt="loud"), "prompt is 'loud'"),
        (changed(thresholds=[1]), "thresholds is"),
        (changed(thresholds={"relevant": "high"}), "the threshold of relevant is 'high'"),
        (changed(thresholds={"relevant": 1.5}), "the threshold of relevant is 1.5"),
        (changed(skill=None), "skill is None"),
    ],
)
def test_what_is_no_card_is_refused_in_one_line(tmp_path, text, message):
    if text is not None:
        (tmp_path / "card.json").write_text(text)
    with pytest.raises(AspectragError, match=message) as caught:
        read_card(tmp_path)
    assert "\n" not in str(caught.value)


def test_an_adapter_goes_on_its_own_base_only(tmp_path):
    card = Card(BASE)
    refuse_other_base(card, {**BASE, "name": "elsewhere"}, tmp_path)
    with pytest.raises(
        AspectragError, match=r"smollm2 \(model_type llama, layers 30.*not on big .*layers 32"
    ) as caught:
        refuse_other_base(card, {**BASE, "name": "big", "layers": 32}, tmp_path)
    assert "\n" not in str(caught.value)
    with pytest.raises(AspectragError, match=r"smollm2 \(weights b1b1b1b1\), not on smollm2 \(weights c2c2c2c2\)"):
        refuse_other_base(card, {**BASE, "sha256": "c2" * 32}, tmp_path)
