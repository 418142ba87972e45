"""Asking many questions of several programs, so that nothing is lost and nothing is paid for twice."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.exceptions import (
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMInvalidRequestError,
    LMUnexpectedError,
    LMUnsupportedFeatureError,
)
from tqdm.auto import tqdm

from ...errors import AspectragError
from ...programs.program import Program, Result
from ...programs.trace import Trace, record, verbatim
from ..holding import held
from .cache import RunCache, run_cache, scoped
from .folder import RunFolder, now
from .pool import as_they_come
from .records import answered, failed
from .writing import Writer, writer

# So many failed questions in a row, and the server is held to be gone: the others would fail as well.
_PATIENCE = 5
# Reasons that do not pass; all others may, such as a gateway's page in place of an answer.
_FINAL = (
    LMAuthError, LMBillingError, LMConfigurationError, LMInvalidRequestError, LMUnexpectedError,
    LMUnsupportedFeatureError,
)  # fmt: skip
# Reasons that lie in the question, such as a prompt that is too long: they say nothing of the server.
_OF_QUESTION = (LMInvalidRequestError, LMUnsupportedFeatureError)
# Seconds before what failed is asked again.
_PAUSES = (5.0, 30.0)
_CACHE = ".answers"


@dataclass(frozen=True)
class Job:
    """A program, and the folder that its answers go to."""

    program: Program
    folder: RunFolder
    cache: RunCache
    writer: Writer

    def scope(self, question: dspy.Example) -> str:
        """What the calls of a question belong to."""
        return f"{self.folder.path.name}\0{question.id}"


Task = tuple[Job, dspy.Example]


def ask_all(
    programs: Mapping[str, Program],
    questions: Sequence[dspy.Example],
    out: Path,
    configs: Mapping[str, Mapping[str, Any]],
    *,
    workers: int = 8,
    progress: bool = True,
) -> None:
    """Ask every question of every program, by the language model in force; what is in the folder already is not asked.

    The caller holds ``out`` (:func:`alone`); each program has a run folder of its own name in it. A question that fails
    is a result too: its error is written down, and the others go on. Where the reason may pass, as with a server that
    is busy or slow, it is asked again at the end, and any other when the run is run again. Answers of the language
    model are cached in ``out`` until all is done, apart from every other run, so that calls, tokens and seconds are
    those of this one.

    Args:
        programs: By name.
        questions: With ``id`` and ``question``; ids are unique.
        out: Where the runs go.
        configs: What each run is, by the name of its program; see :class:`.folder.RunFolder`.
        workers: Questions that are under way at once, over all programs.
        progress: Whether to show a bar.

    Raises:
        AspectragError: Two questions have one id, or a folder cannot be used.
        dspy.LMError: The language model failed several times in a row; what was answered is kept.
        OSError: A record cannot be written, as on a full disk; what was written before is kept.
        KeyboardInterrupt: The user stopped it; what was answered is kept.
    """
    # As it will be written: files and traces are found again by it.
    questions = [question.copy(id=verbatim(str(question.id))) for question in questions]
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        twice = next(id for place, id in enumerate(ids) if id in ids[:place])
        raise AspectragError(f"two questions have the id {twice!r}: ids must be unique")
    if not questions:
        raise AspectragError("there is no question to ask")
    with run_cache(out / _CACHE) as cache:
        with writer(2 * workers) as writing:
            jobs = _opened(programs, questions, out, configs, cache, writing)
            left = [(job, question) for question in questions for job in jobs if question.id not in job.folder.answered]
            _ask(left, workers, progress, len(jobs) * len(questions))
        for job in jobs:
            job.folder.update({"finished": now(), "failed": len(ids) - len(job.folder.answered)})
    (out / _CACHE).unlink()


def _opened(
    programs: Mapping[str, Program],
    questions: Sequence[dspy.Example],
    out: Path,
    configs: Mapping[str, Mapping[str, Any]],
    cache: RunCache,
    writing: Writer,
) -> list[Job]:
    folders = [RunFolder(out / name, configs[name], questions) for name in programs]
    jobs = [Job(program, folder, cache, writing) for program, folder in zip(programs.values(), folders, strict=True)]
    for job in jobs:
        for question in questions:
            if question.id in job.folder.answered:
                cache.forget(job.scope(question))
    return jobs


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Hold the folder, so that no other process writes into it.

    Raises:
        AspectragError: Another one does, or it cannot be written into.
    """
    with ExitStack() as stack:
        with writable(out):
            stack.enter_context(held(out, f"{out}: another process is writing into this folder: give another --out"))
        yield


@contextmanager
def writable(out: Path) -> Iterator[None]:
    """Say of what cannot be written that another folder is needed.

    Raises:
        AspectragError: The folder cannot be made, or written into.
    """
    try:
        yield
    except OSError as error:
        raise AspectragError(f"{out} cannot be written into ({error.strerror or error}): give another --out") from None


def _ask(left: Sequence[Task], workers: int, progress: bool, total: int) -> None:
    """Ask, and ask again what a passing reason kept from being answered, each time after a longer pause."""
    bar = tqdm(
        total=total, initial=total - len(left), desc="asking", unit="question", disable=None if progress else True
    )
    with bar:
        for pause in (0.0, *_PAUSES):
            if pause and left:
                bar.set_description(f"{len(left)} failed for now; asked again in {pause:.0f} s")
                time.sleep(pause)
                bar.set_description("asking again")
            left = _round(left, workers, bar, counted=not pause)


def _round(left: Sequence[Task], workers: int, bar: tqdm, *, counted: bool) -> list[Task]:
    """Ask everything once, at most ``workers`` at once; returns what may be worth asking again."""
    again: list[Task] = []
    in_a_row = 0
    with closing(as_they_come(_answer, left, workers, finish=True)) as outcomes:
        try:
            for task, error in outcomes:
                bar.update(counted)
                if isinstance(error, dspy.LMError) and not isinstance(error, _FINAL):
                    again.append(task)
                of_server = isinstance(error, dspy.LMError) and not isinstance(error, _OF_QUESTION)
                in_a_row = in_a_row + 1 if of_server else 0
                if in_a_row == _PATIENCE and error is not None:
                    raise error
        except KeyboardInterrupt:
            bar.set_description("waiting for the calls under way; Ctrl-C again stops at once")
            raise
    return again


def _answer(task: Task) -> Exception | None:
    """Ask one question; the answer, or what went wrong, is handed on to be written down."""
    job, question = task
    scope = job.scope(question)
    job.cache.begin(scope)
    started = time.perf_counter()
    # DSPy's own history would keep every prompt in memory.
    with dspy.context(disable_history=True), scoped(scope):
        with record() as trace:
            try:
                result, error = job.program(question=question.question), None
            except CancelledError:  # the user stopped it: that is no answer, and no failure
                raise
            except Exception as raised:
                result, error = None, raised
        seconds = time.perf_counter() - started
    job.writer.put(lambda: _keep(task, result, error, trace, seconds))
    return error


def _keep(task: Task, result: Result | None, error: Exception | None, trace: Trace, seconds: float) -> None:
    job, question = task
    if result is not None:
        job.folder.add(answered(question.id, result, trace, seconds), trace)
        job.cache.forget(job.scope(question))
    elif error is not None:
        job.folder.add(failed(question.id, error, trace, seconds), trace)
