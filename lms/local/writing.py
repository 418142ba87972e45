"""Values that are being written, several at once: each under its grammar, with its own temperature, seed and limit."""

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

_SEEDS = 2**64  # as many as torch knows


@dataclass(frozen=True)
class Draw:
    """How the tokens of one answer are drawn.

    Attributes:
        limit: Most tokens.
        temperature: 0 takes the likeliest.
        top_p: Only the likeliest tokens that make up this share are drawn from.
        seed: The same gives the same, whatever is written beside it; None gives something else each time.
    """

    limit: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None

    def generator(self) -> torch.Generator:
        """A source of chance."""
        return torch.Generator().manual_seed((secrets.randbits(31) if self.seed is None else self.seed) % _SEEDS)


@dataclass
class Written:
    """One value on its way.

    Attributes:
        draw: How its tokens are drawn.
        matcher: Of its grammar; None where it is free text.
        tokens: So far, without the one that ends it.
        finished: Whether it ended by itself.
    """

    draw: Draw
    matcher: Any = None
    tokens: list[int] = field(default_factory=list)
    finished: bool = False

    def __post_init__(self) -> None:
        self._chance = self.draw.generator()

    @property
    def done(self) -> bool:
        """Whether nothing is added any more."""
        return self.finished or len(self.tokens) >= self.draw.limit

    def choose(self, scores: Tensor, end: int) -> int:
        """The next token, by the scores of all; ``end`` ends the value."""
        if self.matcher is not None:
            bias = torch.frombuffer(bytearray(self.matcher.compute_logit_bias()), dtype=torch.uint8)
            beyond = ~bias.bool()[: len(scores)]
            held = scores.masked_fill(beyond, -math.inf)
            if self.matcher.is_accepting():
                # A number is over where the model would write what no number holds: its end was never learnt.
                held[end] = max(scores[end], scores[beyond].max())
            scores = held
        if not self.draw.temperature:
            return int(scores.argmax())
        # From the best score down, and with room for what a temperature near 0 makes of it.
        heated = (scores - scores.max()).double() / self.draw.temperature
        chances, order = torch.softmax(heated, 0).sort(descending=True)
        chances[chances.cumsum(0) - chances >= self.draw.top_p] = 0
        return int(order[torch.multinomial(chances, 1, generator=self._chance)])

    def add(self, token: int, ends: Sequence[int]) -> None:
        """Take in a token; one of ``ends`` is not part of the value."""
        if token in ends:
            self.finished = True
            return
        self.tokens.append(token)
        if self.matcher is not None:
            self.finished = not self.matcher.consume_token(token) or self.matcher.is_stopped()


class Writer:
    """Tells ``generate`` of transformers which token is next, as its logits processor, and when to stop.

    Args:
        values: One for each row.
        ends: Tokens that end a text.
        wanted: Whether anybody still waits for them.
    """

    def __init__(self, values: Sequence[Written], ends: Sequence[int], wanted: Callable[[], bool]) -> None:
        self._values, self._ends, self._wanted = values, ends, wanted

    def process(self, _: Tensor, scores: Tensor) -> Tensor:
        """Scores that leave one token to each row."""
        forced = torch.full_like(scores, -math.inf)
        for row, value in enumerate(self._values):
            token = self._ends[0] if value.done else value.choose(scores[row].float().cpu(), self._ends[0])
            forced[row, token] = 0
        return forced

    def stop(self, ids: Tensor, *_: Any, **__: Any) -> Tensor:
        """Take in the tokens that were chosen; which rows are done."""
        for value, token in zip(self._values, ids[:, -1].tolist(), strict=True):
            if not value.done:
                value.add(token, self._ends)
        over = not self._wanted()
        return torch.tensor([over or value.done for value in self._values], device=ids.device)
