"""Coverage: how many of a question's aspects an answer covers, as a language model judges it."""

from statistics import fmean
from typing import Any

import dspy

from ...programs.blocks.concurrent import run_all
from ...programs.blocks.stage import StageError
from ...signatures.evaluating import JudgeCoverage
from .judge import Judged, ask
from .metric import Metric
from .reading import said

_WORTH = {"fully covered": 1.0, "partly covered": 0.5, "not covered": 0.0}
_JUDGE = dspy.Predict(JudgeCoverage)


def coverage(example: dspy.Example, prediction: dspy.Prediction) -> Judged | None:
    """The mean over the sub-questions: 1 where it is covered in full, a half where in part.

    One call for each sub-question, none for an answer that says nothing, which covers nothing. The measure is ours;
    Com-ROUGE (RichRAG, arXiv 2406.12566) asks the same of words.

    Returns:
        ``coverage``, over the sub-questions that the judge gave a verdict on, and absent where it gave none;
        ``coverage_failed``, the share that it gave none on; in ``detail`` the verdict on each sub-question. ``None``
        for a question without sub-questions.
    """
    parts = [part for part in example.get("sub_questions") or () if (part.get("question") or "").strip()]
    answer = said(prediction)
    if not parts:
        return None
    if not answer:
        return Judged({"coverage": 0.0, "coverage_failed": 0.0})

    def verdict(part: dict[str, Any]) -> dict[str, Any]:
        expected = next(iter(part.get("answers") or ()), "")
        given = {"question": example.question, "answer": answer, "aspect": part["question"], "expected": expected}
        told = {"aspect": part["question"], "verdict": None, "failure": None}
        try:
            return told | {"verdict": ask(_JUDGE, lambda out: out.coverage, **given)}
        except StageError as error:
            return told | {"failure": error.reason}

    verdicts = run_all(verdict, parts, "aspect")
    known = [_WORTH[each["verdict"]] for each in verdicts if each["verdict"]]
    columns = {"coverage": fmean(known) if known else None, "coverage_failed": 1 - len(known) / len(verdicts)}
    return Judged(columns, verdicts)


METRIC = Metric(
    "coverage",
    "how many of the sub-questions the answer covers",
    coverage,
    judged=True,
    gives=("coverage", "coverage_failed"),
)
