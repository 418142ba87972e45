"""Local models as a DSPy engine: small ones, in this process, an adapter for each thing that they were taught."""

import asyncio
import atexit
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from dspy import lm15
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

from ...errors import AspectragError
from .filling import Answer, filled
from .grammar import SchemaError
from .model import LocalModel
from .names import LocalName, find
from .request import Asked, read
from .slots import tokens

StreamEvent = StreamStartEvent | StreamDeltaEvent | StreamEndEvent
# A thread that nobody has asked for so long ends; the next request starts another.
_IDLE_SECONDS = 30.0
_END_SECONDS = 10.0


@dataclass(frozen=True)
class LocalOptions:
    """How local models run.

    Attributes:
        context_window: Most tokens of prompt and answer together; a base may hold fewer.
        max_batch: Most requests answered together.
        timeout: Seconds after which a request is given up, or None.
        device: Of torch; ``auto`` is a GPU where there is one.
    """

    context_window: int = 8192
    max_batch: int = 8
    timeout: float | None = None
    device: str = "auto"


@dataclass(eq=False)
class _Job:
    name: LocalName
    asked: Asked
    future: "Future[Answer]" = field(default_factory=Future)
    left: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return str(self.name), self.asked.key

    def leave(self) -> None:
        """Nobody waits any more: its place is free, and what is being written for it ends."""
        self.left = True
        self.future.cancel()


class LocalEngine:
    """A DSPy engine whose requests are answered by one thread, those that wait together for the same at once.

    The request names the model, so that one engine serves all adapters of a base, and several bases. Probabilities of
    labels come with the response, under ``provider_data["probabilities"]``.
    """

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"temperature", "top_p", "max_tokens", "stop", "seed", "response_format"})

    def __init__(self, options: LocalOptions | None = None) -> None:
        """Nothing is loaded until the first request."""
        self.options = options or LocalOptions()
        self._begin()
        _made.add(self)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._thread: threading.Thread | None = None
        self._ending = False
        self._known = threading.Lock()
        self._names: dict[str, LocalName] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "LocalEngine":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Where it is unpickled, the engine of that process stands in its place."""
        return shared, (self.options,)

    def named(self, model: str) -> LocalName:
        """What a model string stands for; one with its hash is looked up once.

        Raises:
            AspectragError: There is no such model, or it was changed.
        """
        with self._known:
            found = self._names.get(model) or find(model)
            if str(found) == model:
                self._names[model] = found
            return found

    def window(self, model: str) -> int:
        """Most tokens of prompt and answer together.

        Raises:
            AspectragError: There is no such model, or its base cannot be had.
        """
        stated = self._model(self.named(model)).window
        return self.options.context_window if stated is None else min(stated, self.options.context_window)

    def count_tokens(self, model: str, text: str) -> int:
        """How many tokens a model reads a text as.

        Raises:
            AspectragError: There is no such model, or its base cannot be had.
        """
        return len(tokens(self._model(self.named(model)).tokenizer, text))

    def load(self, model: str) -> None:
        """Load the base of a model now.

        Raises:
            AspectragError: There is no such model, or its base cannot be had.
        """
        self._model(self.named(model)).load()

    def complete(self, request: Request) -> Response:
        """Answer a request; the calling thread waits."""
        begun = time.monotonic()
        job = self._read(request)
        self._queue(job)
        try:
            return _response(request, job, job.future.result(self._left(begun)))
        except FutureTimeoutError as error:
            raise self._timeout() from error
        except Exception as error:
            raise _canonical(error) from error
        finally:
            job.leave()

    def stream(self, request: Request) -> Iterator[StreamEvent]:
        """Answer a request, in one piece."""
        yield from _events(self.complete(request))

    def _read(self, request: Request) -> _Job:
        try:
            name = self.named(request.model)
            return _Job(name, read(request, self._model(name).tokenizer, self.window(request.model)))
        except AspectragError as error:
            raise _canonical(error) from error

    def _queue(self, job: _Job) -> None:
        with self._changed:
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="aspectrag-local", daemon=True)
                self._thread.start()
                atexit.register(self._end)
            self._changed.notify()

    def _left(self, begun: float) -> float | None:
        return None if self.options.timeout is None else max(0.0, begun + self.options.timeout - time.monotonic())

    def _model(self, name: LocalName) -> LocalModel:
        # By its weights, too: a base that was replaced is another.
        key = (name.base, name.weights, self.options.device)
        return _models.setdefault(key, LocalModel(name.base, self.options.device))

    def _work(self) -> None:
        while jobs := self._next():
            try:
                answers = self._answers(jobs)
            except Exception as error:  # whatever it is, those who wait must hear of it
                for job in jobs:
                    job.future.set_exception(error)
            else:
                for job, answer in zip(jobs, answers, strict=True):
                    job.future.set_result(answer)

    def _answers(self, jobs: list[_Job]) -> list[Answer]:
        name = jobs[0].name
        return filled(
            self._model(name), name, [job.asked for job in jobs],
            wanted=lambda: not self._ending and not all(job.left for job in jobs),
        )  # fmt: skip

    def _end(self) -> None:
        """With the interpreter: a thread that torch is at work in would take it down with a crash."""
        with self._changed:
            self._ending, thread = True, self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(_END_SECONDS)

    def _next(self) -> list[_Job]:
        """The requests to answer now; none when nobody has asked for a while."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._ending, _IDLE_SECONDS)
                if self._ending or not self._waiting:
                    self._thread = None
                    atexit.unregister(self._end)
                    return []
                together = [job for job in self._waiting if job.key == self._waiting[0].key][: self.options.max_batch]
                self._waiting = deque(job for job in self._waiting if job not in together)
                if running := [job for job in together if job.future.set_running_or_notify_cancel()]:
                    return running

    def _timeout(self) -> lm15.TimeoutError:
        return lm15.TimeoutError(f"no answer of the local model within {self.options.timeout} seconds")


