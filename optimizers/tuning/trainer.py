"""One training of one adapter by the Trainer of transformers: only what is learnt is scored, and it can be gone on."""

import json
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm.auto import tqdm
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_pt_utils import get_length_grouped_indices

from ...errors import AspectragError
from ...whole import write
from .encoding import IGNORED, Encoded, batched

if TYPE_CHECKING:
    from .lora import LoraSettings

# Steps that are timed before it is said how long all will take.
_TIMED = 3
# Most of the time that goes into measuring the loss, and how much of it is planned: checkpoints take some, too.
_MEASURING, _PLANNED = 0.25, 0.95
_STATE = "trainer_state.json"
# Most tokens that are read at once, for what is kept of them until the way back takes 1.5 MB each of a base of 135
# million; and what widths are multiples of: for each width there is code to make and to keep.
_AT_ONCE, _WIDTH = 1536, 16


@dataclass(frozen=True)
class _Plan:
    """How long is trained; decided once, however often the training is gone on with.

    Attributes:
        steps: To make.
        evaluations: How often the loss on held-out examples is measured, beside the first time.
        seconds: After which it ends although steps are left; None for no limit.
    """

    steps: int
    evaluations: int
    seconds: float | None = None

    def over(self, history: Sequence[dict[str, Any]], patience: int, seconds: float) -> bool:
        """Whether to end: nothing became better for long, or there is no time left.

        Args:
            history: What the trainer wrote down.
            patience: Measurements without a lower loss.
            seconds: That were spent.
        """
        losses = [loss for step, loss in _losses(history) if step]
        lowest = min(range(len(losses)), key=losses.__getitem__, default=0)
        diverged = not all(map(math.isfinite, losses))
        late = self.seconds is not None and seconds >= self.seconds
        return diverged or late or len(losses) - 1 - lowest >= patience


class _Trainer(Trainer):
    """Reads the head's scores only where something is learnt: most of what they cost is saved."""

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        loss = loss_of(model, inputs, num_items_in_batch)
        return (loss, {}) if return_outputs else loss


def _half() -> bool:
    """Whether matrices are multiplied in bfloat16, in half the time: where the machine does so in one instruction."""
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported()
    able = getattr(torch.cpu, "get_capabilities", dict)()  # of newer torch only
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def loss_of(model: nn.Module, inputs: dict[str, Any], among: Tensor | int | None = None) -> Tensor:
    """Mean negative log-likelihood of the tokens that are learnt.

    Args:
        model: A causal language model.
        inputs: See :func:`.encoding.batched`.
        among: How many tokens are learnt in the whole step, of which this is a part; by default it is all of it.
    """
    labels = inputs["labels"]
    first = int((labels != IGNORED).any(0).nonzero()[0])
    # The score of a token stands one place before it.
    kept = labels.shape[1] - first + 1
    rest = {name: value for name, value in inputs.items() if name != "labels"}
    logits = model(**rest, logits_to_keep=kept).logits[:, :-1]
    scores, wanted = logits.flatten(0, 1).float(), labels[:, first:].flatten()
    total = cross_entropy(scores, wanted, ignore_index=IGNORED, reduction="sum")
    return total / ((wanted != IGNORED).sum() if among is None else among)


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
        write(self._folder / "seconds", f"{self.seconds:.1f}")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self._bar.close()


class _Ends(TrainerCallback):
    """Ends a training that becomes no better, or has no time left."""

    def __init__(self, plan: _Plan, patience: int, bar: _Bar) -> None:
        self._plan, self._patience, self._bar = plan, patience, bar

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        if self._plan.over(state.log_history, self._patience, 0.0):
            control.should_training_stop = True

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        if self._plan.over((), self._patience, self._bar.seconds):
            control.should_training_stop = control.should_save = True
            control.should_evaluate = args.eval_strategy != "no"


