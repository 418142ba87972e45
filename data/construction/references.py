"""Answers of known worth to one question: what a judge ranks a new answer against.

Source: Typed-RAG (arXiv 2503.15879), section 4.1: up to 11 references, which are the gold answer, a better wording of
it and answers of three qualities by several models, labelled 3 to 0 by another. LINKAGE is the metric that uses them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .words import tokens

Meant = Literal["gold", "superior", "good", "flawed", "off-topic"]
LOWEST, HIGHEST = 0, 3
# References of one grade rank nothing.
_LEAST_GRADES = 2


class GradeError(ValueError):
    """Grades are of no use; the message says why, in one line."""


@dataclass(frozen=True)
class Draft:
    """An answer without a grade.

    Attributes:
        text: The answer.
        source: What wrote it: ``gold``, or a model.
        meant: How good it was meant to be; its grade is given without regard to this.
    """

    text: str
    source: str
    meant: Meant


def distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """Without blank ones, and those that say in the same words what an earlier one says.

    Example:
        >>> drafts = [Draft("Rain.", "gold", "gold"), Draft("rain", "a", "good"), Draft(" ", "a", "flawed")]
        >>> [draft.source for draft in distinct(drafts)]
        ['gold']
    """
    first: dict[tuple[str, ...], Draft] = {}
    for draft in drafts:
        if words := tokens(draft.text.casefold()):
            first.setdefault(tuple(words), draft)
    return list(first.values())


def graded(drafts: Sequence[Draft], grades: Sequence[int]) -> list[dict[str, Any]]:
    """References: the drafts with their grades, in their order; ties are allowed.

    Raises:
        GradeError: There is not one grade of 0 to 3 for each draft, or they are all the same.

    Example:
        >>> graded([Draft("Rain.", "gold", "gold"), Draft("Snow.", "a", "flawed")], [3, 0])[1]
        {'text': 'Snow.', 'label': 0, 'source': 'a', 'meant': 'flawed'}
    """
    if len(grades) != len(drafts):
        raise GradeError(f"{len(grades)} grades for {len(drafts)} answers")
    if wrong := [grade for grade in grades if not LOWEST <= grade <= HIGHEST]:
        raise GradeError(f"the grade {wrong[0]} is not one of {LOWEST} to {HIGHEST}")
    if len(set(grades)) < _LEAST_GRADES:
        raise GradeError(f"all {len(grades)} answers have the grade {grades[0]}" if grades else "no answers")
    return [
        {"text": draft.text, "label": grade, "source": draft.source, "meant": draft.meant}
        for draft, grade in zip(drafts, grades, strict=True)
    ]
