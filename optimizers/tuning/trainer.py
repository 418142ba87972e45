"""One training of one adapter by the Trainer of transformers: only what is learnt is scored, and it can be gone on."""

import errno
import json
import math
import shutil
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from ...errors import AspectragError
from .encoding import IGNORED, Encoded, batched

if TYPE_CHECKING:
    from .lora import LoraSettings

# Steps that are timed before it is said how long all will take.
_TIMED = 3
# What a checkpoint of a large adapter may take, in bytes.
_ROOM = 100_000_000


class _Trainer(Trainer):
    """Reads the head's scores only where something is learnt: most of what they cost is saved."""

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,  # noqa: ARG002 - each batch counts alike
    ) -> Any:
        loss = loss_of(model, inputs)
        return (loss, {}) if return_outputs else loss


def loss_of(model: nn.Module, inputs: dict[str, Any]) -> Tensor:
    """Mean negative log-likelihood of the tokens that are learnt."""
    labels = inputs["labels"]
    first = int((labels != IGNORED).any(0).nonzero()[0])
    # The score of a token stands one place before it.
    kept = labels.shape[1] - first + 1
    rest = {name: value for name, value in inputs.items() if name != "labels"}
    logits = model(**rest, logits_to_keep=kept).logits[:, :-1]
    return cross_entropy(logits.flatten(0, 1).float(), labels[:, first:].flatten(), ignore_index=IGNORED)


class _Bar(TrainerCallback):
    """Shows steps, time left and losses, and keeps the time that was spent."""

    def __init__(self, title: str, folder: Path, show: bool) -> None:
        self._title, self._folder, self._show = title, folder, show
        self._before, self._began = _seconds(folder), time.monotonic()
        self._bar: Any = None

    @property
    def seconds(self) -> float:
        """Of this training, in all."""
        return self._before + time.monotonic() - self._began

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self._bar = tqdm(
            initial=state.global_step, total=state.max_steps, desc=self._title, unit="step",
            disable=None if self._show else True,
        )  # fmt: skip

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self._bar.update()

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any) -> None:  # noqa: ARG002
        if self._bar is not None:
            self._bar.set_postfix(held_out=f"{metrics['eval_loss']:.3f}")

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        (self._folder / "seconds").write_text(f"{self.seconds:.1f}")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self._bar.close()


def trained(
    model: Any,
    padding: int,
    learn: Sequence[Encoded],
    held_out: Sequence[Encoded],
    folder: Path,
    settings: "LoraSettings",
    title: str,
    progress: bool,
) -> dict[str, Any]:
    """Train the adapter of a model in place, and leave its best weights in it.

    Args:
        model: With an adapter, of peft.
        padding: Token that short examples are filled up with.
        learn: What is learnt from.
        held_out: What the best weights are chosen by.
        folder: Where checkpoints go, and are gone on from.
        settings: How to train.
        title: For the bar.
        progress: Whether to show it.

    Returns:
        ``steps`` that were made, ``losses`` on held-out examples as ``[step, loss]``, and ``seconds``.

    Raises:
        AspectragError: The disk is full, or the loss is not finite.
    """
    folder.mkdir(parents=True, exist_ok=True)
    steps = _planned(model, padding, learn, folder, settings)
    every = math.ceil(steps / settings.evaluations)
    cuda = torch.cuda.is_available()
    arguments = TrainingArguments(
        output_dir=str(folder), max_steps=steps, per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch, learning_rate=settings.learning_rate, lr_scheduler_type="linear",
        warmup_steps=math.ceil(steps * settings.warmup), train_sampling_strategy="group_by_length",
        bf16=cuda and torch.cuda.is_bf16_supported(), use_cpu=not cuda, dataloader_pin_memory=cuda,
        eval_strategy="steps" if held_out else "no", eval_steps=every, eval_on_start=bool(held_out),
        save_strategy="steps", save_steps=every, save_total_limit=2, load_best_model_at_end=bool(held_out),
        metric_for_best_model="eval_loss" if held_out else None, prediction_loss_only=True, label_names=["labels"],
        remove_unused_columns=False, disable_tqdm=True, logging_strategy="no", report_to="none", seed=settings.seed,
    )  # fmt: skip
    bar = _Bar(title, folder, progress)
    callbacks: list[TrainerCallback] = [bar]
    if held_out:
        callbacks.append(EarlyStoppingCallback(settings.patience))
    trainer = _Trainer(
        model, arguments, data_collator=partial(_collated, padding=padding), train_dataset=_rows(learn),
        # Like lengths together: what is only filled up costs as much.
        eval_dataset=_rows(sorted(held_out, key=lambda each: len(each.ids))) if held_out else None, callbacks=callbacks,
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    try:
        trainer.train(resume_from_checkpoint=_checkpoint(folder))
    except (OSError, RuntimeError) as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        if full or shutil.disk_usage(folder).free < _ROOM:  # torch names no reason
            raise AspectragError(
                f"no room for a checkpoint in {folder}: make room, and run it again to go on from the last one"
            ) from error
        raise
    losses = {each["step"]: each["eval_loss"] for each in trainer.state.log_history if "eval_loss" in each}
    if any(not math.isfinite(loss) for loss in losses.values()):
        raise AspectragError("the loss is not finite: lower the learning rate")
    return {"steps": trainer.state.global_step, "losses": [list(each) for each in sorted(losses.items())],
            "seconds": round(bar.seconds, 1)}  # fmt: skip


def _rows(examples: Sequence[Encoded]) -> Any:
    return [{"input_ids": example.ids, "labels": example.labels} for example in examples]


def _collated(rows: Sequence[dict[str, list[int]]], padding: int) -> dict[str, Tensor]:
    return batched([Encoded(row["input_ids"], row["labels"]) for row in rows], padding)


def _planned(model: Any, padding: int, learn: Sequence[Encoded], folder: Path, settings: "LoraSettings") -> int:
    """Steps to make; decided once, however often the training is gone on with."""
    file = folder / "plan.json"
    if file.is_file():
        return json.loads(file.read_text())["steps"]
    steps = math.ceil(len(learn) * settings.epochs / settings.batch)
    if settings.minutes is not None:
        steps = max(1, min(steps, int(settings.minutes * 60 / _step_seconds(model, padding, learn, settings))))
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"steps": steps}))
    part.replace(file)
    return steps


def _step_seconds(model: Any, padding: int, learn: Sequence[Encoded], settings: "LoraSettings") -> float:
    """What a step takes, from a few batches of examples of mixed length; the first is not counted."""
    apart = max(1, len(learn) // ((_TIMED + 1) * settings.batch))
    some = learn[::apart]
    taken = []
    for start in range(0, (_TIMED + 1) * settings.batch, settings.batch):
        if batch := some[start : start + settings.batch]:
            began = time.perf_counter()
            inputs = {name: value.to(model.device) for name, value in batched(batch, padding).items()}
            loss_of(model, inputs).backward()
            model.zero_grad()
            taken.append(time.perf_counter() - began)
    return sum(taken[1:] or taken) / len(taken[1:] or taken)


def _checkpoint(folder: Path) -> str | None:
    """The newest whole checkpoint; the state of the trainer is written last, and what lacks it is removed."""
    for path in sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]), reverse=True):
        try:
            json.loads((path / "trainer_state.json").read_text())
        except (OSError, ValueError):
            shutil.rmtree(path, ignore_errors=True)
        else:
            return str(path)
    return None


def _seconds(folder: Path) -> float:
    try:
        return float((folder / "seconds").read_text())
    except (OSError, ValueError):
        return 0.0