class AsyncLocalEngine:
    """The same engine for ``await``: no thread is held while a request waits."""

    def __init__(self, engine: LocalEngine) -> None:
        self.engine = engine

    def __deepcopy__(self, memo: dict[int, Any]) -> "AsyncLocalEngine":
        return self

    async def complete(self, request: Request) -> Response:
        """Answer a request; cancelling the task frees its place."""
        engine, job = self.engine, None
        try:
            async with asyncio.timeout(engine.options.timeout):
                # Read by a thread, queued by the task itself: what was cancelled meanwhile is not asked.
                job = await asyncio.to_thread(engine._read, request)
                engine._queue(job)
                return _response(request, job, await asyncio.wrap_future(job.future))
        except TimeoutError as error:
            raise engine._timeout() from error
        except Exception as error:
            raise _canonical(error) from error
        finally:
            if job is not None:
                job.leave()

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        """Answer a request, in one piece."""
        for event in _events(await self.complete(request)):
            yield event


def _response(request: Request, job: _Job, answer: Answer) -> Response:
    read_, written = len(job.asked.prompt), len(answer.ids)
    measured: Any = {"probabilities": answer.probabilities}
    return Response(
        id=None,
        model=request.model,
        message=Message.assistant([TextPart(answer.text)]),
        finish_reason=answer.finish,
        usage=Usage(input_tokens=read_, output_tokens=written, total_tokens=read_ + written),
        provider_data=measured if answer.probabilities else None,
    )


def _events(response: Response) -> Iterator[StreamEvent]:
    yield StreamStartEvent(model=response.model)
    yield StreamDeltaEvent(TextDelta(response.message.text or ""))
    yield StreamEndEvent(response.finish_reason, response.usage, response.provider_data)


def _canonical(error: Exception) -> lm15.LM15Error:
    if isinstance(error, lm15.LM15Error):
        return error
    if isinstance(error, AspectragError):
        return lm15.NotConfiguredError(str(error))
    if isinstance(error, SchemaError):
        return lm15.InvalidRequestError(f"a local model cannot be held to this schema: {error}")
    return lm15.ServerError(f"the local model failed: {type(error).__name__}: {error}")


# By base, its weights and device: engines of other options read from the same weights.
_models: dict[tuple[str, str, str], LocalModel] = {}
_engines: dict[LocalOptions, LocalEngine] = {}
_made: WeakSet[LocalEngine] = WeakSet()


def shared(options: LocalOptions | None = None) -> LocalEngine:
    """The one engine of this process for these options."""
    options = options or LocalOptions()
    return _engines.setdefault(options, LocalEngine(options))


def _begin_again() -> None:
    """In a forked process: the thread did not come along, and what it held stays locked and half done."""
    _models.clear()
    for engine in _made:
        engine._begin()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin_again)
