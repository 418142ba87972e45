"""Adapters that are trained: they learn, go on when killed, and are refused where they do not fit."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
import torch
from aspectrag.errors import AspectragError
from aspectrag.lms.local.card import read_card
from aspectrag.lms.local.model import LocalModel
from aspectrag.lms.local.names import find
from aspectrag.lms.local.slots import prompt_ids, tokens
from aspectrag.optimizers.tuning import lora, trainer
from aspectrag.optimizers.tuning.lora import LoraSettings, tune
from filelock import FileLock
from safetensors import SafetensorError, safe_open
from tiny import tiny_base

QUICK = LoraSettings(epochs=6, learning_rate=2e-2, rank=4, evaluations=4)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return str(tiny_base(tmp_path_factory.mktemp("base")))


def chat(n, word):
    route = "compound" if word == "and" else "single"
    asked = {"role": "user", "content": f"question: {n} {word}\n-> route"}
    return [asked, {"role": "assistant", "content": json.dumps({"route": route})}]


CHATS = [chat(n, word) for n in range(40) for word in ("and", "or")]
HELD_OUT = [chat(n, word) for n in range(40, 46) for word in ("and", "or")]


def right(model, name, chats):
    """The share of chats for which the label that is said is likelier."""
    options = [tokens(model.tokenizer, json.dumps(label)) for label in ("compound", "single")]
    prompts = [[*prompt_ids(model.tokenizer, asked), *tokens(model.tokenizer, '{"route":')] for *asked, _ in chats]
    chances = model.choose(name, prompts, options)
    said = [0 if "compound" in answer["content"] else 1 for *_, answer in chats]
    return sum(each[place] > 0.5 for each, place in zip(chances, said, strict=True)) / len(chats)


def test_what_is_taught_is_learnt_and_kept_in_a_small_file(base, tmp_path):
    tuned = tune(base, CHATS, HELD_OUT, tmp_path / "a", skill="router", settings=QUICK, progress=False)
    losses = [loss for _, loss in tuned.report["losses"]]
    assert losses[0] > 2 * min(losses)
    assert right(LocalModel(base), find(str(tuned.folder)), HELD_OUT) == 1.0
    assert sorted(path.name for path in tuned.folder.glob("[!.]*")) == [
        "adapter_config.json", "adapter_model.safetensors", "card.json",
    ]  # fmt: skip
    card = read_card(tuned.folder)
    assert (card.skill, card.prompt, card.base["name"]) == ("router", "bare", base)
    assert card.training["examples"] == {"learn": 80, "held_out": 12, "too_long": 0}
    with safe_open(tuned.folder / "adapter_model.safetensors", "pt") as file:
        assert {str(file.get_tensor(name).dtype) for name in file.keys()} == {"torch.float16"}  # noqa: SIM118
    assert "held-out loss" in str(tuned)
    # Whoever may read the card may read the weights.
    modes = {path.stat().st_mode for path in tuned.folder.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("kind", ["gpt2", "qwen2"])
def test_bases_of_other_architectures_learn_too(kind, tmp_path):
    base = str(tiny_base(tmp_path / "base", kind=kind))
    tuned = tune(base, CHATS, HELD_OUT, tmp_path / "a", settings=QUICK, progress=False)
    assert read_card(tuned.folder).base["model_type"] == kind
    assert right(LocalModel(base), find(str(tuned.folder)), HELD_OUT) > 0.9


def test_the_same_again_is_there_already_and_another_is_refused(base, tmp_path, monkeypatch):
    first = tune(base, CHATS[:8], [], tmp_path, settings=LoraSettings(epochs=1, rank=2), progress=False)
    monkeypatch.setattr(trainer, "Trainer", None)
    again = tune(base, CHATS[:8], [], tmp_path, settings=LoraSettings(epochs=1, rank=2), progress=False)
    assert again.report == first.report
    with pytest.raises(AspectragError, match="holds an adapter of other examples or settings"):
        tune(base, CHATS[:9], [], tmp_path, settings=LoraSettings(epochs=1, rank=2), progress=False)


def test_the_same_seed_gives_the_same_weights(base, tmp_path):
    settings = LoraSettings(epochs=2, rank=2, evaluations=2)
    files = []
    for name in "ab":
        tune(base, CHATS[:16], HELD_OUT, tmp_path / name, settings=settings, progress=False)
        files.append((tmp_path / name / "adapter_model.safetensors").read_bytes())
    assert files[0] == files[1]


_KILLED = """
    import os, signal, sys
    sys.path[:0] = {paths!r}
    from test_lora import CHATS, HELD_OUT, tune, LoraSettings, trainer
    class Killed(trainer._Bar):
        def on_step_end(self, args, state, control, **rest):
            super().on_step_end(args, state, control, **rest)
            if state.global_step == {at}:
                os.kill(os.getpid(), signal.SIGKILL)
    trainer._Bar = Killed
    settings = LoraSettings(epochs=2, rank=2, evaluations=5, dropout=0.1)
    tune({base!r}, CHATS, HELD_OUT, {out!r}, settings=settings, progress=False)
