"""The generator: an answer from passages, cited, whatever the model says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from dspy import ContextWindowExceededError

from ...data.passages import Passage
from ...signatures import (
    AggregateAnswers,
    AnswerDirectly,
    AnswerFromPassages,
    BriefAggregateAnswers,
    BriefAnswerDirectly,
    BriefAnswerFromPassages,
)
from ...texts import encodable
from .adapter import answer_left
from .citations import cited, joined, renumber, unmarked
from .fallbacks import fall_back
from .ignorance import is_unknown
from .passages import fit, merge, numbered
from .stage import RejectedOutputError, StageError, call_stage, lm_of


@dataclass(frozen=True)
class Style:
    """The signatures that write answers of one length."""

    from_passages: type[dspy.Signature]
    directly: type[dspy.Signature]
    aggregate: type[dspy.Signature]


STYLES = {
    "full": Style(AnswerFromPassages, AnswerDirectly, AggregateAnswers),
    "brief": Style(BriefAnswerFromPassages, BriefAnswerDirectly, BriefAggregateAnswers),
}
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
    """Call an answering predictor.

    Where its output never parses, what it said stands as the answer, flagged; so does an answer that says that the
    model does not know.

    Raises:
        dspy.ContextWindowExceededError: The prompt is too long; the caller may have less to give.
    """
    try:
        answer = call_stage(stage, predictor, said, attempts, **inputs)
    except StageError as failed:
        if isinstance(failed.__cause__, ContextWindowExceededError):
            raise failed.__cause__ from None
        answer = _own_words(encodable(failed.text))
        fall_back(stage, f"{failed.reason}; " + ("the model's own words are kept" if answer else "no answer"))
    if is_unknown(answer):
        fall_back(stage, f"the model says that it does not know: {unmarked(answer)}")
    return answer


def answer_from(
    stage: str, predictor: dspy.Module, attempts: int, passages: Sequence[Passage], **inputs: Any
) -> tuple[str, list[Passage]]:
    """Answer from numbered passages, as many as the model's context window holds.

    Where the model still finds the prompt too long, the passages are halved and it is asked again, flagged; a passage
    that is too long on its own is left out.

    Returns:
        The answer, its citations checked against the passages, and the passages that the model was shown.

    Raises:
        dspy.ContextWindowExceededError: Each passage is too much.
    """
    if not passages:
        fall_back("retrieve", "nothing was found; answered without passages")
    left = list(passages)
    shown = fit(passages, inputs.get("question", ""), lm_of(stage, predictor))
    while True:
        try:
            answer = generate(stage, predictor, attempts, passages=numbered(shown), **inputs)
            return renumber(answer, shown, shown), shown
        except ContextWindowExceededError:
            if len(shown) > 1:
                shown = shown[: len(shown) // 2]
                fall_back(stage, f"the prompt exceeds the context window; {len(shown)} passages are kept")
                continue
            left = left[left.index(shown[0]) + 1 :] if shown else []
            if not left:
                raise
            fall_back(
                stage, f"the passage {shown[0].title or shown[0].id!r} exceeds the context window; the next is used"
            )
            shown = left[:1]


def _own_words(text: str) -> str:
    """What can be used of a reply that does not parse: its answer, or its text without the marks of the format."""
    words = answer_left(text) or ("" if text.lstrip().startswith(("{", "[{")) else _MARKS.sub("", text).strip())
    # A gateway's page is nobody's answer.
    page = words[:200].lstrip().lower().startswith(("<!doctype html", "<html"))
    return "" if page or words in ("None", "null") else words


def said(prediction: dspy.Prediction) -> str:
    """The ``answer`` of a prediction, cited; or its ``sentences``, each with the citations it came with.

    Raises:
        RejectedOutputError: It is empty.
    """
    if "sentences" in prediction:
        answer = joined((each.sentence, each.passages) for each in prediction.sentences)
    else:
        answer = encodable(str(prediction.answer or "")).strip()
    if not unmarked(answer):
        raise RejectedOutputError("the answer is empty")
    return cited(answer, prediction.get("citations") or ())
