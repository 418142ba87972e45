"""Running an optimizer so that nothing it does, or fails to do, goes unsaid."""

import io
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO
from unittest.mock import patch

import dspy
from dspy.utils.parallelizer import ParallelExecutor
from tqdm.auto import tqdm

from ...errors import AspectragError, masked, secrets
from ..metrics.metric import TOP, Metric, as_dspy
from .report import StageChange
from .students import Meter, Student
from .teleprompters import Arguments, Optimizer, Work


def guarded(metric: Metric, threshold: float | None, meter: Meter) -> Callable[..., Any]:
    """The metric as DSPy calls it; what it raises is counted, and scores 0, as DSPy would have it without a word."""
    scored = as_dspy(metric, threshold=threshold)

    def counted(
        example: dspy.Example, prediction: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        try:
            said = scored(example, prediction or dspy.Prediction(), trace, pred_name, pred_trace)
        except Exception as error:
            meter.failed(error)
            said = 0.0 if pred_name is None else dspy.Prediction(score=0.0, feedback="the metric failed")
        if trace is not None and pred_name is None:
            meter.judged(bool(said))
        return said

    counted.__name__ = metric.name
    return counted


def optimized(work: Work, chosen: Optimizer, meter: Meter, log: Path, runs: int, progress: bool) -> Student:
    """Run the optimizer; what it prints goes into its log.

    Args:
        work: What is optimized.
        chosen: The optimizer.
        meter: That of the student.
        log: The file.
        runs: How many are expected, for the bar.
        progress: Whether to show it.

    Raises:
        AspectragError: It failed.
        dspy.LMError: The language model did.
    """
    bar = tqdm(total=runs or None, desc=f"optimizing ({chosen.name})", unit="run", disable=None if progress else True)
    listening = dspy.context(callbacks=[*dspy.settings.callbacks, meter])
    with bar, listening, _unhurried(), _quiet(log) if chosen.learns == "prompts" else ExitStack():
        meter.tick = bar.update
        try:
            better = chosen.run(work)
        except (KeyboardInterrupt, AspectragError):
            raise
        except Exception as error:
            if meter.outage is not None:
                raise meter.outage from error
            if isinstance(error, dspy.LMError):
                raise
            raise AspectragError(
                f"{chosen.name} failed ({type(error).__name__}: {str(error) or 'without a word'}): see {log}"
            ) from error
        finally:
            meter.tick = lambda: None
    if meter.outage is not None:
        raise meter.outage
    if not isinstance(better, Student):
        raise AspectragError(f"{chosen.name} gave no program back: see {log}")
    return better


@contextmanager
def _unhurried() -> Iterator[None]:
    """DSPy begins again what takes two minutes, beside the first run: a slow model would be paid for twice."""
    init = ParallelExecutor.__init__

    def patient(self: ParallelExecutor, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self.timeout = 0

    with patch.object(ParallelExecutor, "__init__", patient):
        yield


class _Masked(io.TextIOBase):
    """A file that no key gets into: servers repeat them in what they refuse a call with."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._known = file, secrets()

    def write(self, text: str) -> int:
        """Write what is no secret of it."""
        return self._file.write(masked(text, self._known))

    def flush(self) -> None:
        """What was written is in the file."""
        if not self._file.closed:
            self._file.flush()


@contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """Optimizers print, log, and show bars of their own: all of it goes into a file."""
    logger = logging.getLogger("dspy")
    handlers, level = list(logger.handlers), logging.root.manager.disable
    with (
        log.open("a", encoding="utf-8", errors="backslashreplace") as whole,
        redirect_stdout(_Masked(whole)) as file,
        redirect_stderr(file),
    ):
        handler = logging.StreamHandler(file)
        logger.handlers = [handler]
        logging.disable(logging.NOTSET)
        try:
            yield
        finally:
            logger.handlers = handlers
            logging.disable(level)


class NothingChangedError(AspectragError):
    """An optimization ended with nothing to keep: all is as it was, or nothing scored."""


def unreached(given: Arguments, threshold: float | None, meter: Meter) -> list[str]:
    """What is to be told of demos that were looked for in vain: labelled ones take their place without a word."""
    if not given.get("max_bootstrapped_demos") or meter.reached:
        return []
    limit = TOP if threshold is None else threshold
    return [f"no run reached the threshold of {limit:g} ({meter.tried} were scored): no demo is one of a run"]


def refuse_nothing(by: str, changed: Mapping[str, StageChange], given: Arguments, meter: Meter) -> None:
    """Optimizers end without a word where they could do nothing.

    Raises:
        NothingChangedError: No stage has other demos or other instructions, or those it had are gone, and no run was
            worth one.
    """
    in_vain = given.get("max_bootstrapped_demos") and not given.get("max_labeled_demos") and not meter.reached
    if any(change.instructions_changed or (change.demos_changed and not in_vain) for change in changed.values()):
        return
    reasons = [f"{count} runs failed ({error})" for error, count in meter.errors.items()]
    if meter.unreadable:
        reasons.append(f"{meter.unreadable} outputs could not be read")
    because = "; ".join(reasons) or "no run scored well enough for a demo, no other instructions were better"
    raise NothingChangedError(
        f"{by} changed nothing: {because}. Nothing is saved: give a lower threshold, a teacher, more examples or "
        "another optimizer"
    )
