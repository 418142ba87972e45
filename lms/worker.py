"""The child process that owns the OpenVINO pipeline of the embedded language model and steps it.

A process and not a thread, because ``ContinuousBatchingPipeline.step`` keeps Python's interpreter lock for as long as a
step lasts (0.15 to 4 seconds): in a thread, everything else the program does would stand still meanwhile.

Run by path (``python -P worker.py SETTINGS``), so it imports nothing of the package. It reads one JSON object per line
from standard input and writes one per line to standard output:

    add      {"id", "tokens", "config", "stream"}        -> {"id", "tokens": the new ones, "finish": reason}, once, or
                                                            for a stream also without "finish" while it runs
    cancel   {"cancel": id}                              -> nothing more about that request
    failure  {"fatal": message, "suspects": [ids]}       and the process ends; suspect is a request with a new schema

End of input means: the parent is gone or done, stop at once.
"""

import json
import os
import queue
import signal
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

# ruff: noqa: E402
# OpenVINO reports every import to its makers over the network; where their reporter is missing, it does not.
sys.modules["openvino_telemetry"] = None  # pyright: ignore[reportArgumentType]

import openvino
import openvino_genai as genai

# By name: the enumerations themselves are not among the public names of openvino_genai.
_FINISH = {"STOP": "stop", "LENGTH": "length"}


@dataclass
class _Running:
    """One request inside the pipeline: tokens not told yet, and why it ended (``None`` while it runs)."""

    handle: Any  # openvino_genai's GenerationHandle, which has no public name
    stream: bool
    tokens: list[int] = field(default_factory=list)
    finish: str | None = None


def _generation_config(options: dict[str, Any], eos_token_id: int) -> genai.GenerationConfig:
    schema = options.pop("json_schema", None)
    stop = options.pop("stop_strings", None)
    config = genai.GenerationConfig(**options)
    config.apply_chat_template = False
    config.set_eos_token_id(eos_token_id)
    if stop:
        config.stop_strings = set(stop)
    if schema is not None:
        config.structured_output_config = genai.StructuredOutputConfig(json_schema=schema)
    return config


class Worker:
    """Feeds requests from ``inbox`` to the pipeline and writes what comes out to ``out``."""

    def __init__(
        self, settings: dict[str, Any], inbox: "queue.SimpleQueue[dict[str, Any] | None]", out: IO[str]
    ) -> None:
        scheduler = genai.SchedulerConfig()
        scheduler.cache_size = settings["cache_gib"]
        scheduler.max_num_seqs = settings["max_batch"]
        scheduler.max_num_batched_tokens = settings["step_tokens"]
        scheduler.enable_prefix_caching = True
        tokenizer = genai.Tokenizer(settings["model"])
        self._eos = tokenizer.get_eos_token_id()
        self._pipeline = genai.ContinuousBatchingPipeline(
            settings["model"], tokenizer, scheduler, settings["device"], **settings["properties"]
        )
        self._inbox = inbox
        self._out = out
        self._running: dict[int, _Running] = {}
        # A schema the grammar compiler refuses makes every later step fail. So new schemas are tried one at a time:
        # when a step fails, it is plain whose fault it is, and the parent can begin all the others again.
        self._known_schemas: set[str | None] = {None}
        self._on_trial: tuple[int, str] | None = None
        self._waiting: deque[dict[str, Any]] = deque()

    def run(self) -> None:
        """Serve until the input ends; a failed step is reported with the requests that may have caused it."""
        self._write({"ready": True})
        while self._receive():
            if not self._running:
                continue
            try:
                self._pipeline.step()
            except Exception as error:
                suspects = [self._on_trial[0]] if self._on_trial else []
                self._write({"fatal": f"{type(error).__name__}: {error}", "suspects": suspects})
                return
            if self._on_trial:
                self._known_schemas.add(self._on_trial[1])
                self._on_trial = None
            self._report()
            self._admit_waiting()

    def _receive(self) -> bool:
        """Take in every waiting message, blocking while there is nothing to do; False when the input has ended."""
        while True:
            try:
                message = self._inbox.get(block=not self._running)
            except queue.Empty:
                return True
            if message is None:
                return False
            if "cancel" in message:
                self._cancel(message["cancel"])
            elif self._on_trial and message["config"].get("json_schema") not in self._known_schemas:
                self._waiting.append(message)
            else:
                self._add(message)

    def _cancel(self, request: int) -> None:
        self._waiting = deque(message for message in self._waiting if message["id"] != request)
        running = self._running.pop(request, None)
        if running is None:
            return
        running.handle.cancel()
        # The pipeline lets go of a cancelled request in its next step, which may be long in coming.
        if not self._running and self._pipeline.has_non_finished_requests():
            self._pipeline.step()

    def _admit_waiting(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for message in waiting:
            if self._on_trial and message["config"].get("json_schema") not in self._known_schemas:
                self._waiting.append(message)
            else:
                self._add(message)

    def _add(self, message: dict[str, Any]) -> None:
        request = message["id"]
        schema = message["config"].get("json_schema")
        tokens = openvino.Tensor(np.asarray([message["tokens"]], dtype=np.int64))
        try:
            handle = self._pipeline.add_request(request, tokens, _generation_config(message["config"], self._eos))
        except Exception as error:
            self._write({"id": request, "error": f"{type(error).__name__}: {error}"})
            return
        self._running[request] = _Running(handle, message["stream"])
        if schema not in self._known_schemas:
            self._on_trial = (request, schema)

    def _report(self) -> None:
        for request, running in list(self._running.items()):
            status = running.handle.get_status().name
            # An ignored handle, whose request can never fit the key-value cache, can be read for ever.
            while status != "IGNORED" and running.handle.can_read():
                for output in running.handle.read().values():
                    running.tokens.extend(output.generated_ids)
                    running.finish = _FINISH.get(output.finish_reason.name)
            if status != "RUNNING":
                del self._running[request]
                finish = "ignored" if status == "IGNORED" else running.finish or "stop"
                self._write({"id": request, "tokens": running.tokens, "finish": finish})
            elif running.stream and running.tokens:
                # Telling every token of every request would wake the parent, on the cores the next step needs.
                self._write({"id": request, "tokens": running.tokens})
                running.tokens = []

    def _write(self, message: dict[str, Any]) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


def _read(lines: IO[str], inbox: "queue.SimpleQueue[dict[str, Any] | None]") -> None:
    for line in lines:
        inbox.put(json.loads(line))
    inbox.put(None)


def main() -> None:
    """Serve one parent over standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole process group; the parent decides
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever native code prints must not get between our lines
    inbox: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin, inbox), daemon=True).start()
    try:
        Worker(json.loads(sys.argv[1]), inbox, out).run()
    except BrokenPipeError:
        pass
    except Exception as error:
        out.write(json.dumps({"fatal": f"{type(error).__name__}: {error}", "suspects": []}) + "\n")
        out.flush()
    finally:
        out.flush()
        # Skips the native destructors: nothing is left to save, and they take seconds with a large cache.
        os._exit(0)


if __name__ == "__main__":
    main()
