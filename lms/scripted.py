"""A language model that answers what a function says: for tests and benchmarks, deterministic under threads."""

import asyncio
import json
import re
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import dspy
import pydantic
from dspy.lm15 import (
    Message,
    Request,
    Response,
    StreamDeltaEvent,
    StreamEndEvent,
    StreamStartEvent,
    TextDelta,
    TextPart,
    Usage,
)

from .prompts import Asked, Format, asked

StreamEvent = StreamStartEvent | StreamDeltaEvent | StreamEndEvent
_WORD = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True)
class ScriptedCall:
    """One call to the scripted model.

    Attributes:
        fields: Names of the output fields asked for, in order; empty for a prompt that no adapter wrote.
        inputs: Values of the input fields, as the prompt shows them.
        prompt: The whole prompt: system text and messages.
        index: How many calls came before this one.
        request: The request itself, with its generation parameters.
    """

    fields: tuple[str, ...]
    inputs: dict[str, str]
    prompt: str
    index: int
    request: Request


Answer = dict[str, Any] | str | Exception
Reply = Callable[[ScriptedCall], Answer] | Mapping[str, Any]


class ScriptedEngine:
    """A DSPy engine whose answers come from ``reply``.

    The answer is chosen by what is asked and not by the order of calls, so threads change nothing.

    Attributes:
        calls: Every call so far, in order of arrival.

    Example:
        >>> engine = ScriptedEngine(lambda call: {"answer": "Rome." if "Italy" in call.prompt else "I do not know."})
        >>> engine.calls
        []
    """

    supports_response_schema = False
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"temperature", "top_p", "max_tokens", "stop", "seed"})

    def __init__(self, reply: Reply, latency: float = 0.0) -> None:
        """Wrap a reply.

        Args:
            reply: Called with each call; gives field values (rendered in the format of the adapter in use), the raw
                text of the completion, or an exception to be raised. Or a mapping of field names to values.
            latency: Seconds an answer takes.
        """
        self._reply = reply
        self.latency = latency
        self.calls: list[ScriptedCall] = []
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "ScriptedEngine":
        return self

    def count_tokens(self, text: str) -> int:
        """Words, as this model counts them."""
        return len(text.split())

    def complete(self, request: Request) -> Response:
        """Answer after the latency."""
        time.sleep(self.latency)
        return self._response(request)

    def stream(self, request: Request) -> Iterator[StreamEvent]:
        """Answer word by word; the latency comes before the first."""
        time.sleep(self.latency)
        yield from self._events(request)

    def _events(self, request: Request) -> Iterator[StreamEvent]:
        response = self._response(request)
        yield StreamStartEvent(model=request.model)
        for word in _WORD.findall(response.message.text or ""):
            yield StreamDeltaEvent(TextDelta(word))
        yield StreamEndEvent(finish_reason="stop", usage=response.usage)

    def _response(self, request: Request) -> Response:
        question = asked(request)
        with self._lock:
            call = ScriptedCall(question.fields, question.inputs, question.prompt, len(self.calls), request)
            self.calls.append(call)
        text = self._text(call, question)
        read, written = self.count_tokens(call.prompt), self.count_tokens(text)
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(input_tokens=read, output_tokens=written, total_tokens=read + written),
        )

    def _text(self, call: ScriptedCall, question: Asked) -> str:
        reply = self._reply
        if isinstance(reply, Mapping):
            missing = [name for name in call.fields if name not in reply]
            if missing:
                raise KeyError(f"the scripted reply has no {', '.join(missing)}")
            answer: Answer = {name: reply[name] for name in call.fields}
        else:
            answer = reply(call)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, str) else render(answer, question.format)


class AsyncScriptedEngine:
    """The same engine for ``await``."""

    def __init__(self, engine: ScriptedEngine) -> None:
        self.engine = engine

    def __deepcopy__(self, memo: dict[int, Any]) -> "AsyncScriptedEngine":
        return self

    async def complete(self, request: Request) -> Response:
        """Answer after the latency."""
        await asyncio.sleep(self.engine.latency)
        return self.engine._response(request)

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        """Answer word by word; the latency comes before the first."""
        await asyncio.sleep(self.engine.latency)
        for event in self.engine._events(request):
            yield event


def render(values: Mapping[str, Any], how: Format) -> str:
    """Field values as a completion in an adapter's format.

    Example:
        >>> render({"answer": "Paris", "sure": True}, "json")
        '{"answer": "Paris", "sure": true}'
    """
    plain = pydantic.TypeAdapter(dict[str, Any]).dump_python(dict(values), mode="json")
    if how == "chat":
        sections = [f"[[ ## {name} ## ]]\n{_chat_value(value)}" for name, value in plain.items()]
        return "\n\n".join([*sections, "[[ ## completed ## ]]"])
    return json.dumps(plain, ensure_ascii=False)


def _chat_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class ScriptedLM(dspy.LM):
    """A language model whose engine is known to be a scripted one."""

    context_window: int | None = None

    @property
    def engine(self) -> ScriptedEngine:
        """The engine, with the calls it has recorded."""
        return cast("ScriptedEngine", self._engine_spec)


def scripted_lm(reply: Reply, latency: float = 0.0, name: str | None = None, **options: Any) -> ScriptedLM:
    """A language model on a scripted engine, with a model string of its own, so that no other shares its cache.

    Args:
        reply: As for :class:`ScriptedEngine`.
        latency: Seconds an answer takes.
        name: Part of the model string after ``scripted/``; by default never used before, since DSPy's cache outlives
            the process.
        **options: Further arguments of ``dspy.LM``.

    Returns:
        The model; its engine, with the recorded calls, is ``lm.engine``.

    Example:
        >>> lm = scripted_lm({"answer": "Rome."})
        >>> with dspy.context(lm=lm):
        ...     dspy.Predict("question -> answer")(question="What is the capital of Italy?").answer
        'Rome.'
        >>> lm.engine.calls[0].inputs
        {'question': 'What is the capital of Italy?'}
    """
    engine = ScriptedEngine(reply, latency)
    options = {"temperature": 0.0, "max_tokens": 4096, "num_retries": 0, **options}
    model = f"scripted/{name or uuid.uuid4().hex}"
    return ScriptedLM(model, engine=engine, async_engine=AsyncScriptedEngine(engine), **options)
