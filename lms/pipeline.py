"""The parent's side of the embedded model's process: requests in, futures out, restart after a crash."""

import atexit
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

logger = logging.getLogger(__name__)
_STOP_SECONDS = 2.0
_WORKER = Path(__file__).with_name("worker.py")


class PipelineError(Exception):
    """The process of the embedded model failed; the next request starts a new one."""


class RequestRefusedError(PipelineError):
    """The pipeline cannot serve this very request (a schema it does not know, say)."""


@dataclass(frozen=True)
class PipelineSettings:
    """What the pipeline is built with.

    Attributes:
        model: Folder of the converted model.
        device: OpenVINO device.
        cache_gib: Upper bound of the key-value cache in GiB; 1 GiB holds about 65,000 tokens of the default model.
        max_batch: Most requests generated together; further ones wait their turn.
        step_tokens: Most prompt tokens read in one step; smaller lets running answers go on while a long prompt is
            read, larger reads prompts faster.
        properties: Further OpenVINO properties.
    """

    model: str
    device: str = "CPU"
    cache_gib: int = 2
    max_batch: int = 16
    step_tokens: int = 512
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Generated:
    """A finished generation: its tokens and why it ended (``stop``, ``length`` or ``ignored``)."""

    tokens: tuple[int, ...]
    finish: str


@dataclass(eq=False)
class Job:
    """One request on its way: cancel its ``future`` to free its place in the batch."""

    tokens: list[int]
    config: dict[str, Any]
    listener: Callable[[list[int]], None] | None = None
    future: "Future[Generated]" = field(default_factory=Future)
    generated: list[int] = field(default_factory=list)
    restarted: bool = False

    def finish(self, outcome: Generated | Exception) -> None:
        """Hand the outcome to the caller, unless it has gone away meanwhile."""
        with suppress(InvalidStateError):
            if isinstance(outcome, Generated):
                self.future.set_result(outcome)
            else:
                self.future.set_exception(outcome)


class Pipeline:
    """One child process that generates for every thread of this one."""

    def __init__(self, settings: PipelineSettings, *, worker: Path = _WORKER) -> None:
        self.settings = settings
        self._worker = worker
        self._lock = threading.RLock()  # a future that is already cancelled calls back at once
        self._process: subprocess.Popen[str] | None = None
        self._jobs: dict[int, Job] = {}
        self._next = 0
        self._closed = False
        self._owner = os.getpid()
        atexit.register(self._abandon)

    def submit(self, job: Job) -> None:
        """Queue a job; its future gets the result, a :class:`PipelineError`, or is cancelled by the caller."""
        with self._lock:
            if self._closed:
                raise PipelineError("the embedded model was closed")
            if self._owner != os.getpid():  # forked: the process and its pipes belong to the parent
                self._owner, self._process, self._jobs = os.getpid(), None, {}
            self._send_job(job)

    def close(self) -> None:
        """End the process at once; waiting callers get a :class:`PipelineError`."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
            jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            job.finish(PipelineError("the embedded model was closed"))
        if process is not None:
            _end(process)
        atexit.unregister(self._abandon)

    def _abandon(self) -> None:
        """End the process with the interpreter: threads that still wait are about to vanish, not to be told."""
        with self._lock:
            self._closed = True
            process, self._process, self._jobs = self._process, None, {}
        if process is not None and self._owner == os.getpid():
            _end(process)

    def _send_job(self, job: Job) -> None:
        if self._process is None:
            self._process = self._start()
        self._next += 1
        request = self._next
        self._jobs[request] = job
        stream = job.listener is not None
        self._send({"id": request, "tokens": job.tokens, "config": job.config, "stream": stream})
        job.future.add_done_callback(lambda future: self._forget(request) if future.cancelled() else None)

    def _start(self) -> "subprocess.Popen[str]":
        logger.info("loading the embedded language model")
        command = [sys.executable, "-P", str(self._worker), json.dumps(asdict(self.settings))]
        # Native warnings are no one's business, unless the process fails. The listener closes the file.
        noise = tempfile.TemporaryFile("w+")  # noqa: SIM115
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise, text=True, bufsize=1
            )
        except OSError as error:
            raise PipelineError(f"the process of the embedded model does not start: {error}") from error
        threading.Thread(target=self._listen, args=(process, noise), name="aspectrag-embedded", daemon=True).start()
        return process

    def _send(self, message: dict[str, Any]) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with suppress(OSError, ValueError):  # a process that has just died is dealt with by the listener
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def _forget(self, request: int) -> None:
        with self._lock:
            if self._jobs.pop(request, None) is not None:
                self._send({"cancel": request})

    def _listen(self, process: "subprocess.Popen[str]", noise: IO[str]) -> None:
        failure = ""
        suspects: list[int] = []
        if process.stdout is not None:
            for line in process.stdout:
                message = json.loads(line)
                if "fatal" in message:
                    failure, suspects = message["fatal"], message["suspects"]
                elif "id" in message:
                    self._deliver(message)
        code = process.wait()
        with noise:
            noise.seek(0)
            last = (noise.read().strip().splitlines() or [""])[-1]
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._recover(process, failure or f"its process ended with code {code} {last}".rstrip(), suspects)

    def _deliver(self, message: dict[str, Any]) -> None:
        over = "finish" in message or "error" in message
        with self._lock:
            job = self._jobs.pop(message["id"], None) if over else self._jobs.get(message["id"])
        if job is None:
            return
        if tokens := message.get("tokens"):
            job.generated.extend(tokens)
            if job.listener is not None:
                job.listener(tokens)
        if "error" in message:
            job.finish(RequestRefusedError(message["error"]))
        elif over:
            job.finish(Generated(tuple(job.generated), message["finish"]))

    def _recover(self, process: "subprocess.Popen[str]", failure: str, suspects: list[int]) -> None:
        """Refuse the request that is to blame, begin the others again in a new process, once."""
        refused: list[tuple[Job, Exception]] = []
        with self._lock:
            if self._process is not process:
                return  # closed on purpose
            self._process = None
            jobs, self._jobs = self._jobs, {}
            for request, job in jobs.items():
                streaming = job.listener is not None and bool(job.generated)
                if request in suspects:
                    refused.append((job, RequestRefusedError(failure)))
                elif job.restarted or streaming:
                    refused.append((job, PipelineError(f"the embedded model failed: {failure}")))
                else:
                    job.restarted = True
                    job.generated.clear()
                    self._send_job(job)
        for job, error in refused:
            job.finish(error)


def _end(process: "subprocess.Popen[str]") -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        # Idle, it leaves by itself; in the middle of a step nothing it does is needed any more.
        process.wait(timeout=_STOP_SECONDS / 10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=_STOP_SECONDS)
