"""When what a model wrote for a compound question is good enough to keep."""

import re
from collections.abc import Sequence

from ..sentences import half_words
from .words import QUESTION_MARKS, STEM, content_words, holds, joined, tokens

# Most words of an answer, of a question, and of what joining may add to the questions.
_ANSWER_WORDS, _QUESTION_WORDS, _ADDED_WORDS = 6, 30, 12
# What only a reader of the passage, or of an earlier question, could resolve.
_POINTING = frozenset(["he", "she", "it", "they", "him", "her", "them", "his", "hers", "this", "these", "those"])
_READING = re.compile(r"\b(?:the|this|that|given) (?:passage|text|document|excerpt|paragraph|context)\b", re.IGNORECASE)
_CLIP = 60


class QuestionError(ValueError):
    """A question is not fit for a benchmark; the message says why, in one line."""


def check_easy(question: str, answer: str, passage: str, entity: str) -> None:
    """Refuse a question that is not easily answered from a passage, or tells its answer.

    Source: HANRAG (arXiv 2509.09713), its compound benchmark: one easy question per document about the entity, whose
    answer of a few words is found in the document. What "easy" means to a program is ours.

    Args:
        question: One question.
        answer: A few words of the passage.
        passage: Text of the passage.
        entity: What it is about. The question names it, in part at least; or it names something else, and does not
            point to what was said elsewhere (*he*, *this*).

    Raises:
        QuestionError: It is refused; says why.

    Example:
        >>> check_easy("Where does the Danube rise?", "Donaueschingen", "It rises at Donaueschingen.", "Danube")
        >>> check_easy("Where does it rise?", "Donaueschingen", "It rises at Donaueschingen.", "Danube")
        Traceback (most recent call last):
        aspectrag.data.construction.checks.QuestionError: 'Where does it rise?' does not say what it is about
    """
    _check_form(question)
    if not tokens(answer):
        raise QuestionError("the answer is blank")
    if half_words(answer) > 2 * _ANSWER_WORDS:
        raise QuestionError(f"the answer {_quoted(answer)} has more than {_ANSWER_WORDS} words")
    if not holds(passage, answer):
        raise QuestionError(f"the answer {_quoted(answer)} is not in the passage")
    if holds(question, answer):
        raise QuestionError(f"{_quoted(question)} contains its answer {_quoted(answer)}")
    if half_words(question) > 2 * _QUESTION_WORDS:
        raise QuestionError(f"{_quoted(question)} has more than {_QUESTION_WORDS} words: it is not easy")
    if not (_names(question, entity) or _stands_alone(question)):
        raise QuestionError(f"{_quoted(question)} does not say what it is about")


def check_joined(text: str, questions: Sequence[str], answers: Sequence[str]) -> None:
    """Refuse a compound question that lost something of its parts, or tells what one of them asks for.

    Every word of a part that carries meaning must be in the whole, in a form of it (one begins with the other, 4
    letters at least): *sink* is not found in *sank*, which is refused although it is the same. Numbers too.

    Args:
        text: The compound question.
        questions: Its parts.
        answers: An answer to each.

    Raises:
        QuestionError: It is refused; says why.

    Example:
        >>> parts = ["When was the Titanic built?", "Where did the Titanic sink?"]
        >>> check_joined("When was the Titanic built, and where did it sink?", parts, ["1911", "the Atlantic"])
        >>> check_joined("When was the Titanic built?", parts, ["1911", "the Atlantic"])
        Traceback (most recent call last):
        aspectrag.data.construction.checks.QuestionError: 'sink' of 'Where did the Titanic sink?' is lost
    """
    _check_form(text)
    whole = {word.casefold() for word in tokens(text)}
    for question in questions:
        for word in content_words(question):
            if not any(_same(word, other) for other in whole):
                raise QuestionError(f"{word!r} of {_quoted(question)} is lost")
    asked = joined([word for question in questions for word in tokens(question)])
    for answer in answers:
        if holds(text, answer) and joined(tokens(answer)) not in asked:
            raise QuestionError(f"{_quoted(text)} tells the answer {_quoted(answer)}")
    if half_words(text) > sum(map(half_words, questions)) + 2 * _ADDED_WORDS:
        raise QuestionError(f"it has more than {_ADDED_WORDS} words beyond those of its parts")


def _check_form(question: str) -> None:
    if not tokens(question):
        raise QuestionError("the question is blank")
    if "\n" in question.strip():
        raise QuestionError("the question has more than one line")
    if not question.rstrip("\"'”’»」』)） ").endswith(QUESTION_MARKS):
        raise QuestionError(f"{_quoted(question)} does not end as a question")
    if found := _READING.search(question):
        raise QuestionError(f"{_quoted(question)} speaks of {found[0].lower()!r}, which nobody sees who is asked")


def _names(question: str, entity: str) -> bool:
    asked = set(content_words(question))
    return holds(question, entity) or any(len(word) > 2 and word in asked for word in content_words(entity))


def _stands_alone(question: str) -> bool:
    words = tokens(question)
    named = any(word[0].isupper() or word.isdigit() for word in words[1:] if len(word) > 1)
    return named and not any(word.casefold() in _POINTING for word in words)


def _same(word: str, other: str) -> bool:
    if word == other:
        return True
    return min(len(word), len(other)) >= STEM and (word.startswith(other) or other.startswith(word))


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f"'{text if len(text) <= _CLIP else text[:_CLIP] + '…'}'"