def trained(
    model: Any,
    padding: int,
    learn: Sequence[Encoded],
    held_out: Sequence[Encoded],
    folder: Path,
    settings: "LoraSettings",
    title: str,
    progress: bool,
    until: float | None = None,
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
        until: When to end, by ``time.monotonic()``.

    Returns:
        ``steps`` that were made, ``losses`` on held-out examples as ``[step, loss]``, and ``seconds``.

    Raises:
        AspectragError: The loss is not finite.
    """
    folder = folder.resolve()  # checkpoints are known by their paths
    folder.mkdir(parents=True, exist_ok=True)
    plan = _planned(model, padding, learn, held_out, folder, settings, until)
    bar = _Bar(title, folder, progress)
    steps, every, checkpoint = plan.steps, math.ceil(plan.steps / plan.evaluations), _checkpoint(folder)
    if checkpoint is not None:
        state = json.loads((checkpoint / _STATE).read_text())
        if plan.over(state["log_history"], settings.patience, bar.seconds):
            steps = state["global_step"]  # killed after its end
    cuda, at_once = torch.cuda.is_available(), _at_once(learn, settings.batch)
    arguments = TrainingArguments(
        output_dir=str(folder), max_steps=steps, per_device_train_batch_size=at_once,
        gradient_accumulation_steps=settings.batch // at_once, per_device_eval_batch_size=settings.batch,
        learning_rate=settings.learning_rate, lr_scheduler_type="linear",
        warmup_steps=math.ceil(steps * settings.warmup), train_sampling_strategy="sequential",
        bf16=_half(), use_cpu=not cuda, dataloader_pin_memory=cuda,
        eval_strategy="steps" if held_out else "no", eval_steps=every,
        eval_on_start=bool(held_out) and checkpoint is None,
        save_strategy="steps", save_steps=every, save_total_limit=2, load_best_model_at_end=bool(held_out),
        metric_for_best_model="eval_loss" if held_out else None, prediction_loss_only=True, label_names=["labels"],
        remove_unused_columns=False, disable_tqdm=True, logging_strategy="no", report_to="none", seed=settings.seed,
    )  # fmt: skip
    trainer = _Trainer(
        model, arguments, data_collator=partial(_collated, padding=padding),
        train_dataset=_rows(_in_order(learn, steps, settings)),
        # Like lengths together: what is only filled up costs as much.
        eval_dataset=_rows(sorted(held_out, key=lambda each: len(each.ids))) if held_out else None,
        callbacks=[bar, _Ends(plan, settings.patience, bar)],
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    losses = _losses(trainer.state.log_history)
    if any(not math.isfinite(loss) for _, loss in losses):
        raise AspectragError("the loss is not finite: lower the learning rate, and give another folder")
    return {"steps": trainer.state.global_step, "losses": losses, "seconds": round(bar.seconds, 1)}


def _losses(history: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Those on held-out examples, as ``[step, loss]``."""
    return [
        list(each)
        for each in sorted({each["step"]: each["eval_loss"] for each in history if "eval_loss" in each}.items())
    ]


def _in_order(learn: Sequence[Encoded], steps: int, settings: "LoraSettings") -> list[Encoded]:
    """The examples of all steps: like lengths together, each once in a pass, the passes one behind the other."""
    lengths = [len(each.ids) for each in learn]
    chance = torch.Generator().manual_seed(settings.seed)
    places: list[int] = []
    while len(places) < steps * settings.batch:
        places += get_length_grouped_indices(lengths, settings.batch, generator=chance)
    return [learn[place] for place in places[: steps * settings.batch]]


def _rows(examples: Sequence[Encoded]) -> Any:
    return [{"input_ids": example.ids, "labels": example.labels} for example in examples]


def _collated(rows: Sequence[dict[str, list[int]]], padding: int) -> dict[str, Tensor]:
    return batched([Encoded(row["input_ids"], row["labels"]) for row in rows], padding, _WIDTH)


def _at_once(learn: Sequence[Encoded], batch: int) -> int:
    """How many examples of a step are read at once: a step is so many parts of the same size."""
    longest = max(len(each.ids) for each in learn)
    return max(size for size in range(1, batch + 1) if batch % size == 0 and (size == 1 or size * longest <= _AT_ONCE))


def _planned(
    model: Any,
    padding: int,
    learn: Sequence[Encoded],
    held_out: Sequence[Encoded],
    folder: Path,
    settings: "LoraSettings",
    until: float | None,
) -> _Plan:
    file = folder / "plan.json"
    if file.is_file():
        return _Plan(**json.loads(file.read_text()))
    plan = _Plan(math.ceil(len(learn) * settings.epochs / settings.batch), settings.evaluations)
    if until is not None:
        at_once = _at_once(learn, settings.batch)
        step = settings.batch / at_once * _batch_seconds(model, padding, learn, at_once, learning=True)
        batches = math.ceil(len(held_out) / settings.batch)
        measuring = batches * _batch_seconds(model, padding, held_out, settings.batch, learning=False)
        plan = _shortened(plan, step, measuring, max(0.0, until - time.monotonic()))
    write(file, json.dumps(asdict(plan)))
    return plan


def _shortened(plan: _Plan, step: float, measuring: float, left: float) -> _Plan:
    """A plan that the time is enough for.

    Args:
        plan: What is wanted.
        step: Seconds that a step takes.
        measuring: Seconds that it takes to measure the loss once.
        left: Seconds in all.
    """
    evaluations = plan.evaluations
    if measuring:
        evaluations = max(1, min(evaluations, int(left * _MEASURING / measuring) - 1))
    # Measured is before the first step, too; and what is made of the weights may take as long again.
    steps = max(1, min(plan.steps, int((left * _PLANNED - (evaluations + 2) * measuring) / step)))
    return _Plan(steps, evaluations, max(0.0, left - 2 * measuring))


def _batch_seconds(model: Any, padding: int, examples: Sequence[Encoded], batch: int, *, learning: bool) -> float:
    """What a batch takes on average, from a few: of short ones, of longer, of long; one before is not counted."""
    if not examples:
        return 0.0
    ordered = sorted(examples, key=lambda each: len(each.ids))  # like lengths together, as they will be
    room = max(0, len(ordered) - batch)
    taken = []
    for start in (room // 2, *(room * (2 * place + 1) // (2 * _TIMED) for place in range(_TIMED))):
        began = time.perf_counter()
        rows = batched(ordered[start : start + batch], padding, _WIDTH)
        inputs = {name: value.to(model.device) for name, value in rows.items()}
        lower = torch.autocast(model.device.type, torch.bfloat16, enabled=_half())
        with torch.set_grad_enabled(learning), lower:
            loss = loss_of(model, inputs)
        if learning:
            loss.backward()
            model.zero_grad()
        taken.append(time.perf_counter() - began)
    return sum(taken[1:]) / _TIMED


def _checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; the state of the trainer is written last, and what lacks it is removed."""
    for path in sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]), reverse=True):
        try:
            json.loads((path / _STATE).read_text())
        except (OSError, ValueError):
            shutil.rmtree(path, ignore_errors=True)
        else:
            return path
    return None


def _seconds(folder: Path) -> float:
    try:
        return float((folder / "seconds").read_text())
    except (OSError, ValueError):
        return 0.0
