"""Where DSPy's weight optimizers have language models tuned: here, with peft."""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import dspy
from dspy.clients.provider import Provider, TrainingJob
from dspy.clients.utils_finetune import TrainDataFormat

from ...errors import AspectragError, nearest
from ...home import home
from ...lms.local.names import base_of, model_string
from .encoding import is_chat
from .lora import LoraSettings, lasting, tune

# What tuning may be told beside its settings.
_OTHERS = ("out", "folder", "held_out", "skill", "until", "progress")


class LoraProvider(Provider):
    """Tunes local models for ``BootstrapFinetune``, ``BetterTogether`` and :class:`.labeled.LabeledFinetune`.

    What they hand on as ``train_kwargs`` are fields of :class:`.lora.LoraSettings`, and ``out`` (where each adapter
    gets a folder, by what is learnt: an optimizer may tune several; by default in the cache), ``folder`` (of the
    adapter itself, where there is but one), ``held_out`` (the chats, or the share of them, that the best weights are
    chosen by; a tenth by default), ``skill``, ``until`` (see :func:`.lora.tune`) and ``progress``.

    Example:
        >>> lm = tunable(lms.load("local/smollm2"))  # doctest: +SKIP
        >>> program.set_lm(lm)  # doctest: +SKIP
        >>> optimizer = dspy.BootstrapFinetune(metric=em, adapter=BareAdapter())  # doctest: +SKIP
        >>> tuned = optimizer.compile(program, trainset=examples, teacher=large)  # doctest: +SKIP
    """

    def __init__(self) -> None:
        super().__init__()
        self.finetunable = True

    @staticmethod
    def is_provider_model(model: str) -> bool:
        """Whether a model string names a local model."""
        return model.startswith("local/")

    @staticmethod
    def finetune(
        job: TrainingJob,  # noqa: ARG004 - its thread waits for us, there is nothing to tell it
        model: str,
        train_data: list[dict[str, Any]],
        train_data_format: TrainDataFormat | str | None,
        train_kwargs: dict[str, Any] | None = None,
    ) -> str:
        """Tune a model, and return the model string of what became of it.

        Args:
            job: Of DSPy.
            model: The base, or an adapter whose base it is.
            train_data: Chats, each under ``messages``, the last message being the answer.
            train_data_format: ``TrainDataFormat.CHAT``.
            train_kwargs: See the class.

        Raises:
            AspectragError: Something cannot be used as it is, or an example is no chat; see :func:`.lora.tune`.
        """
        if train_data_format not in (TrainDataFormat.CHAT, "chat", None):
            raise AspectragError(f"local models are tuned on chats, not on data of the format {train_data_format}")
        given = dict(train_kwargs or {})
        others = {name: given.pop(name) for name in _OTHERS if name in given}
        settings = _settings(given)
        chats = [_chat(example, place) for place, example in enumerate(train_data, 1)]
        learn, held_out = _shared_out(chats, others.get("held_out", 0.1), settings.seed)
        prompt = "bare" if all(len(chat) == 2 for chat in chats) else "chat"
        base = base_of(model)
        among = Path(others.get("out") or home() / "adapters")
        out = Path(others.get("folder") or among / _name(base, learn, held_out, settings)).expanduser()
        tuned = tune(
            base, learn, held_out, out.resolve(), prompt=prompt, skill=others.get("skill", ""), settings=settings,
            until=others.get("until"), progress=others.get("progress", True),
        )  # fmt: skip
        return model_string(tuned.folder)


def tunable(lm: dspy.LM) -> dspy.LM:
    """A copy of a local model that DSPy's optimizers can tune.

    Raises:
        AspectragError: It is no local model.

    Example:
        >>> tunable(lms.load("local/smollm2")).provider  # doctest: +SKIP
    """
    if not LoraProvider.is_provider_model(lm.model):
        raise AspectragError(f"{lm.model} cannot be tuned here: take a local model, such as local/smollm2")
    copy = lm.copy()
    copy.provider = LoraProvider()
    copy.train_kwargs = {}
    return copy


def _settings(given: dict[str, Any]) -> LoraSettings:
    known = [field.name for field in fields(LoraSettings)]
    for name in given:
        if name not in known:
            raise AspectragError(f"tuning takes no {name!r}{nearest(name, [*known, *_OTHERS])}")
    return LoraSettings(**given)


def _chat(example: Any, place: int) -> Any:
    chat = example.get("messages") if isinstance(example, dict) else None
    if not is_chat(chat):
        raise AspectragError(
            f"example {place} cannot be learnt from: it needs messages, each with a role and a content, and what the "
            f"assistant says at the end"
        )
    return chat


def _shared_out(
    chats: Sequence[list[dict[str, Any]]], held_out: float | Sequence[list[dict[str, Any]]], seed: int
) -> tuple[list[Any], list[Any]]:
    if not isinstance(held_out, float | int):
        return list(chats), list(held_out)
    if not 0 <= held_out < 1:
        raise AspectragError(f"held_out is a share of the examples, from 0 to below 1, or examples: not {held_out}")
    kept = set(random.Random(seed).sample(range(len(chats)), round(held_out * len(chats))))
    return [chats[i] for i in range(len(chats)) if i not in kept], [chats[i] for i in sorted(kept)]


def _name(base: str, learn: Sequence[Any], held_out: Sequence[Any], settings: LoraSettings) -> str:
    known = [base, learn, held_out, lasting(settings)]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]
