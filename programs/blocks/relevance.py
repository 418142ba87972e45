"""The relevance filter: of the passages that were found, those that a judge holds to help."""

from collections.abc import Sequence

import dspy

from ...data.passages import Passage
from .concurrent import run_all
from .fallbacks import fall_back
from .passages import fit, numbered
from .stage import RejectedOutputError, StageError, call_stage, lm_of


def relevant_each(
    stage: str, predictor: dspy.Predict, attempts: int, question: str, passages: Sequence[Passage]
) -> list[Passage]:
    """Judge every passage by a call of its own, all at once; one that gets no verdict is kept, flagged."""

    def judge(passage: Passage) -> bool:
        given = {"question": question, "title": passage.title, "passage": passage.text}
        try:
            return call_stage(stage, predictor, lambda out: bool(out.relevant), attempts, **given)
        except StageError as failed:
            fall_back(stage, f"{failed.reason}; the passage {passage.title or passage.id!r} is kept unjudged")
            return True

    verdicts = run_all(judge, passages, "passage")
    return [passage for passage, kept in zip(passages, verdicts, strict=True) if kept]


def relevant_together(
    stage: str, predictor: dspy.Predict, attempts: int, question: str, passages: Sequence[Passage]
) -> list[Passage]:
    """Judge all passages, as many as the context window holds, in one call; without verdicts all are kept, flagged."""
    shown = fit(passages, question, lm_of(stage, predictor))
    if not shown:
        return []

    def accept(out: dspy.Prediction) -> list[Passage]:
        numbers = set(out.relevant)
        kept = [passage for n, passage in enumerate(shown, 1) if n in numbers]
        # A 0 comes of verdicts in place of numbers: false and true count as 0 and 1.
        if (numbers and not kept) or (0 in numbers and numbers <= {0, 1}):
            raise RejectedOutputError(f"numbers {sorted(numbers)}, where {len(shown)} passages were shown")
        return kept

    try:
        return call_stage(stage, predictor, accept, attempts, passages=numbered(shown), question=question)
    except StageError as failed:
        fall_back(stage, f"{failed.reason}; the passages are kept unjudged")
        return list(passages)
