import json
import threading
from typing import Annotated, Literal

import pydantic
import pytest
import torch
from aspectrag.errors import AspectragError
from aspectrag.lms.local.grammar import SchemaError
from aspectrag.lms.local.likelihood import padded
from aspectrag.lms.local.model import LocalModel
from aspectrag.lms.local.names import find
from aspectrag.lms.local.slots import compact, tokens
from aspectrag.lms.local.writing import Draw
from peft import PeftModel
from pydantic import Field
from tiny import tiny_adapter, tiny_base
from transformers import AutoModelForCausalLM

LABELS = ["straightforward", "single-step", "compound", "complex"]
QUESTIONS = ["Why?", "What is the longest of all rivers that are known?", "团?"]
STRINGS = {"type": "array", "items": {"type": "string", "maxLength": 4}, "minItems": 1, "maxItems": 3}


@pytest.fixture(scope="module")
def model(base):
    return LocalModel(str(base), "cpu")


@pytest.fixture(scope="module")
def names(base, adapters):
    return [find(str(folder)) for folder in (base, *adapters)]


def prompts(model):
    return [tokens(model.tokenizer, f'{question}\n{{"route":') for question in QUESTIONS]


def options(model, labels=LABELS):
    return [tokens(model.tokenizer, compact(label)) for label in labels]


def one_by_one(folder, base, prompt, labels):
    """The naive way: each whole sequence by itself, by a model of its own."""
    whole = AutoModelForCausalLM.from_pretrained(str(base), dtype=torch.float32)
    if folder is not None:
        whole = PeftModel.from_pretrained(whole, str(folder))
    sums = []
    with torch.inference_mode():
        for label in labels:
            scores = torch.log_softmax(whole(torch.tensor([prompt + label])).logits[0], -1)
            sums.append(sum(scores[len(prompt) + at - 1, token].item() for at, token in enumerate(label)))
    return torch.softmax(torch.tensor(sums), 0).tolist()


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("labels", [LABELS, [True, False], [1, 2, 3], ["end"], ["a", "ab"]])
def test_probabilities_are_those_of_whole_sequences(model, names, base, which, labels):
    name = names[which]
    found = model.choose(name, prompts(model), options(model, labels))
    for prompt, chances in zip(prompts(model), found, strict=True):
        assert sum(chances) == pytest.approx(1)
        assert chances == pytest.approx(one_by_one(name.folder, base, prompt, options(model, labels)), abs=1e-4)


@pytest.mark.parametrize("negligible", [0.9, 0.3, 0.01])
def test_what_began_as_negligible_is_not_read_and_never_the_likeliest(model, names, negligible, monkeypatch):
    whole = model.choose(names[1], prompts(model), options(model))
    monkeypatch.setattr("aspectrag.lms.local.likelihood._NEGLIGIBLE", negligible)
    for one, other in zip(model.choose(names[1], prompts(model), options(model)), whole, strict=True):
        assert max(range(4), key=one.__getitem__) == max(range(4), key=other.__getitem__)
        assert one == pytest.approx(other, abs=4 * negligible)


