"""The judge: the language model that metrics ask, with bounded retries."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import dspy

from ...programs.blocks.stage import call_stage

Accepted = TypeVar("Accepted")

ROLE = "judge"
MAX_ATTEMPTS = 3


class Judged(dict[str, float | None]):
    """The columns of a judged score, with the verdicts that they are made of.

    Attributes:
        detail: A JSON-ready record of each verdict, which an evaluation keeps beside the columns; ``failure`` says why
            there is none, and ``scores`` what the verdict alone would score, where it is one of several draws.

    Example:
        >>> Judged({"good": 1.0}, [{"verdict": "good", "failure": None}])
        {'good': 1.0}
    """

    def __init__(self, columns: Mapping[str, float | None], detail: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__(columns)
        self.detail = [dict(verdict) for verdict in detail]


def ask(predictor: dspy.Module, accept: Callable[[dspy.Prediction], Accepted], **inputs: Any) -> Accepted:
    """Put a question to the judge: the language model of the role ``judge``, else the one in force.

    Raises:
        StageError: No attempt gave a verdict; metrics count such failures.
        dspy.LMError: The judge cannot be reached or refuses to answer.
    """
    # What optimizers learn from is DSPy's trace: a judge's verdicts are no demos of the program that is judged.
    with dspy.context(trace=[]):
        return call_stage(ROLE, predictor, accept, MAX_ATTEMPTS, **inputs)
