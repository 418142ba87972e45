"""The card of an adapter: what it was trained on, how it is asked, and from which probability its verdicts are true."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from ...errors import AspectragError
from ...whole import write

FILE = "card.json"
_FORMAT = 1
# What two bases must share for an adapter of one to be an adapter of the other.
_ARCHITECTURE = ("model_type", "layers", "hidden_size")


@dataclass(frozen=True)
class Card:
    """What is known of an adapter.

    Attributes:
        base: Of the model it belongs to: ``name``, ``sha256`` of the weights, ``model_type``, ``layers``,
            ``hidden_size``.
        prompt: ``bare``: it is asked with the values of fields alone; ``chat``: in DSPy's format.
        skill: What it was taught.
        thresholds: By output field, the probability from which a verdict is true; 0.5 where none is given.
        scores: What was measured of it.
        training: How it was trained.
    """

    base: Mapping[str, Any]
    prompt: Literal["bare", "chat"] = "bare"
    skill: str = ""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)


def write_card(folder: Path, card: Card) -> None:
    """Put a card into the folder of its adapter; it is there as a whole or not at all."""
    text = json.dumps({"format": _FORMAT, **asdict(card)}, ensure_ascii=False, indent=1)
    write(folder / FILE, text + "\n")


def read_card(folder: Path) -> Card:
    """The card in the folder of an adapter.

    Raises:
        AspectragError: There is none, it was cut short, or another program or release wrote it.
    """
    path = folder / FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise AspectragError(f"{folder} has no {FILE}: it is no adapter of this package, or not finished") from error
    except (OSError, ValueError) as error:
        raise AspectragError(f"{path} cannot be read ({error}): train the adapter again, or copy it again") from error
    if not isinstance(record, dict) or record.pop("format", None) != _FORMAT:
        raise AspectragError(f"{path} is no card of format {_FORMAT}: train the adapter again with this release")
    known = {each.name for each in fields(Card)}
    card = Card(**{"base": {}, **{name: value for name, value in record.items() if name in known}})
    if wrong := _wrong(card):
        raise AspectragError(f"{path}: {wrong}: train the adapter again, or copy it again")
    return card


def _wrong(card: Card) -> str:
    """What is wrong with a card, in a few words."""
    for part in fields(Card):
        value = getattr(card, part.name)
        expected = str if part.name in ("prompt", "skill") else dict
        if not isinstance(value, expected):
            return f"{part.name} is {value!r}"
    if missing := [name for name in ("name", "sha256", *_ARCHITECTURE) if name not in card.base]:
        return f"base says nothing about {', '.join(missing)}"
    if not all(isinstance(card.base[name], str) for name in ("name", "sha256")):
        return "name or weights of the base are no text"
    if card.prompt not in ("bare", "chat"):
        return f"prompt is {card.prompt!r}, not 'bare' or 'chat'"
    for name, value in card.thresholds.items():
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            return f"the threshold of {name} is {value!r}, not a probability"
    return ""


def refuse_other_base(card: Card, base: Mapping[str, Any], folder: Path) -> None:
    """Let an adapter be put on the base that it was trained on, and on no other.

    Args:
        card: Of the adapter.
        base: What is known of the base at hand, as in the card.
        folder: Of the adapter.

    Raises:
        AspectragError: It is another: in its build, or in its weights.
    """
    ours, theirs = (", ".join(f"{name} {each.get(name)}" for name in _ARCHITECTURE) for each in (card.base, base))
    if ours == theirs:
        ours, theirs = (f"weights {str(each.get('sha256'))[:8]}" for each in (card.base, base))
    if ours != theirs:
        raise AspectragError(
            f"the adapter {folder} was trained on {card.base['name']} ({ours}), not on {base['name']} ({theirs}): "
            f"give it its own base, or train it again"
        )
