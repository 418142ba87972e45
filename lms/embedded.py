"""The embedded language model as a DSPy engine: no server, no key, no network once its weights are in the cache."""

import asyncio
import queue
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

from ..errors import AspectragError
from .embedded_model import CONTEXT_WINDOW, MODEL_NAME, converted_model, runtime
from .pieces import Pieces, cut
from .pipeline import Generated, Job, Pipeline, PipelineError, PipelineSettings, RequestRefusedError
from .sampling import chat, sampling

StreamEvent = StreamStartEvent | StreamDeltaEvent | StreamEndEvent
# Native errors begin with the time and the path of the source file they come from.
_SOURCE_LOCATION = re.compile(r"(?:\w+: )?\[[\d:]+\] \S+:\d+: ")


@dataclass(frozen=True)
class EmbeddedOptions:
    """How the embedded model runs.

    Attributes:
        context_window: Most tokens of prompt and answer together.
        cache_gib: Bound of the key-value cache in GiB. The default holds about 130,000 tokens: 16 requests of 8,000.
            Prefixes stay in it until others need the room. The process takes about 3 GiB besides.
        max_batch: Most requests generated together.
        step_tokens: Most prompt tokens read per step of the pipeline.
        timeout: Seconds after which a request is given up, or None.
        device: OpenVINO device.
    """

    context_window: int = CONTEXT_WINDOW
    cache_gib: int = 2
    max_batch: int = 16
    step_tokens: int = 512
    timeout: float | None = None
    device: str = "CPU"


@dataclass
class _Prepared:
    job: Job
    stop: tuple[str, ...]


class EmbeddedEngine:
    """A DSPy engine over an OpenVINO pipeline in a child process; callers in any thread are batched together.

    Greedy answers (temperature 0) repeat exactly when a request runs alone. In a batch the arithmetic is done in
    another order, and a near-tie between two tokens may fall the other way.
    """

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset(
        {"temperature", "top_p", "top_k", "max_tokens", "stop", "seed", "response_format"}
        | {"frequency_penalty", "presence_penalty"}
    )

    def __init__(self, options: EmbeddedOptions | None = None, *, locate: Callable[[], Path] = converted_model) -> None:
        """Nothing is loaded until the first request.

        Args:
            options: How the model runs.
            locate: Gives the folder of the converted model, fetching and converting it when it is not there.
        """
        self.options = options or EmbeddedOptions()
        self._locate = locate
        self._lock = threading.Lock()
        self._pipeline: Pipeline | None = None
        self._tokenizer: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "EmbeddedEngine":
        return self

    @property
    def context_window(self) -> int:
        """Most tokens of prompt and answer together."""
        return self.options.context_window

    def count_tokens(self, text: str) -> int:
        """How many tokens the model reads ``text`` as.

        Raises:
            AspectragError: The model is not there and cannot be fetched.
        """
        return len(self._encode(text))

    def load(self) -> None:
        """Fetch, convert and open the model now instead of at the first request.

        Raises:
            AspectragError: The model is not there and cannot be fetched.
        """
        with self._lock:
            if self._pipeline is not None:
                return
            genai = runtime()
            folder = str(self._locate())
            tokenizer = genai.Tokenizer(folder)
            # OpenVINO's bindings set themselves up on first use, and several threads doing that at once block each
            # other for ever: each call is made once here, under the lock.
            tokenizer.decode(tokenizer.encode("a", add_special_tokens=False).input_ids.data[0].tolist())
            self._tokenizer = tokenizer
            options = self.options
            self._pipeline = Pipeline(
                PipelineSettings(folder, options.device, options.cache_gib, options.max_batch, options.step_tokens)
            )

    def close(self) -> None:
        """End the process of the model; the next request starts it again."""
        with self._lock:
            pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            pipeline.close()

    def complete(self, request: Request) -> Response:
        """Answer a request; the calling thread waits, others are served meanwhile."""
        prepared = self._submit(request)
        future = prepared.job.future
        try:
            return self._response(request, prepared, future.result(self.options.timeout))
        except FutureTimeoutError as error:
            raise self._timeout() from error
        except (PipelineError, CancelledError) as error:
            raise _canonical(error) from error
        finally:
            future.cancel()  # frees the request when the caller was interrupted; without effect once it is done

    def stream(self, request: Request) -> Iterator[StreamEvent]:
        """Answer a request piece by piece."""
        arrived: queue.SimpleQueue[list[int] | None] = queue.SimpleQueue()
        prepared = self._submit(request, arrived.put)
        future = prepared.job.future
        future.add_done_callback(lambda _: arrived.put(None))
        text = Pieces(self._decode, prepared.stop)
        try:
            yield StreamStartEvent(model=request.model)
            while (tokens := arrived.get(timeout=self.options.timeout)) is not None:
                if piece := text.push(tokens):
                    yield StreamDeltaEvent(TextDelta(piece))
            yield from self._stream_end(text, prepared, future.result())
        except queue.Empty as error:
            raise self._timeout() from error
        except (PipelineError, CancelledError) as error:
            raise _canonical(error) from error
        finally:
            future.cancel()

    def _stream_end(self, text: Pieces, prepared: _Prepared, generated: Generated) -> Iterator[StreamEvent]:
        finish = self._finish(prepared, generated)
        if piece := text.rest():
            yield StreamDeltaEvent(TextDelta(piece))
        yield StreamEndEvent(finish_reason=finish, usage=_usage(prepared, generated))

    def _submit(self, request: Request, listener: Callable[[list[int]], None] | None = None) -> _Prepared:
        try:
            self.load()
        except AspectragError as error:
            raise lm15.NotConfiguredError(str(error)) from error
        prompt = self._tokenizer.apply_chat_template(chat(request), add_generation_prompt=True)
        tokens = self._encode(prompt)
        room = self.context_window - len(tokens)
        if room < 1:
            raise lm15.ContextLengthError(
                f"the prompt has {len(tokens)} tokens, the context window of the embedded model holds "
                f"{self.context_window}"
            )
        how = sampling(request.config, room)
        job = Job(tokens, how.options, listener)
        pipeline = self._pipeline
        if pipeline is None:
            raise lm15.ServerError("the embedded model was closed")
        try:
            pipeline.submit(job)
        except PipelineError as error:
            raise _canonical(error) from error
        return _Prepared(job, how.stop)

    def _response(self, request: Request, prepared: _Prepared, generated: Generated) -> Response:
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant([TextPart(cut(self._decode(list(generated.tokens)), prepared.stop))]),
            finish_reason=self._finish(prepared, generated),
            usage=_usage(prepared, generated),
        )

    def _finish(self, prepared: _Prepared, generated: Generated) -> Any:
        if generated.finish == "ignored":
            raise lm15.ContextLengthError(
                f"the prompt has {len(prepared.job.tokens)} tokens, more than the key-value cache of "
                f"{self.options.cache_gib} GiB holds: raise cache_gib"
            )
        return generated.finish

    def _timeout(self) -> lm15.TimeoutError:
        return lm15.TimeoutError(f"no answer of the embedded model within {self.options.timeout} seconds")

    def _encode(self, text: str) -> list[int]:
        self.load()
        return self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist()

    def _decode(self, tokens: list[int]) -> str:
        return self._tokenizer.decode(tokens) if tokens else ""


