"""What an optimizer is given to improve: one stage on its own, or a whole method of which some stages may change.

DSPy's optimizers change every predictor that they find in a module. A student shows them those that are to be tuned and
keeps the rest of the program out of their sight; what they change is changed in the program.
"""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import LMInvalidRequestError, LMUnsupportedFeatureError

from ...errors import redact
from ...programs.blocks.stage import StageError, call_stage
from ...programs.program import Program
from ...programs.rich_rag import RichRag


def is_outage(error: object) -> bool:
    """Whether a language model is out of reach; what it refuses for what it was given says nothing of the next."""
    return isinstance(error, dspy.LMError) and not isinstance(error, (LMInvalidRequestError, LMUnsupportedFeatureError))


class Meter(BaseCallback):
    """Counts what all copies of a student do, in all threads.

    Attributes:
        runs: Times a student ran.
        unreadable: Outputs that could not be read.
        errors: Other failures, by what they said, of the program and of the metric.
        tried: Runs that demos were looked for in.
        reached: Those of them that reached the threshold.
        outage: The last failure of a language model itself, also of one that writes instructions: optimizers go on
            without them.
        tick: Called after every run.
    """

    def __init__(self) -> None:
        self.runs = 0
        self.unreadable = 0
        self.errors: dict[str, int] = {}
        self.tried = 0
        self.reached = 0
        self.outage: dspy.LMError | None = None
        self.tick: Callable[[], Any] = lambda: None
        self._lock = Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Meter":
        return self

    def ran(self) -> None:
        """A student ran."""
        with self._lock:
            self.runs += 1
        self.tick()

    def unread(self) -> None:
        """An output could not be read."""
        with self._lock:
            self.unreadable += 1

    def failed(self, error: Exception) -> None:
        """A run, or its metric, failed."""
        said = redact(f"{type(error).__name__}: {error}")
        with self._lock:
            self.errors[said] = self.errors.get(said, 0) + 1

    def judged(self, good: bool) -> None:
        """A run became a demo, or was found not to be worth it."""
        with self._lock:
            self.tried += 1
            self.reached += good

    def lost(self, error: dspy.LMError) -> None:
        """A language model failed."""
        if is_outage(error):
            self.outage = error

    def on_module_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:  # noqa: ARG002
        """A module ended, as DSPy tells."""
        if isinstance(exception, dspy.LMError):
            self.lost(exception)


class _Hidden:
    """Holds a program where DSPy does not look for predictors."""

    def __init__(self, program: Program) -> None:
        self.program = program


class Student(dspy.Module):
    """A program of which only some stages can be seen, and so tuned.

    Args:
        program: Copied: the student never changes it.
        stages: Attribute names of the predictors that may change.
        meter: Counts the runs of all copies.
    """

    def __init__(self, program: Program, stages: Sequence[str], meter: Meter) -> None:
        super().__init__()
        self._hidden = _Hidden(program.deepcopy())
        self._meter = meter
        self._stages = tuple(stages)
        for stage in stages:
            setattr(self, stage, getattr(self.program, stage))
        self._own_signatures()

    @property
    def meter(self) -> Meter:
        """What counts the runs of all copies."""
        return self._meter

    @property
    def program(self) -> Program:
        """The program, with the stages as they are now."""
        return self._hidden.program

    @program.setter
    def program(self, program: Program) -> None:
        self._hidden.program = program

    def deepcopy(self) -> "Student":
        """A copy that shares nothing that an optimizer changes.

        Predictors share the class of their signature when they are copied, and some optimizers write new instructions
        into that class: all copies, and every other program in the process, would get them.
        """
        copy = super().deepcopy()
        copy._own_signatures()
        return copy

    def _own_signatures(self) -> None:
        for predictor in self.predictors():
            signature: Any = predictor.signature
            predictor.signature = signature.with_instructions(signature.instructions)

    def __call__(self, *args: Any, **kwargs: Any) -> dspy.Prediction:
        """Run, and be counted; once a language model is out of reach, no other is asked."""
        try:
            if self._meter.outage is not None:
                raise self._meter.outage
            return super().__call__(*args, **kwargs)
        except Exception as error:
            self._meter.failed(error)
            raise
        finally:
            self._meter.ran()


class StageStudent(Student):
    """One stage, given its own inputs: called as its program calls it, once; unreadable output gives no fields."""

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Call the stage."""
        (stage,) = self._stages
        try:
            return call_stage(stage, getattr(self, stage), lambda out: out, 1, **inputs)
        except StageError as failed:
            self._meter.unread()
            return dspy.Prediction(failure=failed.reason)


class MethodStudent(Student):
    """A whole method, asked questions.

    Args:
        known: Outputs of stages that are not asked, such as the type of all questions: then a stage that only questions
            of one type reach can be tuned with them.
    """

    def __init__(
        self,
        program: Program,
        stages: Sequence[str],
        meter: Meter,
        known: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(program, stages, meter)
        for stage, outputs in (known or {}).items():
            setattr(self.program, stage, _Known(outputs))

    def forward(self, question: str) -> dspy.Prediction:
        """Ask the question."""
        out = self.program(question=question)
        for fallback in out.fallbacks:
            if fallback.stage in self._stages:
                self._meter.unread()
        return out


class RankingStudent(Student):
    """A RichRAG of which only the order of the passages counts: aspects are given, and nothing is written."""

    def forward(self, question: str, aspects: list[str]) -> dspy.Prediction:
        """Rank the pool of the question."""
        program = self.program
        assert isinstance(program, RichRag)
        pool = program.pool(question, aspects)
        ranked = program.ranked(question, aspects, pool)
        return dspy.Prediction(pool=[each.passage for each in pool], ranked=[each.passage for each in ranked])


class _Known(dspy.Module):
    """Stands in for a stage whose output is known."""

    def __init__(self, outputs: Mapping[str, Any]) -> None:
        super().__init__()
        self._outputs = outputs

    def forward(self, **inputs: Any) -> dspy.Prediction:  # noqa: ARG002 - whatever the stage is given
        return dspy.Prediction(**self._outputs)
