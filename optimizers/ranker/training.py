"""One loop for every way to train the ranker: seeded, resumable, stopped early, and seen while it runs."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from ...errors import AspectragError

_CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes:
        epochs: Most passes over the questions.
        patience: Epochs without a better validation score after which training ends.
        batch: Questions per step.
        learning_rate: Of AdamW.
        weight_decay: Of AdamW.
        clip: Largest norm of a gradient.
        k: Length of the lists.
        seed: Of every choice that is left to chance.

    Raises:
        AspectragError: A number is not above 0.

    Example:
        >>> Settings(epochs=2).epochs
        2
    """

    epochs: int = 60
    patience: int = 12
    batch: int = 16
    learning_rate: float = 5e-4
    weight_decay: float = 0.01
    clip: float = 1.0
    k: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "batch", "learning_rate", "clip", "k"):
            if getattr(self, name) <= 0:
                raise AspectragError(f"{name} must be above 0, not {getattr(self, name)}")


@dataclass
class Report:
    """What a training did.

    Attributes:
        settings: How it was trained.
        examples: Questions trained on and validated on.
        before: Validation score of what training started from.
        epochs: Mean loss and validation score of each pass.
        best: Number of the epoch whose weights were kept, from 1; 0 where none was better than the start.
        notes: What else is worth knowing, such as pairs made.
    """

    settings: dict[str, Any]
    examples: dict[str, int]
    before: float = 0.0
    epochs: list[dict[str, float]] = field(default_factory=list)
    best: int = 0
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def after(self) -> float:
        """Validation score of the weights that were kept."""
        return self.epochs[self.best - 1]["score"] if self.best else self.before

    def __str__(self) -> str:
        """One line."""
        kept = f"epoch {self.best} of {len(self.epochs)}" if self.best else f"none of {len(self.epochs)} epochs"
        return f"validation {self.before:.4f} -> {self.after:.4f}, {kept} kept"


def fit(
    network: nn.Module,
    losses: Callable[[int], Iterator[Tensor]],
    score: Callable[[], float],
    report: Report,
    settings: Settings,
    folder: Path,
    identity: dict[str, Any],
    *,
    groups: Iterable[dict[str, Any]] | None = None,
    progress: bool,
) -> Report:
    """Train until ``epochs`` or ``patience`` is used up; leaves the best weights in ``network``.

    Killed, it goes on after the last whole epoch and ends with the same weights: each epoch draws from its own seed.

    Args:
        network: What is trained, in place.
        losses: Yields the losses of an epoch, one per step, given its number.
        score: The validation score, higher is better.
        report: Filled in and returned.
        settings: How to train.
        folder: Where checkpoints go.
        identity: What else makes this training another than any other; a checkpoint of another one is refused.
        groups: Parameters with settings of their own, as optimizers of torch take them; all alike by default.
        progress: Whether to show a bar.

    Raises:
        AspectragError: The folder holds the checkpoint of another training, or the loss is not finite.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(json.dumps([asdict(settings), identity], sort_keys=True).encode()).hexdigest()
    trained = network.parameters() if groups is None else groups
    optimizer = torch.optim.AdamW(trained, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    best = {name: value.clone() for name, value in network.state_dict().items()}
    if found := _resumed(folder, key):
        network.load_state_dict(found["network"])
        optimizer.load_state_dict(found["optimizer"])
        best = found["best"]
        report.epochs, report.best, report.before = found["epochs"], found["best_epoch"], found["before"]
    else:
        report.before = score()
    bar = tqdm(initial=len(report.epochs), total=settings.epochs, desc="Training", unit="epoch",
               disable=None if progress else True)  # fmt: skip
    with bar, torch.random.fork_rng(devices=[]):
        while len(report.epochs) < settings.epochs and len(report.epochs) - report.best < settings.patience:
            number = len(report.epochs) + 1
            torch.manual_seed(settings.seed * 100_003 + number)
            loss = _epoch(network, losses(number), optimizer, settings.clip)
            report.epochs.append({"loss": loss, "score": score()})
            if report.epochs[-1]["score"] > report.after:
                report.best = number
                best = {name: value.clone() for name, value in network.state_dict().items()}
            _keep(folder, {
                "key": key, "network": network.state_dict(), "optimizer": optimizer.state_dict(), "best": best,
                "epochs": report.epochs, "best_epoch": report.best, "before": report.before,
            })  # fmt: skip
            bar.set_postfix(loss=f"{loss:.3f}", score=f"{report.epochs[-1]['score']:.4f}", best=f"{report.after:.4f}")
            bar.update()
    network.load_state_dict(best)
    network.eval()
    return report


def _epoch(network: nn.Module, losses: Iterator[Tensor], optimizer: torch.optim.Optimizer, clip: float) -> float:
    total, count = 0.0, 0
    network.train()
    for loss in losses:
        if not torch.isfinite(loss):
            raise AspectragError("the loss is not finite: lower the learning rate")
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), clip)
        optimizer.step()
        total, count = total + loss.item(), count + 1
    network.eval()
    return total / max(count, 1)


def _resumed(folder: Path, key: str) -> dict[str, Any] | None:
    file = folder / _CHECKPOINT
    if not file.is_file():
        return None
    try:
        found = torch.load(file, weights_only=True)
    except Exception as exc:  # torch and pickle raise many kinds for a file that is not theirs
        raise AspectragError(
            f"{file} cannot be read ({type(exc).__name__}): remove it to train from the start"
        ) from exc
    if found["key"] != key:
        raise AspectragError(
            f"{folder} holds a training with other data or settings: give another folder, or remove {_CHECKPOINT}"
        )
    return found


def _keep(folder: Path, state: dict[str, Any]) -> None:
    part = folder / f"{_CHECKPOINT}.part"
    torch.save(state, part)
    part.replace(folder / _CHECKPOINT)
