"""Many calls of a language model, one for each record of a set, whose results are kept as they come."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

import dspy
from tqdm import tqdm

from ..data.construction.records import Asked, Results
from ..errors import AspectragError
from ..lms import explain
from ..optimizers.evaluation.pool import as_they_come
from .views.terminal import console, shown

A = TypeVar("A", bound=Asked)

# So many failed calls in a row, and the server is held to be gone: the other questions would fail as well.
_PATIENCE = 3


def work_through(
    asked: Sequence[A], results: Results, work: Callable[[A], dict[str, Any]], workers: int, doing: str, unit: str
) -> None:
    """Work on records as they come, put the results in order, and say which failed and why.

    Args:
        asked: The records.
        results: Where what comes out is written, one by one.
        work: Gives what a record gets; an ``AspectragError`` or a failed call costs this record alone.
        workers: How many are worked on at once.
        doing: What the progress bar says, such as ``annotating``.
        unit: What a record is, such as ``question``.

    Raises:
        dspy.LMError: The language model failed several times in a row.
    """
    failures: dict[str, str] = {}

    def attempt(one: A) -> dict[str, Any] | AspectragError | dspy.LMError:
        try:
            return work(one)
        except (AspectragError, dspy.LMError) as error:
            return error

    in_a_row = 0
    try:
        with closing(as_they_come(attempt, asked, workers)) as outcomes:
            for one, outcome in tqdm(outcomes, doing, len(asked), unit=unit, disable=None):
                if isinstance(outcome, dict):
                    results.add(one, outcome)
                else:
                    failures[one.id] = explain(outcome)
                in_a_row = in_a_row + 1 if isinstance(outcome, dspy.LMError) else 0
                if in_a_row == _PATIENCE and isinstance(outcome, dspy.LMError):
                    raise outcome
    finally:
        results.sort()
        for one in asked:
            if reason := failures.get(one.id):
                console(stderr=True).print(shown(f"! {one.id}: {reason}"), style="yellow")
