"""Fills the slots of a few requests that ask for the same, side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .model import LocalModel
from .names import LocalName
from .request import Asked, Slot, options_of, picked
from .slots import compact, tokens

# Digits of a probability; what is further behind depends on what is read beside it.
_DIGITS = 6


@dataclass
class Answer:
    """An answer on its way.

    Attributes:
        asked: The request.
        text: So far.
        ids: Its tokens.
        cut: Whether it reached its limit.
        probabilities: Of the labels of each choice, by field.
    """

    asked: Asked
    text: str = ""
    ids: list[int] = field(default_factory=list)
    cut: bool = False
    probabilities: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def finish(self) -> Literal["stop", "length"]:
        """Why it ended."""
        return "length" if self.cut else "stop"


def filled(
    model: LocalModel, name: LocalName, asked: Sequence[Asked], wanted: Callable[[], bool] = lambda: True
) -> list[Answer]:
    """Answer requests whose slots are the same.

    Args:
        model: The base.
        name: Of the adapter, or of the base alone.
        asked: Requests with one ``key``.
        wanted: Asked again and again: whether to go on; otherwise answers are cut.

    Raises:
        AspectragError: The base or the adapter cannot be had, or do not belong together.
        SchemaError: The schema says something that cannot be kept to.
    """
    answers = [Answer(each) for each in asked]
    for slot in asked[0].slots:
        for answer in answers:
            _add(answer, slot.before, tokens(model.tokenizer, slot.before))
        going = [answer for answer in answers if not answer.cut and wanted()]
        if going and slot.labels is not None:
            _choose(model, name, slot, going)
        elif going:
            _write(model, name, slot, going, wanted)
    for answer in answers:
        if asked[0].slots[0].before and not answer.cut:
            answer.text += "}"
        for stop in answer.asked.config.stop:
            answer.text = answer.text.partition(stop)[0]
    return answers


def _add(answer: Answer, text: str, ids: list[int]) -> None:
    if not answer.cut:
        answer.text += text
        answer.ids += ids
        answer.cut = len(answer.ids) >= answer.asked.limit


def _choose(model: LocalModel, name: LocalName, slot: Slot, answers: Sequence[Answer]) -> None:
    prompts = [answer.asked.prompt + answer.ids for answer in answers]
    options = options_of(slot, model.tokenizer)
    threshold = name.card.thresholds.get(slot.name, 0.5) if name.card is not None else 0.5
    for answer, exact in zip(answers, model.choose(name, prompts, options), strict=True):
        chances = [round(chance, _DIGITS) for chance in exact]
        label = picked(slot, chances, answer.asked, threshold)
        answer.probabilities[slot.name] = dict(zip(_keys(slot.labels or ()), chances, strict=True))
        # A label is short, and half of one says nothing: it may go beyond the limit.
        answer.text += compact(label)
        answer.ids += tokens(model.tokenizer, compact(label))


def _write(
    model: LocalModel, name: LocalName, slot: Slot, answers: Sequence[Answer], wanted: Callable[[], bool]
) -> None:
    prompts = [answer.asked.prompt + answer.ids for answer in answers]
    draws = [answer.asked.draw(len(answer.ids)) for answer in answers]
    for answer, value in zip(answers, model.write(name, prompts, draws, slot.schema, wanted), strict=True):
        text = _decoded(model.tokenizer, value.tokens)
        if value.finished:
            # What comes behind is to stand where it stood in training: behind the usual tokens of the value.
            answer.text, answer.ids = answer.text + text, answer.ids + tokens(model.tokenizer, text)
        else:
            answer.text, answer.ids, answer.cut = answer.text + text.rstrip("\ufffd"), answer.ids + value.tokens, True


def _decoded(tokenizer: Any, ids: list[int]) -> str:
    return tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def _keys(labels: Sequence[Any]) -> list[str]:
    """Labels as they are read; as JSON where two, such as 1 and "1", read alike."""
    plain = [label if isinstance(label, str) else compact(label) for label in labels]
    return plain if len(set(plain)) == len(plain) else [compact(label) for label in labels]
