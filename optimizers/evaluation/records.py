"""An answer as a line of ``predictions.jsonl``, and the line as the prediction that metrics score."""

from collections.abc import Mapping
from typing import Any

import dspy

from ...data.passages import Passage
from ...programs.program import Result
from ...programs.trace import Trace, plain, verbatim
from .prices import cost_of


def answered(id: str, result: Result, trace: Trace, seconds: float) -> dict[str, Any]:
    """The record of a question that was answered."""
    return {"id": id, "error": None, **verbatim(result.toDict()), **_spent(trace, seconds)}


def failed(id: str, error: BaseException, trace: Trace, seconds: float) -> dict[str, Any]:
    """The record of a question that failed; what it had cost until then counts."""
    return {"id": id, "error": plain(f"{type(error).__name__}: {error}"), "answer": None, **_spent(trace, seconds)}


def _spent(trace: Trace, seconds: float) -> dict[str, Any]:
    return {"usage": trace.usage, "cost": cost_of(trace.usage_by_model()), "seconds": round(seconds, 4)}


def prediction_of(record: Mapping[str, Any]) -> dspy.Prediction:
    """The prediction that metrics score; an answer that is empty where the question failed."""
    passages = [
        Passage(p["id"], p["title"], p["text"], p.get("score"), p.get("meta") or {})
        for p in record.get("passages") or []
    ]
    return dspy.Prediction(
        **{
            "route": "", "citations": [], "steps": None, "stopped_by": None, "sub_questions": [], "fallbacks": [],
            **record, "answer": record.get("answer") or "", "passages": passages,
        }
    )  # fmt: skip