class AsyncEmbeddedEngine:
    """The same engine for ``await``: no thread is held while a request waits."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self.engine = engine

    def __deepcopy__(self, memo: dict[int, Any]) -> "AsyncEmbeddedEngine":
        return self

    async def complete(self, request: Request) -> Response:
        """Answer a request; cancelling the task frees it."""
        engine = self.engine
        prepared = await asyncio.to_thread(engine._submit, request)
        try:
            generated = await asyncio.wait_for(asyncio.wrap_future(prepared.job.future), engine.options.timeout)
            return engine._response(request, prepared, generated)
        except TimeoutError as error:
            raise engine._timeout() from error
        except PipelineError as error:
            raise _canonical(error) from error
        finally:
            prepared.job.future.cancel()

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        """Answer a request piece by piece."""
        engine, loop = self.engine, asyncio.get_running_loop()
        arrived: asyncio.Queue[list[int] | None] = asyncio.Queue()

        def tell(tokens: list[int] | None) -> None:
            loop.call_soon_threadsafe(arrived.put_nowait, tokens)

        prepared = await asyncio.to_thread(engine._submit, request, tell)
        future = prepared.job.future
        future.add_done_callback(lambda done: None if done.cancelled() else tell(None))
        text = Pieces(engine._decode, prepared.stop)
        try:
            yield StreamStartEvent(model=request.model)
            while (tokens := await asyncio.wait_for(arrived.get(), engine.options.timeout)) is not None:
                if piece := text.push(tokens):
                    yield StreamDeltaEvent(TextDelta(piece))
            for event in engine._stream_end(text, prepared, future.result()):
                yield event
        except TimeoutError as error:
            raise engine._timeout() from error
        except PipelineError as error:
            raise _canonical(error) from error
        finally:
            future.cancel()


def _usage(prepared: _Prepared, generated: Generated) -> Usage:
    read, written = len(prepared.job.tokens), len(generated.tokens)
    return Usage(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _canonical(error: BaseException) -> lm15.LM15Error:
    if isinstance(error, RequestRefusedError):
        reason = _SOURCE_LOCATION.sub("", str(error)).strip()
        return lm15.InvalidRequestError(f"the embedded model refuses the request: {reason}")
    return lm15.ServerError(str(error) or "the request was cancelled")


_engines: dict[EmbeddedOptions, EmbeddedEngine] = {}
_engines_lock = threading.Lock()


def shared(options: EmbeddedOptions | None = None) -> EmbeddedEngine:
    """The one engine of this process for these options."""
    options = options or EmbeddedOptions()
    with _engines_lock:
        return _engines.setdefault(options, EmbeddedEngine(options))


def model_string() -> str:
    """The name DSPy's cache knows the embedded model by: it changes whenever its answers may."""
    return f"embedded/{MODEL_NAME}"
