"""The generator: an answer from passages, cited, whatever the model says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from dspy import ContextWindowExceededError

from ...data.passages import Passage
from ...texts import encodable
from .adapter import answer_so_far
from .citations import cited, renumber, unmarked
from .fallbacks import fall_back
from .passages import fit, merge, numbered
from .stage import RejectedOutputError, StageError, call_stage, lm_of

_MARKS = re.compile(r"\[\[ ## \w+ ## \]\]")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of the question with its answer; citations in the answer point into its own ``passages``."""

    question: str
    answer: str
    passages: tuple[Passage, ...] = ()
    perspective: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        record = {"question": self.question, "answer": self.answer, "passages": [p.to_dict() for p in self.passages]}
        return {**record, "perspective": self.perspective} if self.perspective else record


def pooled(parts: Sequence[SubQuestion]) -> tuple[list[Passage], list[str]]:
    """One list of passages for all parts, and the answer of each part citing into that list."""
    passages = merge([part.passages for part in parts])
    return passages, [renumber(part.answer, part.passages, passages) for part in parts]


def generate(stage: str, predictor: dspy.Module, attempts: int, **inputs: Any) -> str:
    """Call an answering predictor; where its output never parses, what it said stands as the answer, flagged."""
    try:
        return call_stage(stage, predictor, _said, attempts, **inputs)
    except StageError as failed:
        words = _own_words(encodable(failed.text))
        fall_back(stage, f"{failed.reason}; " + ("the model's own words are kept" if words else "no answer"))
        return words


def answer_from(
    stage: str, predictor: dspy.Module, attempts: int, passages: Sequence[Passage], **inputs: Any
) -> tuple[str, list[Passage]]:
    """Answer from numbered passages, as many as the model's context window holds.

    Where the model still finds the prompt too long, the passages are halved and it is asked again, flagged.

    Returns:
        The answer, its citations checked against the passages, and the passages that the model was shown.

    Raises:
        dspy.ContextWindowExceededError: Even one passage is too much.
    """
    shown = fit(passages, inputs.get("question", ""), lm_of(stage))
    while True:
        try:
            answer = generate(stage, predictor, attempts, passages=numbered(shown), **inputs)
            return renumber(answer, shown, shown), shown
        except ContextWindowExceededError:
            if len(shown) <= 1:
                raise
            shown = shown[: len(shown) // 2]
            fall_back(stage, f"the prompt exceeds the context window; {len(shown)} passages are kept")


def _own_words(text: str) -> str:
    """What can be used of a reply that does not parse: its answer, or its text without the marks of the format."""
    words = answer_so_far(text) or ("" if text.lstrip().startswith("{") else _MARKS.sub("", text).strip())
    return "" if words in ("None", "null") else words


def _said(prediction: dspy.Prediction) -> str:
    answer = encodable(str(prediction.answer or "")).strip()
    if not unmarked(answer):
        raise RejectedOutputError("the answer is empty")
    return cited(answer, prediction.get("citations") or ())