"""


class Killed(BaseException):
    """Ends a training in this process."""


def killed(monkeypatch, owner, name, when=lambda *_: True):
    """Kill where a function is called; before it does anything."""
    real = getattr(owner, name)

    def dies(*args, **kwargs):
        if when(*args):
            raise Killed
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, dies)


def test_killed_in_a_later_pass_it_goes_on_and_ends_with_the_same_weights(base, tmp_path):
    settings = LoraSettings(epochs=2, rank=2, evaluations=5, dropout=0.1)
    tune(base, CHATS, HELD_OUT, tmp_path / "whole", settings=settings, progress=False)
    out = tmp_path / "killed"
    paths = [os.path.dirname(__file__), *[path for path in sys.path if path.endswith("support")]]  # noqa: PTH120
    script = textwrap.dedent(_KILLED.format(paths=paths, base=base, out=str(out), at=17))
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    assert not (out / "card.json").exists()
    assert list((out / "training").glob("checkpoint-*"))
    # What a kill left half-written is passed over.
    (out / "training" / "checkpoint-19").mkdir()
    tuned = tune(base, CHATS, HELD_OUT, out, settings=settings, progress=False)
    assert tuned.report["steps"] == 20
    whole, gone_on = ((tmp_path / name / "adapter_model.safetensors").read_bytes() for name in ("whole", "killed"))
    assert gone_on == whole


def test_another_training_in_the_folder_is_refused(base, tmp_path):
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "digest").write_text("other")
    with pytest.raises(AspectragError, match="holds a training with other examples"):
        tune(base, CHATS, [], tmp_path, progress=False)


def test_a_full_disk_is_told_and_the_last_checkpoint_stays(base, tmp_path, monkeypatch):
    settings = LoraSettings(epochs=2, rank=2, evaluations=5)
    saved = trainer._Trainer._save_checkpoint

    def full(self, *args, **kwargs):
        if self.state.global_step > 4:
            raise OSError(28, "No space left on device")
        return saved(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(trainer._Trainer, "_save_checkpoint", full)
        with pytest.raises(AspectragError, match="no room to write to"):
            tune(base, CHATS, HELD_OUT, tmp_path, settings=settings, progress=False)
    assert (tmp_path / "training" / "checkpoint-4").is_dir()
    assert tune(base, CHATS, HELD_OUT, tmp_path, settings=settings, progress=False).report["steps"] == 20


def test_nothing_that_fits_is_told(base, tmp_path):
    with pytest.raises(AspectragError, match="of 2 examples none has at most 5 tokens"):
        tune(base, CHATS[:2], [], tmp_path, settings=LoraSettings(length=5), progress=False)
    assert not list(tmp_path.iterdir())


def test_examples_that_are_too_long_are_told_of(base, tmp_path, caplog):
    long = [{"role": "user", "content": "x" * 200}, {"role": "assistant", "content": "y"}]
    settings = LoraSettings(length=100, epochs=0.1, rank=2)
    tune(base, [*CHATS, long], HELD_OUT, tmp_path, settings=settings, progress=False)
    assert "left out: 1 of 93 examples, of more than 100 tokens" in caplog.text


@pytest.fixture
def growing(monkeypatch):
    """A loss that grows with every step."""

    def evaluate(self, *_, **__):
        metrics = {"eval_loss": float(self.state.global_step)}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    monkeypatch.setattr(trainer._Trainer, "evaluate", evaluate)


def test_patience_outlasts_a_kill(base, tmp_path, monkeypatch, growing):
    settings = LoraSettings(epochs=4, rank=2, evaluations=10, patience=3)
    with monkeypatch.context() as patch:
        killed(patch, trainer._Bar, "on_step_end", lambda bar, args, state, *_: state.global_step == 15)
        with pytest.raises(Killed):
            tune(base, CHATS, HELD_OUT, tmp_path, settings=settings, progress=False)
    assert (tmp_path / "training" / "checkpoint-12").is_dir()
    tuned = tune(base, CHATS, HELD_OUT, tmp_path, settings=settings, progress=False)
    assert tuned.report["losses"] == [[step, float(step)] for step in (0, 4, 8, 12, 16)]


def test_killed_when_all_is_learnt_no_step_is_made(base, tmp_path, monkeypatch, growing):
    settings = LoraSettings(epochs=4, rank=2, evaluations=10, patience=2)
    whole = tune(base, CHATS, HELD_OUT, tmp_path / "whole", settings=settings, progress=False)
    for owner, name in ((lora, "_written"), (lora, "write_card")):
        with monkeypatch.context() as patch:
            killed(patch, owner, name)
            with pytest.raises(Killed):
                tune(base, CHATS, HELD_OUT, tmp_path / "killed", settings=settings, progress=False)
    tuned = tune(base, CHATS, HELD_OUT, tmp_path / "killed", settings=settings, progress=False)
    assert tuned.report["steps"] == whole.report["steps"] == 12
    files = [each.folder / "adapter_model.safetensors" for each in (whole, tuned)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_kill_between_card_and_end_leaves_nothing(base, tmp_path, monkeypatch):
    settings = LoraSettings(epochs=0.1, rank=2)
    with monkeypatch.context() as patch:
        killed(patch, lora.shutil, "rmtree")
        with pytest.raises(Killed):
            tune(base, CHATS, [], tmp_path, settings=settings, progress=False)
    tune(base, CHATS, [], tmp_path, settings=settings, progress=False)
    assert not (tmp_path / "training").exists()


def test_a_full_disk_is_told_wherever_it_is_noticed(base, tmp_path, monkeypatch):
    settings = LoraSettings(epochs=0.1, rank=2)

    def full(*_, **__):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    def no_folder(*_, **__):
        raise OSError(28, "No space left on device")

    for owner, name, fails in (("safetensors.torch", "save_file", full), ("pathlib.Path", "mkdir", no_folder)):
        with monkeypatch.context() as patch:
            patch.setattr(f"{owner}.{name}", fails)
            with pytest.raises(AspectragError, match="no room to write to"):
                tune(base, CHATS, [], tmp_path, settings=settings, progress=False)
    assert not (tmp_path / "card.json").exists()
    assert tune(base, CHATS, [], tmp_path, settings=settings, progress=False).report["steps"] == 1


def test_a_kill_before_the_training_has_a_name_does_no_harm(base, tmp_path, monkeypatch):
    written = Path.write_text

    def cut(self, text, *args, **kwargs):
        if self.name.startswith("digest"):
            written(self, "")
            raise Killed
        return written(self, text, *args, **kwargs)

    settings = LoraSettings(epochs=0.1, rank=2)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", cut)
        with pytest.raises(Killed):
            tune(base, CHATS, [], tmp_path, settings=settings, progress=False)
    assert tune(base, CHATS, [], tmp_path, settings=settings, progress=False).report["steps"] == 1


def test_a_training_that_diverged_is_no_adapter(base, tmp_path):
    settings = LoraSettings(epochs=1, rank=2, learning_rate=1e30)
    with pytest.raises(AspectragError, match="the training diverged: lower the learning rate"):
        tune(base, CHATS, [], tmp_path, settings=settings, progress=False)
    assert not (tmp_path / "card.json").exists()


def test_trainings_wait_for_each_other(base, tmp_path, monkeypatch):
    inside, most = [0], [0]
    real, another = lora.trained, threading.Event()

    def trained(*args, **kwargs):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        if inside[0] > 1:
            another.set()
        another.wait(0.5)
        inside[0] -= 1
        return real(*args, **kwargs)

    monkeypatch.setattr(lora, "trained", trained)
    settings = LoraSettings(epochs=0.1, rank=2)
    given = [(base, CHATS, [], tmp_path / name) for name in "ab"]
    threads = [
        threading.Thread(target=tune, args=each, kwargs={"settings": settings, "progress": False}) for each in given
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    files = [tmp_path / name / "adapter_model.safetensors" for name in "ab"]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_card_names_the_whole_path_of_a_base(base, tmp_path, monkeypatch):
    monkeypatch.chdir(Path(base).parent)
    tuned = tune(Path(base).name, CHATS, [], tmp_path, settings=LoraSettings(epochs=0.1, rank=2), progress=False)
    assert read_card(tuned.folder).base["name"] == base


def test_minutes_are_enough_for_steps_and_measurements(base, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "_batch_seconds", lambda *_, learning: 10.0 if learning else 5.0)
    settings = LoraSettings(epochs=9, rank=2, minutes=5, evaluations=40)
    report = tune(base, CHATS, HELD_OUT, tmp_path, settings=settings, progress=False).report
    # Two batches are held out.
    assert 200 < 10 * report["steps"] + 10 * len(report["losses"]) <= 300
    assert 2 < len(report["losses"]) < 10


def test_a_machine_that_becomes_slower_ends_in_time(base, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer._Bar, "seconds", property(lambda _: 1e6))
    settings = LoraSettings(epochs=9, rank=2, minutes=60)
    report = tune(base, CHATS, HELD_OUT, tmp_path, settings=settings, progress=False).report
    assert report["steps"] == 1
    assert [step for step, _ in report["losses"]] == [0, 1]


def test_what_is_gone_of_the_minutes_counts(base, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "_batch_seconds", lambda *_, learning: 10.0)
    settings = LoraSettings(epochs=9, rank=2, minutes=60)
    assert tune(base, CHATS, [], tmp_path, settings=settings, until=0.0, progress=False).report["steps"] == 1


@pytest.mark.parametrize("wrong", [{"rank": 0}, {"dropout": 1.0}, {"minutes": 0}, {"epochs": -1}])
def test_settings_that_cannot_be(wrong):
    with pytest.raises(AspectragError, match=next(iter(wrong))):
        LoraSettings(**wrong)


def test_one_training_at_a_time_writes_to_a_folder(base, tmp_path):
    with FileLock(tmp_path / ".lock"), pytest.raises(AspectragError, match="another training writes to"):
        tune(base, CHATS[:8], [], tmp_path, settings=LoraSettings(epochs=1, rank=2), progress=False)


def test_how_long_it_may_take_can_be_said_anew(base, tmp_path):
    first = tune(base, CHATS[:8], [], tmp_path, settings=LoraSettings(epochs=1, rank=2, minutes=1), progress=False)
    again = tune(base, CHATS[:8], [], tmp_path, settings=LoraSettings(epochs=1, rank=2, minutes=2), progress=False)
    assert again.report == first.report


@pytest.mark.parametrize("file", ["card.json", "adapter_model.safetensors"])
def test_a_damaged_result_is_not_taken_for_a_whole_one(base, tmp_path, file):
    tune(base, CHATS[:8], [], tmp_path, settings=LoraSettings(epochs=1, rank=2), progress=False)
    (tmp_path / file).write_bytes((tmp_path / file).read_bytes()[:20])
    with pytest.raises(AspectragError, match=r"is damaged .*: remove it, and run this again"):
        tune(base, CHATS[:8], [], tmp_path, settings=LoraSettings(epochs=1, rank=2), progress=False)


def test_a_step_that_is_read_in_parts_learns_the_same(base, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "_half", lambda: False)
    settings, found = LoraSettings(epochs=1, rank=2), []
    for name, at_once in (("whole", 10_000), ("parts", 100)):
        monkeypatch.setattr(trainer, "_AT_ONCE", at_once)
        tune(base, CHATS[:16], [], tmp_path / name, settings=settings, progress=False)
        with safe_open(tmp_path / name / "adapter_model.safetensors", framework="pt") as weights:
            found.append({key: weights.get_tensor(key) for key in weights.keys()})  # noqa: SIM118
    whole, parts = found
    assert all(torch.allclose(whole[key], parts[key], atol=2e-3) for key in whole)


def test_seeds_are_those_that_torch_takes():
    with pytest.raises(AspectragError, match="seed must be from 0"):
        LoraSettings(seed=-1)
