"""What a DSPy request asks of a local model: tokens to read, slots to fill, and how."""

import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dspy.lm15 import Config, ContextLengthError, Request

from ..sampling import chat
from .slots import compact, forced, labels, prompt_ids, properties, tokens
from .writing import Draw

_ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


@dataclass(frozen=True)
class Slot:
    """Where one value of an answer goes.

    Attributes:
        name: Of the field; empty where the whole answer is one value.
        before: Forced text.
        after: Text that follows: forced, or the end of the answer.
        schema: Of the value; None for free text.
        labels: What is chosen from; None where the value is written.
    """

    name: str
    before: str
    after: str
    schema: Mapping[str, Any] | None
    labels: Sequence[Any] | None


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        prompt: Tokens to read.
        slots: To fill, in order.
        key: Requests with the same can be answered together.
        limit: Most tokens of the answer.
        config: Of the request.
    """

    prompt: list[int]
    slots: tuple[Slot, ...]
    key: str
    limit: int
    config: Config

    @property
    def temperature(self) -> float:
        """0 where nothing is left to chance."""
        return float(self.config.temperature or 0.0)

    def draw(self, used: int) -> Draw:
        """How the next tokens are drawn, when the answer has some already."""
        seed = None if self.config.seed is None else self.config.seed + used
        return Draw(self.limit - used, self.temperature, float(self.config.top_p or 1.0), seed)


def read(request: Request, tokenizer: Any, window: int) -> Asked:
    """Read a request.

    Args:
        request: Of DSPy.
        tokenizer: Of the base.
        window: Most tokens of prompt and answer together.

    Raises:
        ContextLengthError: The prompt leaves no room for an answer.
        AspectragError: The base cannot read chats.
    """
    prompt = prompt_ids(tokenizer, chat(request))
    room = window - len(prompt)
    if room < 1:
        raise ContextLengthError(
            f"the prompt has {len(prompt)} tokens, the context window of the local model holds {window}"
        )
    config = request.config
    slots = _slots(config.response_format or {})
    key = compact([[slot.before, slot.schema] for slot in slots])
    return Asked(prompt, slots, key, min(config.max_tokens or room, room), config)


def _slots(form: Mapping[str, Any]) -> tuple[Slot, ...]:
    schema = _schema(form)
    if schema is None:
        return (Slot("", "", "", None, None),)
    parts = properties(schema)
    if not parts:
        return (Slot("", "", "", schema, None),)
    given = [*(forced(name, place) for place, name in enumerate(parts)), "}"]
    return tuple(
        Slot(name, before, after, part, labels(part))
        for (name, part), (before, after) in zip(parts.items(), pairwise(given), strict=True)
    )


def _schema(form: Mapping[str, Any]) -> Mapping[str, Any] | None:
    match form.get("type"):
        case "json_schema":
            return form.get("schema") or form["json_schema"]["schema"]
        case "json_object":
            return _ANY_OBJECT
        case _:
            return None


def options_of(slot: Slot, tokenizer: Any) -> list[list[int]]:
    """The tokens of a slot's labels; with the next one where a label, such as 1, is also how another begins."""
    options = [tokens(tokenizer, compact(label)) for label in slot.labels or ()]
    if any(one != other and other[: len(one)] == one for one in options for other in options):
        following = tokens(tokenizer, slot.after)[:1]
        return [option + following for option in options]
    return options


def picked(slot: Slot, chances: Sequence[float], asked: Asked, threshold: float) -> Any:
    """The label that is answered.

    Args:
        slot: With labels.
        chances: Of the labels.
        asked: The request: above temperature 0 the label is drawn.
        threshold: From which probability a verdict is true.
    """
    choices = list(slot.labels or ())
    if asked.temperature:
        seed = secrets.randbits(31) if asked.config.seed is None else asked.config.seed
        weights = [(chance / max(chances)) ** (1 / asked.temperature) for chance in chances]
        return random.Random(f"{seed} {slot.name}").choices(choices, weights)[0]
    if choices == [True, False] and all(isinstance(each, bool) for each in choices):
        return chances[0] >= threshold
    return choices[max(range(len(choices)), key=chances.__getitem__)]
