"""Words of questions, answers and passages, compared as what they say and not as they are written."""

import re
import unicodedata
from collections.abc import Sequence

# Ideographs and katakana, each a token; and those among ideographs and kana that carry grammar alone.
IDEOGRAPH = re.compile(r"[\u3005\u30a1-\u30fa\u30fc\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
PARTICLES = frozenset("的了在和与與及是对對于於之其等中有为為以而或")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_ENGLISH = """
the and for are was were has have had been being its his her hers him she they them their our your you who whom whose
which what when where why how that this these those with within without from into onto over under about after before
between during through against among across than then there here but not nor also can could may might must shall should
will would did does done all any both each few more most other others some such only own same very too out off upon per
via while because since until either neither
"""
FUNCTION_WORDS: frozenset[str] = frozenset(_ENGLISH.split())
# Latin, full-width, Arabic, Armenian and Greek.
QUESTION_MARKS = ("?", "？", "؟", "՞", ";")
# Shorter beginnings that two words share do not make them forms of one word.
STEM = 4


def tokens(text: str) -> list[str]:
    """Words as they are written, without punctuation; ideographs and kana one by one.

    Example:
        >>> tokens("Dürer's woodcuts (木刻)")
        ['Dürer', 'woodcuts', '木', '刻']
    """
    text = _POSSESSIVE.sub("", unicodedata.normalize("NFKC", text))
    for single in (IDEOGRAPH, _HIRAGANA):
        text = single.sub(r" \g<0> ", text)
    # Marks belong to the letters they follow: vowels of Hindi and Thai are such.
    return "".join(char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in text).split()


def joined(words: Sequence[str]) -> str:
    """Tokens such that one run is found within another as text; capitals make no difference.

    Example:
        >>> joined(["New", "York"]) in joined(tokens("In New York!")), joined(["York"]) in joined(tokens("Yorkshire"))
        (True, False)
    """
    return f" {' '.join(words)} ".casefold()


def is_content(word: str) -> bool:
    """Whether a word in lower case may carry meaning: longer than two letters, and no function word."""
    return len(word) > 2 and word not in FUNCTION_WORDS


def content_words(text: str) -> list[str]:
    """The words that carry the meaning, in lower case; numbers and ideographs among them.

    Example:
        >>> content_words("When did the No. 7 tram first run?")
        ['7', 'tram', 'first', 'run']
    """
    words = (word.casefold() for word in tokens(text))
    return [
        word
        for word in words
        if is_content(word) or word.isdigit() or (IDEOGRAPH.fullmatch(word) and word not in PARTICLES)
    ]


def holds(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase, as whole words and however both are written; a blank phrase is in none.

    Example:
        >>> holds("He lived in Saint-Denis.", "saint denis"), holds("A show.", "how")
        (True, False)
    """
    words = tokens(phrase)
    return bool(words) and joined(words) in joined(tokens(text))
