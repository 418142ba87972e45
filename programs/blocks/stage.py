"""A stage: one predictor called with bounded retries, on the language model of its role."""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError

from .adapter import answer_left, is_cut_off
from .cancelling import stop_if_cancelled
from .formats import adapter_for

Accepted = TypeVar("Accepted")


class RejectedOutputError(Exception):
    """Raised by an ``accept`` function: the output has the right types and still is of no use.

    Example:
        >>> str(RejectedOutputError("a verdict without a reason"))
        'a verdict without a reason'
    """


class StageError(Exception):
    """No attempt gave a usable output; the program takes its simpler path.

    Attributes:
        stage: The stage's attribute name in its program.
        reason: Why the last attempt was refused.
        text: What the model said last, as text; may be empty.

    Example:
        >>> str(StageError("classify", "no type"))
        'classify: no type'
    """

    def __init__(self, stage: str, reason: str, text: str = "") -> None:
        super().__init__(f"{stage}: {reason}")
        self.stage, self.reason, self.text = stage, reason, text


def lm_of(stage: str, predictor: Any = None) -> dspy.BaseLM:
    """The language model of a stage: its predictor's own, that of the ``roles`` setting, or the one in force.

    with dspy.context(lm=large, roles={"classify": small}):
        program(question=...)
    """
    lm = getattr(predictor, "lm", None) or (dspy.settings.get("roles") or {}).get(stage) or dspy.settings.lm
    if lm is None:
        raise ValueError("no language model is set: dspy.configure(lm=aspectrag.lms.load('embedded'))")
    return lm


@contextmanager
def stage_context(stage: str, predictor: Any) -> Any:
    """The language model of the stage and the adapter that suits it; an adapter set by the caller stays.

    A model that was trained on one format understands no other, whatever the caller set for the rest.
    """
    lm = lm_of(stage, predictor)
    chosen = None if getattr(lm, "prompt", None) else dspy.settings.adapter
    with dspy.context(lm=lm, adapter=chosen or adapter_for(lm)):
        yield


def call_stage(
    stage: str,
    predictor: dspy.Module,
    accept: Callable[[dspy.Prediction], Accepted],
    attempts: int,
    **inputs: Any,
) -> Accepted:
    """Call a predictor until ``accept`` takes its output, at most ``attempts`` times.

    The first attempt runs with the model's own settings; later ones sample at temperature 1 under a fresh rollout id,
    since the same request would only bring the same answer, out of the cache. A long answer that was cut off is not
    asked for again: what there is of it comes with the error.

    Raises:
        StageError: No attempt was accepted; or the prompt exceeds the context window, which is then its cause.
        dspy.LMError: The model could not be reached or refused to answer; not a matter of what it said.
    """
    failure = StageError(stage, "no attempt was made")
    with stage_context(stage, predictor):
        for attempt in range(attempts):
            stop_if_cancelled()
            made = dspy.settings.trace if dspy.settings.trace is not None else []
            before = len(made)
            retry = {"config": {"rollout_id": attempt, "temperature": 1.0}} if attempt else {}
            try:
                return accept(predictor(**inputs, **retry))
            except dspy.ContextWindowExceededError as exc:
                raise StageError(stage, "the prompt exceeds the context window") from exc
            except AdapterParseError as exc:
                text = exc.lm_response or ""
                cut_off = is_cut_off(text)
                reason = "the output was cut off at max_tokens" if cut_off else "the output does not parse"
                failure = StageError(stage, reason, text)
                if cut_off and answer_left(text):
                    break  # asked again, it would be as long
            except RejectedOutputError as exc:
                failure = StageError(stage, str(exc))
                del made[before:]  # optimizers take what is in DSPy's trace for a good example
    raise failure
