"""What can be told of an aspect without knowing the answer: whether it is general enough."""

import re

from ...data.sentences import half_words

MOST_WORDS = 12
# Not the digits of a name such as CO2 or COVID-19.
_NUMBER = re.compile(r"(?<![A-Za-z\d-])\d+")


def is_generic(aspect: str, question: str) -> bool:
    """Whether an aspect names a side of the question instead of stating a part of the answer.

    It is refused where it is as long as a statement (more than 12 words), holds a number that the question lacks, only
    says the question again, or says nothing.

    Example:
        >>> [is_generic(a, "Why did Rome fall?") for a in ("economic causes", "sacked in 410", "Why did Rome fall")]
        [True, False, False]
    """
    return (
        half_words(aspect) <= 2 * MOST_WORDS
        and set(_NUMBER.findall(aspect)) <= set(_NUMBER.findall(question))
        and _letters(aspect) not in ("", _letters(question))
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
