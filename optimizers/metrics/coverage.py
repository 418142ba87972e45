"""Coverage: how many of a question's aspects an answer covers, as a language model judges it."""

from statistics import fmean
from typing import Any

import dspy

from ...programs.blocks.concurrent import run_all
from ...programs.blocks.stage import StageError
from ...signatures.evaluating import JudgeCoverage
from .judge import ask
from .metric import Metric
from .reading import said

_WORTH = {"fully covered": 1.0, "partly covered": 0.5, "not covered": 0.0}
_JUDGE = dspy.Predict(JudgeCoverage)


def coverage(example: dspy.Example, prediction: dspy.Prediction) -> dict[str, float | None] | None:
    """The mean over the sub-questions: 1 where it is covered in full, a half where in part.

    One call for each sub-question, none for an answer that says nothing, which covers nothing. The measure is ours;
    Com-ROUGE (RichRAG, arXiv 2406.12566) asks the same of words.

    Returns:
        ``coverage``, over the sub-questions that the judge gave a verdict on, and absent where it gave none;
        ``coverage_failed``, the share that it gave none on. ``None`` for a question without sub-questions.
    """
    parts = [part for part in example.get("sub_questions") or () if (part.get("question") or "").strip()]
    answer = said(prediction)
    if not parts:
        return None
    if not answer:
        return {"coverage": 0.0, "coverage_failed": 0.0}

    def worth(part: dict[str, Any]) -> float | None:
        expected = next(iter(part.get("answers") or ()), "")
        given = {"question": example.question, "answer": answer, "aspect": part["question"], "expected": expected}
        try:
            return ask(_JUDGE, lambda out: _WORTH[out.coverage], **given)
        except StageError:
            return None

    verdicts = run_all(worth, parts, "aspect")
    known = [verdict for verdict in verdicts if verdict is not None]
    return {"coverage": fmean(known) if known else None, "coverage_failed": 1 - len(known) / len(verdicts)}


METRIC = Metric(
    "coverage",
    "how many of the sub-questions the answer covers",
    coverage,
    judged=True,
    gives=("coverage", "coverage_failed"),
)