def test_many_prompts_are_read_in_parts(model, names, monkeypatch):
    whole = model.choose(names[1], prompts(model), options(model))
    monkeypatch.setattr("aspectrag.lms.local.likelihood._MOST_CACHED", 1)
    for one, other in zip(model.choose(names[1], prompts(model), options(model)), whole, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_much_is_written_in_parts(model, names, monkeypatch):
    sizes = []
    monkeypatch.setattr("aspectrag.lms.local.model.padded", lambda *args: sizes.append(len(args[0])) or padded(*args))
    draws = [Draw(5)] * len(QUESTIONS)
    whole = model.write(names[1], prompts(model), draws)
    monkeypatch.setattr("aspectrag.lms.local.likelihood._MOST_CACHED", 1)
    assert [value.tokens for value in model.write(names[1], prompts(model), draws)] == [one.tokens for one in whole]
    assert sizes == [3, 1, 1, 1]


def test_adapters_are_switched_and_the_base_stays_what_it_is(model, names):
    first = {str(name): model.choose(name, prompts(model)[:1], options(model))[0] for name in names}
    assert len({tuple(round(chance, 4) for chance in chances) for chances in first.values()}) > 2
    for name in reversed(names):
        assert model.choose(name, prompts(model)[:1], options(model))[0] == pytest.approx(first[str(name)], abs=1e-6)


def test_few_adapters_stay_in_memory(base, names):
    small = LocalModel(str(base), "cpu", kept=2)
    first = [small.choose(name, prompts(small)[:1], options(small))[0] for name in names[1:]]
    assert small.adapters == [str(name) for name in names[2:]]
    again = [small.choose(name, prompts(small)[:1], options(small))[0] for name in names[1:]]
    assert again == [pytest.approx(chances, abs=1e-6) for chances in first]


def test_threads_wait_for_each_other(model, names):
    expected = [model.choose(name, prompts(model)[:1], options(model)) for name in names]
    found = [[] for _ in names]

    def ask(which):
        for _ in range(5):
            found[which].append(model.choose(names[which], prompts(model)[:1], options(model)))

    threads = [threading.Thread(target=ask, args=(which,)) for which in range(len(names))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for which, each in enumerate(found):
        assert all(chances[0] == pytest.approx(expected[which][0], abs=1e-6) for chances in each)


def text(model, value):
    return model.tokenizer.decode(value.tokens)


class Pair(pydantic.BaseModel, extra="forbid"):
    sure: bool
    kind: Literal["x", "y"]


@pytest.mark.parametrize(
    "kind",
    [
        Annotated[list[Annotated[str, Field(max_length=4)]], Field(min_length=1, max_length=3)],
        Annotated[int, Field(ge=0, le=99)],
        list[Pair],
        Pair | None,
    ],
)
def test_what_is_written_is_true_to_its_schema(model, names, kind):
    reads = pydantic.TypeAdapter(kind)
    draws = [Draw(80, 1.0, seed=seed) for seed in range(3)]
    values = model.write(names[1], prompts(model), draws, reads.json_schema())
    for value in (value for value in values if value.finished):
        found = reads.validate_json(text(model, value))
        assert json.loads(text(model, value)) == reads.dump_python(found, mode="json")
    assert any(value.finished for value in values)


def test_lists_keep_to_their_size(model, names):
    one_of_each = {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "maxItems": 3}
    for seed in range(4):
        (value,) = model.write(names[1], prompts(model)[:1], [Draw(99, 1.0, seed=seed)], one_of_each)
        assert value.finished
        assert len(json.loads(text(model, value))) in (2, 3)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("schema", [STRINGS, None])
def test_side_by_side_is_as_one_by_one(model, names, schema, temperature):
    draws = [Draw(limit, temperature, 0.9, seed=7) for limit in (30, 5, 12)]
    together = [value.tokens for value in model.write(names[1], prompts(model), draws, schema)]
    alone = [
        model.write(names[1], [prompt], [draw], schema)[0].tokens
        for prompt, draw in zip(prompts(model), draws, strict=True)
    ]
    assert together == alone
    assert [len(each) <= draw.limit for each, draw in zip(together, draws, strict=True)] == [True] * 3


def test_chance_follows_the_seed(model, names):
    def drawn(seed):
        return model.write(names[0], prompts(model)[:1], [Draw(20, 1.0, seed=seed)])[0].tokens

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(None) != drawn(None)


def test_a_narrow_share_is_the_likeliest(model, names):
    likeliest = model.write(names[0], prompts(model)[:1], [Draw(10)])[0].tokens
    assert model.write(names[0], prompts(model)[:1], [Draw(10, 1.0, 1e-9)])[0].tokens == likeliest


def test_a_schema_without_a_grammar(model, names):
    with pytest.raises(SchemaError):
        model.write(names[0], prompts(model)[:1], [Draw(5)], {"type": "string", "pattern": "(?=a)b"})


def test_an_adapter_of_another_base(model, tmp_path):
    other = tiny_base(tmp_path / "other", seed=5)
    stranger = find(str(tiny_adapter(tmp_path / "stranger", other)))
    with pytest.raises(AspectragError, match=r"was trained on .*other.*weights"):
        model.choose(stranger, prompts(model), options(model))
    assert str(stranger) not in model.adapters


def test_an_adapter_that_was_cut_short(base, tmp_path):
    folder = tiny_adapter(tmp_path / "short", base)
    weights = folder / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-200])
    for _ in range(2):
        with pytest.raises(AspectragError, match=r"cannot be opened.*copy it again") as caught:
            LocalModel(str(base), "cpu").choose(find(str(folder)), [[1]], [[1], [2]])
        assert "\n" not in str(caught.value)


def test_an_adapter_that_was_trained_again_since_it_was_named(base, tmp_path):
    name = find(str(tiny_adapter(tmp_path / "again", base, seed=1)))
    tiny_adapter(tmp_path / "again", base, seed=9)
    with pytest.raises(AspectragError, match="again is not what it was"):
        LocalModel(str(base), "cpu").choose(name, [[1]], [[1], [2]])


def test_without_its_libraries(base, names, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(AspectragError, match=r"need peft: pip install 'aspectrag\[train\]'"):
        LocalModel(str(base), "cpu").choose(names[1], [[1]], [[1], [2]])
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(AspectragError, match=r"need llguidance: pip install 'aspectrag\[train\]'"):
        LocalModel(str(base), "cpu").write(names[0], [[1]], [Draw(3)], STRINGS)


def test_the_window_is_the_bases(model):
    assert model.window == 2048
    assert LocalModel("smollm2").window == 8192
