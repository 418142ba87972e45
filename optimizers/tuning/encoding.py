"""A chat that ends with its answer, as tokens, of which those that the model has to find by itself are learnt."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...errors import AspectragError
from ...lms.local.slots import pieces, prompt_ids

# What torch leaves out of a loss.
IGNORED = -100
Chat = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Encoded:
    """A chat as tokens.

    Attributes:
        ids: Of all tokens.
        labels: The same where they are learnt, :data:`IGNORED` elsewhere.
    """

    ids: list[int]
    labels: list[int]


def encoded(tokenizer: Any, chat: Chat) -> Encoded:
    """Encode a chat just as the model will be asked it.

    Of an answer that is a JSON object only the values are learnt: names and braces are given when it is used. Another
    answer is learnt whole, with its end.

    Args:
        tokenizer: Of the base.
        chat: Messages with ``role`` and ``content``; the last is the answer.

    Raises:
        AspectragError: It is no such chat.
    """
    *asked, answer = chat or [{}]
    if answer.get("role") != "assistant" or not asked or not isinstance(answer.get("content"), str):
        raise AspectragError("an example to learn from must be a chat that ends with what the assistant says")
    ids = prompt_ids(tokenizer, asked)
    labels = [IGNORED] * len(ids)
    for given, learnt in _parts(answer["content"], tokenizer):
        for text, counts in ((given, False), (learnt, True)):
            tokens = tokenizer.encode(text, add_special_tokens=False) if text else []
            ids += tokens
            labels += tokens if counts else [IGNORED] * len(tokens)
    return Encoded(ids, labels)


def _parts(answer: str, tokenizer: Any) -> list[tuple[str, str]]:
    try:
        fields = json.loads(answer)
    except ValueError:
        fields = None
    return pieces(fields) if isinstance(fields, dict) and fields else [("", answer + tokenizer.eos_token)]


def batched(examples: Sequence[Encoded], padding: int) -> dict[str, Tensor]:
    """Put examples one below the other, ends aligned: what is learnt stands last.

    Returns:
        ``input_ids``, ``attention_mask``, ``position_ids`` and ``labels``, each ``[b, t]``.

    Example:
        >>> batched([Encoded([5], [5]), Encoded([1, 2], [-100, 2])], padding=0)["labels"].tolist()
        [[-100, 5], [-100, 2]]
    """
    width = max(len(example.ids) for example in examples)

    def padded(values: Sequence[int], with_: int) -> list[int]:
        return [with_] * (width - len(values)) + list(values)

    mask = torch.tensor([padded([1] * len(example.ids), 0) for example in examples])
    return {
        "input_ids": torch.tensor([padded(example.ids, padding) for example in examples]),
        "attention_mask": mask,
        "position_ids": (mask.cumsum(1) - 1).clamp(min=0),
        "labels": torch.tensor([padded(example.labels, IGNORED) for example in examples]),
    }
