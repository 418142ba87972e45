"""A chat that ends with its answer, as tokens, of which those that the model has to find by itself are learnt."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...errors import AspectragError
from ...lms.local.slots import harmless, pieces, prompt_ids, tokens

# What torch leaves out of a loss.
IGNORED = -100
# What the JSON of a number begins with, and of nothing else.
_NUMBER = "-0123456789"
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

    Of an answer that is a JSON object only the values are learnt: names and braces are given when it is used. A number
    may be how another begins, and is learnt with the token behind it. Another answer is learnt whole, with its end.

    Args:
        tokenizer: Of the base.
        chat: Messages with ``role`` and ``content``; the last is the answer.

    Raises:
        AspectragError: It is no such chat.
    """
    if not is_chat(chat):
        raise AspectragError("an example to learn from must be a chat that ends with what the assistant says")
    *asked, answer = chat
    ids = prompt_ids(tokenizer, asked)
    labels = [IGNORED] * len(ids)
    for given, learnt in _parts(answer["content"], tokenizer):
        ids += given + learnt
        labels += [IGNORED] * len(given) + learnt
    return Encoded(ids, labels)


def is_chat(chat: Any) -> bool:
    """Whether this is something said, and what the assistant says to it at the end.

    Example:
        >>> is_chat([{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]), is_chat(["Why?"])
        (True, False)
    """
    return (
        isinstance(chat, Sequence)
        and len(chat) > 1
        and all(isinstance(turn, Mapping) for turn in chat)
        and all(isinstance(turn.get(part), str) for turn in chat for part in ("role", "content"))
        and chat[-1]["role"] == "assistant"
    )


def _parts(answer: str, tokenizer: Any) -> list[tuple[list[int], list[int]]]:
    """What is given of an answer, and what is learnt behind it."""
    try:
        fields = json.loads(answer)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or not fields:
        if tokenizer.eos_token is None:
            raise AspectragError("the base has no token that ends a text, which it must learn: take another base")
        return [([], tokens(tokenizer, harmless(tokenizer, answer) + tokenizer.eos_token))]
    found: list[tuple[list[int], list[int]]] = []
    parts = pieces(fields)
    given = tokens(tokenizer, parts[0][0])
    for (_, value), after in zip(parts, [*(before for before, _ in parts[1:]), "}"], strict=True):
        behind = tokens(tokenizer, after)
        end = 1 if value[0] in _NUMBER else 0
        found.append((given, tokens(tokenizer, harmless(tokenizer, value)) + behind[:end]))
        given = behind[end:]
    return found


def batched(examples: Sequence[Encoded], padding: int, multiple: int = 1) -> dict[str, Tensor]:
    """Put examples one below the other, ends aligned: what is learnt stands last.

    Args:
        examples: Tokens, and which of them are learnt.
        padding: Token that short examples are filled up with.
        multiple: What the width is a multiple of.

    Returns:
        ``input_ids``, ``attention_mask``, ``position_ids`` and ``labels``, each ``[b, t]``.

    Example:
        >>> batched([Encoded([5], [5]), Encoded([1, 2], [-100, 2])], padding=0)["labels"].tolist()
        [[-100, 5], [-100, 2]]
    """
    width = -(-max(len(example.ids) for example in examples) // multiple) * multiple

    def padded(values: Sequence[int], with_: int) -> list[int]:
        return [with_] * (width - len(values)) + list(values)

    mask = torch.tensor([padded([1] * len(example.ids), 0) for example in examples])
    return {
        "input_ids": torch.tensor([padded(example.ids, padding) for example in examples]),
        "attention_mask": mask,
        "position_ids": (mask.cumsum(1) - 1).clamp(min=0),
        "labels": torch.tensor([padded(example.labels, IGNORED) for example in examples]),
    }
