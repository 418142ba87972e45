"""A long answer cut into parts, one per facet of its question: when such a cut is good enough to train and test on.

Source: RichRAG (arXiv 2406.12566), section 4.1 and its annotation seed prompt: 2 to 7 facets that are general, follow
from the question alone and hold nothing of the answer; the parts follow each other as in the answer and restore it.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ..sentences import half_words, sentence_spans
from .words import FUNCTION_WORDS, IDEOGRAPH, PARTICLES, STEM, is_content, joined, tokens

LEAST, MOST = 2, 7
# In words; what is longer describes one answer. Two characters of Chinese or Japanese are a word.
MOST_WORDS = 12
# From where on a run of words that facet and answer share is held to be copied, and how many of its words must be new.
_RUN_WORDS, _NEW_WORDS = 3, 2
# The same in characters, of Chinese and Japanese.
_NEW_CHARACTERS = 5
_CLIP = 60

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class FacetError(ValueError):
    """The parts are no annotation of the answer; the message says why, in one line."""


@dataclass(frozen=True)
class FacetPart:
    """A facet of a question, and the part of a long answer that is about it.

    Attributes:
        facet: A general phrase, such as ``causes``.
        sub_answer: A segment of the answer.
    """

    facet: str
    sub_answer: str


def check_facets(question: str, answer: str, parts: Sequence[FacetPart]) -> None:
    """Refuse parts that are not an annotation of the answer.

    Parts restore the answer when, joined in their order, they are its text but for blanks. A facet leaks when it holds
    something that the answer tells and the question does not:

    - a number of the answer;
    - a name: a capitalised word that the answer never writes in lower case, and not only where a sentence begins; or
      two such words in a row, however the facet writes them;
    - a copied phrase: a run of at least 3 words of the answer, 2 of which are new and no function words, or a run of
      the answer with at least 5 characters of Chinese or Japanese that are new and no particles.

    A single common word may well occur in the answer too: ``causes`` or ``economic effects`` leak nothing. A word is
    new if no word of the question is a form of it (one begins with the other, 4 letters at least); a character, if
    none of the pairs it stands in is in the question. What this cannot see: names in scripts without capitals, where
    they are shorter than a copied phrase, and what is said in other words. In German, where nouns have capitals, it
    refuses more than it must.

    Args:
        question: The question.
        answer: The long answer.
        parts: Facets and segments, in order.

    Raises:
        FacetError: There are fewer than 2 or more than 7 parts; a facet or segment is blank; a facet is there twice,
            has more than 12 words, or leaks; the segments do not restore the answer, or only in another order.

    Example:
        >>> answer = "Trade had collapsed. Prices rose for a decade."
        >>> causes = FacetPart("causes", "Trade had collapsed.")
        >>> check_facets("Why did it end?", answer, [causes, FacetPart("effects", "Prices rose for a decade.")])
        >>> leak = FacetPart("why prices rose for a decade", "Prices rose for a decade.")
        >>> check_facets("Why did it end?", answer, [causes, leak])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        aspectrag.data.construction.facets.FacetError: the facet 'why prices rose for a decade' tells what only ...
    """
    if not LEAST <= len(parts) <= MOST:
        raise FacetError(f"{len(parts)} facets, not {LEAST} to {MOST}")
    seen: set[str] = set()
    for number, part in enumerate(parts, 1):
        key = " ".join(tokens(part.facet.casefold()))
        if not key:
            raise FacetError(f"facet {number} is blank")
        if not part.sub_answer.strip():
            raise FacetError(f"the part of {_quoted(part.facet)} is blank")
        if key in seen:
            raise FacetError(f"the facet {_quoted(part.facet)} is there twice")
        if half_words(part.facet) > 2 * MOST_WORDS:
            raise FacetError(f"the facet {_quoted(part.facet)} has more than {MOST_WORDS} words: it is not general")
        seen.add(key)
    _check_parts(answer, [part.sub_answer for part in parts])
    leaks = _Leaks(question, answer)
    for part in parts:
        if leak := leaks.of(part.facet):
            raise FacetError(f"the facet {_quoted(part.facet)} tells what only the answer does: {_quoted(leak)}")


def _check_parts(answer: str, parts: Sequence[str]) -> None:
    # Blanks between parts belong to neither, and Chinese has none: they are left out of the comparison.
    whole, bare = _bare(answer), [_bare(part) for part in parts]
    if "".join(bare) == whole:
        return
    if _restores(whole, bare):
        raise FacetError("the parts are not in the order of the answer")
    raise FacetError("the parts, joined, are not the answer")


def _restores(whole: str, parts: Sequence[str]) -> bool:
    """Whether some order of the parts gives the whole; there are few of them."""
    if not parts:
        return not whole
    return any(
        whole.startswith(part) and _restores(whole[len(part) :], [*parts[:place], *parts[place + 1 :]])
        for place, part in enumerate(parts)
    )


class _Leaks:
    """What an answer tells and its question does not."""

    def __init__(self, question: str, answer: str) -> None:
        asked = tokens(question)
        self._asked = {token.casefold() for token in asked}
        self._question = joined(asked)
        self._answer = joined(tokens(answer))
        self._numbers = _numbers(answer) - _numbers(question)
        self._names = {name for name in _names(answer) if self._is_new(name)}

    def of(self, facet: str) -> str:
        """The first thing that a facet tells; empty where it tells nothing."""
        words = tokens(facet)
        if numbers := _numbers(facet) & self._numbers:
            return min(numbers)
        for word in words:
            if word.casefold() in self._names and not word.islower():
                return word
        for start in range(len(words)):
            for end in range(start + 2, len(words) + 1):
                if joined(words[start:end]) not in self._answer:
                    break
                if self._is_copied(words, start, end):
                    return ("" if IDEOGRAPH.fullmatch(words[start]) else " ").join(words[start:end])
        return ""

    def _is_copied(self, words: Sequence[str], start: int, end: int) -> bool:
        run = [word.casefold() for word in words[start:end]]
        if sum(word in self._names for word in run) > 1:
            return True
        new = sum(is_content(word) and self._is_new(word) for word in run)
        if len(run) >= _RUN_WORDS and new >= _NEW_WORDS:
            return True
        return sum(self._is_new_character(words, place) for place in range(start, end)) >= _NEW_CHARACTERS

    def _is_new(self, word: str) -> bool:
        return not any(
            word == asked or (min(len(word), len(asked)) >= STEM and (asked.startswith(word) or word.startswith(asked)))
            for asked in self._asked
        )

    def _is_new_character(self, words: Sequence[str], place: int) -> bool:
        if not IDEOGRAPH.fullmatch(words[place]) or words[place] in PARTICLES:
            return False
        pairs = (words[place - 1 : place + 1] if place else [], words[place : place + 2])
        return not any(len(pair) > 1 and joined(pair) in self._question for pair in pairs)


def _names(answer: str) -> set[str]:
    """The words that are capitalised wherever they stand, and not only at the beginnings of sentences."""
    capitalised: set[str] = set()
    common: set[str] = set(FUNCTION_WORDS)
    for start, end in sentence_spans(answer):
        for place, word in enumerate(tokens(answer[start:end])):
            if word.islower():
                common.add(word.casefold())
            elif place and len(word) > 1 and any(map(str.isupper, word)):
                capitalised.add(word.casefold())
    return capitalised - common


def _numbers(text: str) -> set[str]:
    return {re.sub("[.,]", "", number) for number in _NUMBER.findall(unicodedata.normalize("NFKC", text))}


def _bare(text: str) -> str:
    return "".join(text.split())


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f"'{text if len(text) <= _CLIP else text[:_CLIP] + '…'}'"
