"""A LoRA adapter: a small part of a small model learns one stage, on CPU or GPU, and goes on when it was killed.

Source: LoRA (Hu et al., ICLR 2022, arXiv 2106.09685).
"""

import hashlib
import json
import logging
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import AspectragError
from ...lms.local.bases import open_base
from ...lms.local.card import Card, read_card, write_card
from ...lms.local.names import WEIGHTS
from ...whole import write
from ..holding import held
from .encoding import Chat, Encoded, encoded
from .keeping import kept_in
from .trainer import trained

logger = logging.getLogger(__name__)
_TRAINING = "training"
# Of how is trained: what was begun in another way is not gone on with, nor taken for the same.
_VERSION = 3
# The first weights, and dropout, are drawn from a source that all threads share.
_CHANCE = threading.Lock()


@dataclass(frozen=True)
class LoraSettings:
    """How an adapter is trained.

    Attributes:
        rank: Of the matrices that are added; the size of the adapter grows with it.
        alpha: Their weight, divided by the rank.
        dropout: Share of their inputs that is left out while training.
        learning_rate: The highest, reached after ``warmup``; it falls to 0 at the end.
        warmup: Share of the steps in which it rises.
        batch: Examples per step.
        epochs: Passes over the examples.
        minutes: As many fewer passes as it takes to end by then, all in all; None for no limit. One step is made, and
            the loss measured before and after it, however long that takes.
        evaluations: How often the loss on held-out examples is measured, or less often where that takes too much of
            the minutes; after each, training can be gone on from.
        patience: Measurements without a lower loss after which training ends; the best weights are kept.
        length: Most tokens of an example; longer ones are left out.
        seed: Of all that is left to chance.

    Raises:
        AspectragError: A number cannot be.

    Example:
        >>> LoraSettings(rank=4).rank
        4
    """

    rank: int = 8
    alpha: int = 16
    dropout: float = 0.0
    learning_rate: float = 1e-3
    warmup: float = 0.05
    batch: int = 8
    epochs: float = 2.0
    minutes: float | None = None
    evaluations: int = 8
    patience: int = 3
    length: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rank", "alpha", "learning_rate", "batch", "epochs", "evaluations", "patience", "length"):
            if not getattr(self, name) > 0:
                raise AspectragError(f"{name} must be above 0, not {getattr(self, name)}")
        if not 0 <= self.dropout < 1 or not 0 <= self.warmup < 1:
            raise AspectragError("dropout and warmup are shares: give something from 0 to below 1")
        if not 0 <= self.seed < 2**32:
            raise AspectragError(f"seed must be from 0 to below 2**32, not {self.seed}")
        if self.minutes is not None and not self.minutes > 0:
            raise AspectragError(f"minutes must be above 0, not {self.minutes}")


@dataclass(frozen=True)
class Tuned:
    """An adapter, and how it came to be.

    Attributes:
        folder: Where it lies.
        report: Examples, steps, losses on held-out examples by step, seconds, settings.
    """

    folder: Path
    report: dict[str, Any]

    def __str__(self) -> str:
        """One line."""
        losses = [loss for _, loss in self.report["losses"]]
        held_out = f"held-out loss {losses[0]:.3f} -> {min(losses):.3f}" if losses else "nothing held out"
        return f"{self.report['examples']['learn']:,} examples, {self.report['steps']:,} steps, {held_out}"


