"""The answers to the parts of a question, put together into one."""

from collections.abc import Sequence
from typing import Any

import dspy

from ...data.passages import Passage
from ...signatures.merging import PerspectiveAnswer, SubAnswer
from .answering import SubQuestion, generate, pooled
from .citations import citations, cited, renumber
from .fallbacks import fall_back
from .ignorance import is_unknown


def merged(
    stage: str, predictor: dspy.Predict, attempts: int, parts: Sequence[SubQuestion], field: str, **inputs: Any
) -> tuple[str, list[Passage]]:
    """Merge the answers to the parts; where that cannot be done, they stand one after another, flagged.

    Args:
        stage: The stage's attribute name in its program.
        predictor: Writes the merged ``answer``.
        attempts: Calls of the predictor before its simpler path is taken.
        parts: What was asked and answered.
        field: The predictor's input for the parts.
        inputs: Its other inputs.

    Returns:
        The answer, and the passages of all parts, into which its citations point.
    """
    passages, answers = pooled(parts)
    told = [_told(part, answer) for part, answer in zip(parts, answers, strict=True)]
    try:
        answer = generate(stage, predictor, attempts, **{field: told}, **inputs)
    except dspy.ContextWindowExceededError:
        answer = ""
        fall_back(stage, "the prompt exceeds the context window; the answers to the parts are given as they are")
    answer = answer or "\n\n".join(filter(None, answers))
    # A merged answer that lost its citations still rests on what its parts rest on.
    rests_on = () if is_unknown(answer) else {c.number for text in answers for c in citations(text, passages)}
    return cited(renumber(answer, passages, passages), rests_on), passages


def _told(part: SubQuestion, answer: str) -> SubAnswer | PerspectiveAnswer:
    if part.perspective:
        return PerspectiveAnswer(perspective=part.perspective, answer=answer)
    return SubAnswer(question=part.question, answer=answer)
