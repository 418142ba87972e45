"""How likely each of a few continuations is: a prompt is read once for all, and those that may be it to their end."""

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

Tokens = Sequence[int]
# Most tokens of a key-value cache: 750 MB for the default base.
_MOST_CACHED = 16_384
# An option that began so much less likely than the likeliest is not read to its end: it counts as it began.
_NEGLIGIBLE = 1e-5


def likelihoods(model: Any, padding: int, prompts: Sequence[Tokens], options: Sequence[Tokens]) -> Tensor:
    """Probabilities of the options behind each prompt, over all their tokens: ``[prompts, options]``.

    Which is the likeliest is exact; the probabilities are those of reading all to the end, within 0.00001 per option.

    Args:
        model: Of transformers.
        padding: Any token; it is never looked at.
        prompts: Of one token or more.
        options: Of one token or more.

    Returns:
        Rows that add up to 1.
    """
    # What all options begin with changes nothing, and is read with the prompt.
    shared = _beginning(options)
    begun = [[*prompt, *options[0][:shared]] for prompt in prompts]
    rest = [list(option[shared:]) for option in options]
    # The cache is repeated for each option.
    each = len(options) * max(map(len, begun))
    sums = [_sums(model, padding, begun[part], rest) for part in parts(len(begun), each)]
    return torch.softmax(torch.cat(sums).double(), 1)


def parts(rows: int, each: int) -> list[slice]:
    """Which of so many rows are read at once, if each takes so many tokens of the key-value cache."""
    count = max(1, _MOST_CACHED // each)
    return [slice(start, start + count) for start in range(0, rows, count)]


def padded(prompts: Sequence[Tokens], padding: int, device: Any) -> tuple[Tensor, Tensor]:
    """Prompts one below the other, ends aligned, and a mask of where they are."""
    width = max(map(len, prompts))
    ids = [[padding] * (width - len(prompt)) + list(prompt) for prompt in prompts]
    mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def _beginning(options: Sequence[Tokens]) -> int:
    """How many tokens all options begin with; of each, one is left at least."""
    count = 0
    while all(len(option) > count + 1 and option[count] == options[0][count] for option in options):
        count += 1
    return count


def _sums(model: Any, padding: int, prompts: Sequence[Tokens], options: Sequence[Tokens]) -> Tensor:
    """Sums of the log-probabilities of an option's tokens; of a negligible one, of its first."""
    ids, mask = padded(prompts, padding, model.device)
    read = model(
        input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0), use_cache=True,
        logits_to_keep=1,
    )  # fmt: skip
    first = torch.tensor([option[0] for option in options], device=model.device)
    sums = torch.log_softmax(read.logits[:, -1].float(), 1)[:, first]
    unread = torch.tensor([len(option) > 1 for option in options], device=model.device).repeat(len(prompts), 1)
    while True:
        # Reading on makes an option less likely, never more: what began as negligible ends so.
        known = sums.masked_fill(unread, -math.inf).amax(1)
        likeliest = known.where(known.isfinite(), sums.amax(1))
        pairs = (unread & (sums > likeliest[:, None] + math.log(_NEGLIGIBLE))).nonzero()
        if not len(pairs):
            return sums
        at, which = pairs.T
        sums[at, which] += _rest(
            model, padding, copy.deepcopy(read.cache), mask, at, [options[each] for each in which.tolist()]
        )
        unread[at, which] = False


def _rest(model: Any, padding: int, cache: Any, mask: Tensor, at: Tensor, options: Sequence[Tokens]) -> Tensor:
    """Sums of the log-probabilities of an option's tokens after its first, each behind the prompt at a row."""
    rows, there = _filled(options, padding, model.device)
    cache.batch_select_indices(at)
    logits = model(
        input_ids=rows[:, :-1],
        attention_mask=torch.cat([mask[at], there[:, 1:]], 1),
        position_ids=mask.sum(1)[at][:, None] + torch.arange(rows.shape[1] - 1, device=model.device),
        cache=cache,
        use_cache=True,
    ).logits
    found = torch.log_softmax(logits.float(), 2).gather(2, rows[:, 1:, None])[:, :, 0]
    return (found * there[:, 1:]).sum(1)


def _filled(options: Sequence[Tokens], padding: int, device: Any) -> tuple[Tensor, Tensor]:
    """Options one below the other, beginnings aligned, and a mask of where they are."""
    width = max(map(len, options))
    rows = [[*option, *[padding] * (width - len(option))] for option in options]
    there = [[1] * len(option) + [0] * (width - len(option)) for option in options]
    return torch.tensor(rows, device=device), torch.tensor(there, device=device)
