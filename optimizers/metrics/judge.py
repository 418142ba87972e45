"""The judge: the language model that metrics ask, with bounded retries."""

from collections.abc import Callable
from typing import Any, TypeVar

import dspy

from ...programs.blocks.stage import call_stage

Accepted = TypeVar("Accepted")

ROLE = "judge"
MAX_ATTEMPTS = 3


def ask(predictor: dspy.Module, accept: Callable[[dspy.Prediction], Accepted], **inputs: Any) -> Accepted:
    """Put a question to the judge: the language model of the role ``judge``, else the one in force.

    Raises:
        StageError: No attempt gave a verdict; metrics count such failures.
        dspy.LMError: The judge cannot be reached or refuses to answer.
    """
    # What optimizers learn from is DSPy's trace: a judge's verdicts are no demos of the program that is judged.
    with dspy.context(trace=[]):
        return call_stage(ROLE, predictor, accept, MAX_ATTEMPTS, **inputs)
