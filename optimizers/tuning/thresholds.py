"""From which probability a verdict is taken for true."""

from collections.abc import Sequence
from typing import Any

import dspy
import numpy as np

from ...programs.blocks.formats import adapter_for
from ...programs.trace import record


def probabilities(predictor: Any, field: str, examples: Sequence[dspy.Example]) -> list[float]:
    """How likely a predictor holds a verdict to be true, for each example.

    Args:
        predictor: With a local model.
        field: The output that is the verdict.
        examples: With its inputs.
    """
    found = []
    for example in examples:
        with dspy.context(adapter=adapter_for(predictor.lm)), record() as trace:
            predictor(**example.inputs())
        (call,) = (step for step in trace.walk() if step.kind == "lm")
        found.append(call.outputs[0]["probabilities"][field]["true"])
    return found


def best_threshold(chances: Sequence[float], truth: Sequence[bool]) -> float:
    """The threshold with the highest F1; half way between two probabilities, of equal ones the nearest to 0.5.

    Args:
        chances: Probabilities of being true.
        truth: What is true.

    Example:
        >>> best_threshold([0.1, 0.2, 0.3, 0.9], [False, True, True, True])
        0.15
    """
    order = np.argsort(chances)
    values, right = np.asarray(chances, float)[order], np.asarray(truth, bool)[order]
    if not right.any():
        return 0.5
    # With the i lowest taken for false: what is found among the others, and what is missed.
    found = right.sum() - np.concatenate([[0], right.cumsum()[:-1]])
    taken = len(values) - np.arange(len(values))
    scores = 2 * found / (taken + right.sum())
    below = np.concatenate([[0.0], values[:-1]])
    # Between equal probabilities there is no threshold.
    cuts, scores = ((below + values) / 2)[values > below], scores[values > below]
    if not len(cuts):
        return 0.5
    best = [cut for cut, score in zip(cuts, scores, strict=True) if score == scores.max()]
    # Probabilities have six digits: what lies between two has one more.
    return round(float(min(best, key=lambda cut: abs(cut - 0.5))), 7)
