"""How many tokens a text has for a language model: counted where the tokenizer is at hand, estimated elsewhere."""

import math
import re
from collections.abc import Callable

import dspy

# One token for about every character in these scripts: ideographs, kana, hangul.
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_ASCII_PER_TOKEN = 3.5
_OTHER_PER_TOKEN = 1.5


def count(lm: dspy.BaseLM, text: str) -> int:
    """Tokens of ``text``: exact for a model in this process, :func:`estimate` for one behind a server.

    Raises:
        AspectragError: The model is not there and cannot be fetched.
    """
    # An engine with several models counts for each of them in its own way: there the model is asked.
    counts = lm if hasattr(lm, "count_tokens") else getattr(lm, "engine", None)
    counter: Callable[[str], int] | None = getattr(counts, "count_tokens", None)
    return counter(text) if counter is not None else estimate(text)


def estimate(text: str) -> int:
    """A guess from the characters, without a tokenizer.

    One token per ideograph, kana or hangul syllable, per 3.5 characters of ASCII, and per 1.5 of other scripts. Current
    tokenizers stay within a factor of two of it for prose; for text they were hardly trained on it can be too low.

    Example:
        >>> estimate("The capital of France"), estimate("法国的首都")
        (6, 5)
    """
    wide = len(_WIDE.findall(text))
    plain = sum(map(str.isascii, text))
    return math.ceil(wide + plain / _ASCII_PER_TOKEN + (len(text) - wide - plain) / _OTHER_PER_TOKEN)
