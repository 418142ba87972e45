"""Says in one line what is wrong with a language model and what to do about it."""

import re
import time
from dataclasses import dataclass
from typing import Any, Literal

import dspy
from dspy.utils import exceptions as failures

from ..errors import AspectragError, redact
from .patient import PatientLM

_TAG = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
# How LiteLLM and lm15 begin their messages; what follows is the server's.
_PREFIX = re.compile(
    r"^(?:\[[^\]]*\]\s*)?(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)(?::| -)\s*)*(?:\w+Exception - )?"
)
_LONGEST = 240


@dataclass(frozen=True)
class CheckResult:
    """What :func:`check` found.

    Attributes:
        ok: Whether the model answered as asked.
        seconds: How long it took.
        tokens: Tokens read and written, as far as the server counts them.
        message: One line: what works, or what does not.
        remedy: One line: what to do; empty when all is well.
    """

    ok: bool
    seconds: float
    tokens: int
    message: str
    remedy: str = ""


@dataclass(frozen=True)
class Problem:
    """A failure in words: what is wrong, and what to do."""

    message: str
    remedy: str


class _SkyColour(dspy.Signature):
    """Name the colour of the sky on a clear day."""

    place: str = dspy.InputField()
    colour: Literal["blue", "green"] = dspy.OutputField()
    reason: str = dspy.OutputField(desc="one short sentence")


def check(lm: dspy.LM) -> CheckResult:
    """Ask one tiny typed question, past the cache and without retries.

    Example:
        >>> check(dspy.LM("ollama_chat/qwen3:4b")).ok  # doctest: +SKIP
        True
    """
    probe = lm.copy(cache=False, num_retries=0)
    if isinstance(probe, PatientLM):
        probe.patience = 0
    schema = lm.supports_response_schema and "response_format" in lm.supported_params
    adapter = dspy.JSONAdapter() if schema else dspy.ChatAdapter(use_json_adapter_fallback=False)
    started = time.perf_counter()
    problem: Problem | None = None
    with dspy.track_usage() as usage, dspy.context(lm=probe, adapter=adapter):
        try:
            if not dspy.Predict(_SkyColour)(place="Paris").toDict():
                problem = _NOTHING  # LiteLLM lets an answer without choices pass
        except Exception as error:
            problem = diagnose(error)
    seconds = time.perf_counter() - started
    tokens = sum(int(counts.get("total_tokens") or 0) for counts in usage.get_total_tokens().values())
    if problem is not None:
        return CheckResult(False, seconds, tokens, problem.message, problem.remedy)
    return CheckResult(True, seconds, tokens, f"{lm.model} answers in the form asked for")


def explain(error: BaseException) -> str:
    """One line about a failed call: what is wrong and what to do. It never holds a key.

    Example:
        >>> explain(ValueError("no such thing")) != ""
        True
    """
    problem = diagnose(error)
    return f"{problem.message}: {problem.remedy}" if problem.remedy else problem.message


def diagnose(error: BaseException) -> Problem:
    """What went wrong and what to do, for any exception of a DSPy call."""
    ours = _ours(error)
    problem = Problem(str(ours), "") if ours is not None else _diagnose(error)
    return Problem(_clean(problem.message), _clean(problem.remedy))


def _diagnose(error: BaseException) -> Problem:
    if isinstance(error, failures.AdapterParseError):
        return _unreadable(error)
    said = _said(error)
    model = f"{model} " if (model := getattr(error, "model", None)) else ""
    if _unreachable(error, said):
        return Problem(f"no server answers for {model}({said})", "start the server, or correct api_base")
    status = getattr(error, "status", None)
    if (_TAG.search(str(error)) or "is not JSON" in said) and status not in _GATEWAY_DOWN:
        return Problem(
            f"what answers for {model}is not a language model but a web page or something else (HTTP {status})",
            "correct api_base (it often ends in /v1), or look at the proxy in between",
        )
    for kind, message, remedy in _KNOWN:
        if isinstance(error, kind):
            return Problem(
                message.format(model=model, said=said), remedy.format(key=_key_hint(error), wait=_wait(error))
            )
    if status == 404:
        return Problem(f"the server does not know {model}({said})", _WRONG_NAME)
    return Problem(f"the call to {model}failed: {said}", "ASPECTRAG_DEBUG=1 shows the whole error")


_NOTHING = Problem("the model answered with nothing", "raise max_tokens, or use another model")
_GATEWAY_DOWN = (502, 503, 504)
_WRONG_NAME = "correct the name of the model (ollama: pull it first), or api_base (it often ends in /v1)"
_KNOWN: tuple[tuple[type[BaseException], str, str], ...] = (
    (failures.LMNotConfiguredError, "{model}cannot be used: {said}", "{key}"),
    (failures.LMAuthError, "the server refuses the key for {model}({said})", "{key}"),
    (failures.LMBillingError, "the account for {model}has no credit ({said})", "add credit, or use another model"),
    (failures.LMRateLimitError, "too many requests for {model}(HTTP 429)", "{wait}, or use fewer threads"),
    (failures.ContextWindowExceededError, "the prompt is too long: {said}", "ask with fewer or shorter passages"),
    (failures.LMUnsupportedModelError, "the server does not know {model}({said})", _WRONG_NAME),
    (failures.LMTimeoutError, "{model}did not answer in time", "raise timeout, or use a smaller model"),
    (failures.LMTransportError, "{model}did not answer in time", "raise timeout, or use a smaller model"),
    (failures.LMUnsupportedFeatureError, "{model}cannot do what was asked: {said}", "use another model"),
    (failures.LMServerError, "the server of {model}failed ({said})", "try again later; look at the log of the server"),
)


def _unreadable(error: Any) -> Problem:
    if not (error.lm_response or "").strip():
        return _NOTHING
    return Problem(
        "the model did not keep to the form asked for",
        "use a larger model, or one whose server holds answers to a schema (json_schema = true)",
    )


def _unreachable(error: BaseException, said: str) -> bool:
    if isinstance(error, failures.LMTransportError):
        return "timed out" not in said or "connect" in said
    return isinstance(error, failures.LMServerError) and "Connection error" in said


def _said(error: Any) -> str:
    """The gist of a message, which may go on for a page."""
    first = str(getattr(error, "message", "") or error).strip().split("\n\n")[0]
    text = " ".join(_PREFIX.sub("", first).split())
    text = f"HTTP {error.status}" if _TAG.search(text) and getattr(error, "status", None) else text
    return (text if len(text) <= _LONGEST else text[:_LONGEST] + "…").rstrip(":") or type(error).__name__


def _key_hint(error: BaseException) -> str:
    names = getattr(error, "env_keys", ()) or ()
    return f"export a valid key as {' or '.join(names)}" if names else "name the variable with a valid key: api_key_env"


def _wait(error: BaseException) -> str:
    seconds = getattr(error, "retry_after", None)
    return f"wait {seconds:.0f} seconds" if seconds else "wait a moment"


def _ours(error: BaseException | None) -> AspectragError | None:
    """The package's own error, where it is the cause: it says already what to do."""
    while error is not None and not isinstance(error, AspectragError):
        error = error.__cause__
    return error


def _clean(text: str) -> str:
    """One line without keys."""
    return " ".join(redact(text).split())
