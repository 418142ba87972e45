"""What metrics read of a question and of an answer to it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import dspy

from ...data.passages import Passage
from ...programs.blocks.citations import unmarked
from ...texts import encodable

Wanted = TypeVar("Wanted")


def said(prediction: dspy.Prediction) -> str:
    """The answer without its citations: their numbers are no words of it.

    Example:
        >>> said(dspy.Prediction(answer="The Vistula [2]."))
        'The Vistula.'
    """
    return unmarked(encodable(prediction.get("answer") or ""))


def answers_of(example: dspy.Example) -> list[str]:
    """All that count as right."""
    return list(example.get("answers") or ())


def parts_answers(example: dspy.Example) -> list[list[str]]:
    """The answers of each sub-question that has some."""
    parts = [
        [each for each in part.get("answers") or () if each.strip()] for part in example.get("sub_questions") or ()
    ]
    return [part for part in parts if part]


def sub_answers_of(example: dspy.Example) -> list[str]:
    """The first answer of each sub-question that has one."""
    return [first for first, *_ in parts_answers(example)]


def references_of(example: dspy.Example) -> list[str]:
    """Whole answers to compare with: the right ones, else the sub-answers joined.

    Example:
        >>> references_of(dspy.Example(answers=[], sub_questions=[{"answers": ["Cheap."]}, {"answers": ["Dirty."]}]))
        ['Cheap. Dirty.']
    """
    return answers_of(example) or [joined for joined in [" ".join(sub_answers_of(example))] if joined]


def passages_of(prediction: dspy.Prediction) -> list[Passage]:
    """The passages that the answer was written from, best first; each once, where it first stands."""
    by_id: dict[str, Passage] = {}
    for passage in prediction.get("passages") or ():
        by_id.setdefault(passage.id, passage)
    return list(by_id.values())


def against(
    expected: Callable[[dspy.Example], Sequence[Wanted]], measure: Callable[[str, Sequence[Wanted]], float]
) -> Callable[[dspy.Example, dspy.Prediction], float | None]:
    """The score of an answer by a measure of texts; ``None`` for a question of which nothing is expected."""

    def score(example: dspy.Example, prediction: dspy.Prediction) -> float | None:
        wanted = expected(example)
        return measure(said(prediction), wanted) if wanted else None

    return score