def tune(
    base: str,
    learn: Sequence[Chat],
    held_out: Sequence[Chat],
    out: str | Path,
    *,
    prompt: Literal["bare", "chat"] = "bare",
    skill: str = "",
    settings: LoraSettings | None = None,
    until: float | None = None,
    progress: bool = True,
) -> Tuned:
    """Train an adapter on chats, and write it to a folder.

    The folder holds the training while it lasts, under ``training/``; killed at any time, the same call goes on from
    the last measurement. In the end it holds the adapter, as peft writes it, and ``card.json``: name it to
    :func:`...lms.load` as ``local/FOLDER``.

    Args:
        base: Name of the base; see :func:`...lms.local.bases.open_base`.
        learn: Chats to learn from, each ending with the answer.
        held_out: Chats that the best weights are chosen by; where there are none, the last are kept.
        out: The folder.
        prompt: How the adapter will be asked, as the chats are: values of fields only, or DSPy's chat format.
        skill: What is learnt, for the card.
        settings: How to train.
        until: When to end, by ``time.monotonic()``, where the minutes of the settings are not counted from now.
        progress: Whether to show a bar.

    Raises:
        AspectragError: There is nothing to learn from, the base cannot be had, the folder holds something else, the
            training diverged, or the disk is full.

    Example:
        >>> tune("smollm2", chats[:90], chats[90:], "runs/adapter")  # doctest: +SKIP
    """
    from peft import LoraConfig, get_peft_model
    from transformers import set_seed

    settings, out = settings or LoraSettings(), Path(out)
    if until is None and settings.minutes is not None:
        until = time.monotonic() + 60 * settings.minutes
    with _CHANCE:
        opened = open_base(_lasting(base))
        tokenizer: Any = opened.tokenizer
        sets = {"learn": _short(tokenizer, learn, settings), "held_out": _short(tokenizer, held_out, settings)}
        sizes = {name: len(examples) for name, examples in sets.items()}
        sizes["too_long"] = len(learn) + len(held_out) - sum(sizes.values())
        if not sets["learn"]:
            raise AspectragError(
                f"there is nothing to learn from: of {len(learn)} examples none has at most {settings.length} tokens"
            )
        if sizes["too_long"]:
            given = len(learn) + len(held_out)
            logger.warning(
                "left out: %d of %d examples, of more than %d tokens", sizes["too_long"], given, settings.length
            )
        digest = _digest(settings, opened.info, sets)
        training = out / _TRAINING
        busy = f"another training writes to {out}: wait until it ends, or give another folder"
        with kept_in(out), held(out, busy):
            if (out / "card.json").is_file():
                report = _the_same(digest, out)
                shutil.rmtree(training, ignore_errors=True)  # a kill may have left it
                return Tuned(out, report)
            set_seed(settings.seed)  # the first weights of an adapter are drawn
            config = LoraConfig(
                r=settings.rank, lora_alpha=settings.alpha, lora_dropout=settings.dropout, target_modules="all-linear",
                task_type="CAUSAL_LM",
            )  # fmt: skip
            model = get_peft_model(opened.model, config)
            padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
            title = skill or "adapter"
            _claimed(training, digest)
            done = trained(model, padding, sets["learn"], sets["held_out"], training, settings, title, progress, until)
            report = {"examples": sizes, **done, "settings": asdict(settings), "digest": digest}
            _written(model, opened, out, Card(base=opened.info, prompt=prompt, skill=skill, training=report))
        return Tuned(out, report)


def _lasting(base: str) -> str:
    """The name of a base that a card can say from wherever it is read: of a folder, the whole path."""
    folder = Path(base).expanduser()
    return str(folder.resolve()) if (folder / "config.json").is_file() else base


def _short(tokenizer: Any, chats: Sequence[Chat], settings: LoraSettings) -> list[Encoded]:
    examples = (encoded(tokenizer, chat) for chat in chats)
    return [example for example in examples if len(example.ids) <= settings.length]


def _digest(settings: LoraSettings, base: Any, sets: dict[str, list[Encoded]]) -> str:
    weights = {name: value for name, value in base.items() if name != "name"}
    examples = {name: [[each.ids, each.labels] for each in found] for name, found in sets.items()}
    known = [_VERSION, lasting(settings), weights, examples]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]


def lasting(settings: LoraSettings) -> dict[str, Any]:
    """What tells a training from others: not how long it may take, which may be said anew when it is gone on with."""
    return {name: value for name, value in asdict(settings).items() if name != "minutes"}


def _the_same(digest: str, out: Path) -> dict[str, Any]:
    """The report of the adapter that is there.

    Raises:
        AspectragError: It is another, or damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        card = read_card(out)
        with safe_open(out / WEIGHTS, framework="pt"):
            pass
    except (AspectragError, OSError, SafetensorError) as error:
        raise AspectragError(f"{out} is damaged ({error}): remove it, and run this again") from error
    if card.training.get("digest") != digest:
        raise AspectragError(f"{out} holds an adapter of other examples or settings: give another folder")
    return dict(card.training)


def _claimed(training: Path, digest: str) -> None:
    """The folder of this training and no other."""
    training.mkdir(parents=True, exist_ok=True)
    file = training / "digest"
    if not file.is_file():
        write(file, digest)
    elif file.read_text() != digest:
        raise AspectragError(
            f"{training} holds a training with other examples or settings: give another folder, or remove it"
        )


def _written(model: Any, opened: Any, out: Path, card: Card) -> None:
    """The adapter in half precision, half the size; its card comes last, what was needed to go on goes then."""
    import torch
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    weights = {name: value.detach().cpu().to(torch.float16).contiguous()
               for name, value in get_peft_model_state_dict(model, save_embedding_layers=False).items()}  # fmt: skip
    if not all(bool(value.isfinite().all()) for value in weights.values()):
        raise AspectragError("the training diverged: lower the learning rate, and give another folder")
    config = model.peft_config["default"]
    config.base_model_name_or_path = opened.info["name"]  # of everybody's machine, not the path on this one
    config.inference_mode = True
    config.save_pretrained(str(out))
    part = out / f"{WEIGHTS}.part"
    save_file(weights, part, metadata={"format": "pt"})
    shutil.copymode(out / "adapter_config.json", part)  # safetensors lets nobody else read it
    part.replace(out / WEIGHTS)
    write_card(out, card)
    shutil.rmtree(out / _TRAINING)
