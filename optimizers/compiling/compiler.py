"""Compiling, from end to end: check, estimate, measure, optimize, measure again, keep the better, say what happened."""

import hashlib
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import dspy
import ujson
from dspy.utils.usage_tracker import UsageTracker
from tqdm.auto import tqdm

from ...errors import AspectragError
from ...programs.program import Program
from ...programs.saved import read_manifest
from ...programs.trace import plain
from ..evaluation.cache import run_cache
from ..evaluation.folder import dumped, read_json, write
from ..evaluation.runner import alone
from ..evaluation.statistics import difference_of
from ..metrics.metric import Metric, as_dspy
from ..ranker.sft import as_rich_rag
from .checks import check_sets, typed
from .measuring import Probe, measure, probe
from .report import Report, changes
from .students import Meter, MethodStudent, RankingStudent, StageStudent, Student
from .teleprompters import Arguments, Optimizer, Size, Work, optimizer

# Gone once all is done: answers of the language model, and what optimizers keep to go on from.
_WORK, _LOG, _REPORT = ".work", "optimizer.log", "report.json"
Keep = Literal["better", "compiled"]


@dataclass(frozen=True)
class Examples:
    """What a program learns from.

    Attributes:
        train: To learn from.
        val: To choose by.
        test: To measure on; no optimizer sees them.
    """

    train: Sequence[dspy.Example]
    val: Sequence[dspy.Example]
    test: Sequence[dspy.Example]

    @property
    def sizes(self) -> dict[str, int]:
        """How many of each."""
        return {name: len(part) for name, part in vars(self).items()}

    @property
    def digest(self) -> str:
        """SHA-256 of all of them."""
        sha = hashlib.sha256()
        for name, part in vars(self).items():
            for example in part:
                sha.update(f"{name} {dumped(example.toDict())}\n".encode("utf-8", "surrogatepass"))
        return sha.hexdigest()

    def typed(self, signature: type[dspy.Signature]) -> "Examples":
        """With the values in the types of a signature."""
        return Examples(*([typed(example, signature) for example in part] for part in vars(self).values()))


@dataclass(frozen=True)
class Estimate:
    """What an optimization will take, at most, before it begins.

    Attributes:
        runs: Of the student, both measurements among them.
        calls: Of language models, those of the student.
        tokens: Of these.
        seconds: Wall-clock, at the pace of the first runs.
    """

    runs: int
    calls: int
    tokens: int
    seconds: float

    def __str__(self) -> str:
        """One line."""
        return f"at most {self.runs:,} runs, {self.calls:,} calls, {self.tokens:,} tokens, {_span(self.seconds)}"


@dataclass(frozen=True)
class Compiled:
    """A program and how it came to be.

    Attributes:
        program: The program that was kept.
        report: What happened.
    """

    program: Program
    report: Report


def compile_program(
    program: Program,
    examples: Examples,
    metric: Metric,
    out: str | Path,
    *,
    method: str,
    stage: str | None = None,
    by: str = "bootstrap",
    arguments: Mapping[str, Any] | None = None,
    budget: str | int = "small",
    lm: dspy.BaseLM,
    teacher: dspy.BaseLM | None = None,
    prompt: dspy.BaseLM | None = None,
    roles: Mapping[str, dspy.BaseLM] | None = None,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    whole: bool = False,
    threshold: float | None = None,
    recipe: str | None = None,
    keep: Keep = "better",
    agree: Callable[[Estimate], bool] | None = None,
    workers: int = 8,
    seed: int = 0,
    progress: bool = True,
) -> Compiled:
    """Tune a program, or one stage of it, and keep what became of it in a folder; stopped, it goes on where it was.

    Language models are asked nothing twice: their answers are in the folder until all is done, and an optimizer that is
    begun again with them arrives where it was, as its choices are seeded.

    Args:
        program: What is tuned; left as it is.
        examples: What it learns from and is measured on.
        metric: What counts.
        out: The folder; it becomes the saved program, with ``report.json`` and the log of the optimizer.
        method: Name of the method.
        stage: The stage that is tuned; all stages by default.
        by: Name of the optimizer.
        arguments: Of the optimizer, over those of the budget.
        budget: ``small``, ``medium``, or the most runs that the optimizer may make.
        lm: The language model that it is tuned for.
        teacher: Makes demos; ``lm`` by default.
        prompt: Writes instructions; ``teacher`` by default.
        roles: Language models of stages that are not tuned.
        known: Outputs of stages that are known; see :class:`.students.MethodStudent`.
        whole: Tune the stage by what the whole method makes of it: the examples are questions.
        threshold: Score that makes a run a demo; the highest there is by default.
        recipe: Name of the recipe, for the report.
        keep: Which program is saved: the ``better`` one on the test examples, or the ``compiled`` one in any case.
        agree: Asked before anything is spent beyond three runs; no ends it.
        workers: Runs at once.
        seed: Of all choices.
        progress: Whether to show bars.

    Raises:
        AspectragError: Something cannot be used as it is, the user did not agree, or the optimizer did nothing.
        dspy.LMError: A language model is out of reach; what was answered is kept.
    """
    out, chosen, meter = Path(out), optimizer(by), Meter()
    names = [name for name, _ in program.named_predictors()]
    stages = [] if chosen.learns == "ranker" else [stage] if stage else names
    student = _student(program, chosen, stage, stages, known, whole, meter)
    alone_stage = isinstance(student, StageStudent)
    if alone_stage:
        examples = examples.typed(getattr(student, stages[0]).signature)
    inputs = sorted((examples.test or examples.train or [dspy.Example()])[0]._input_keys or ())
    check_sets(vars(examples), inputs, {"train": chosen.least[0], "val": chosen.least[1], "test": 1})
    size = Size(len(examples.train), len(examples.val), len(stages))
    given = chosen.arguments({**_without_labels(chosen, alone_stage), **(arguments or {})}, budget, size)
    identity = {
        "target": f"{method}.{stage}" if stage else method, "recipe": recipe, "optimizer": by, "arguments": given,
        "metric": metric.name, "data": examples.digest, "seed": seed, "keep": keep,
        "models": {name: getattr(model, "model", "") for name, model in
                   (("lm", lm), ("teacher", teacher), ("prompt", prompt)) if model},
        "from": {name: state for name, state in plain(program.dump_state()).items() if state.get("demos")},
    }  # fmt: skip
    with alone(out), _opened(out, identity), run_cache(out / _WORK / "answers"):
        spent = _Spent()
        started = time.perf_counter()
        others = {name: model for name, model in (roles or {}).items() if name not in stages}
        with dspy.context(lm=lm, roles=others, usage_tracker=spent, disable_history=True):
            first = probe(student, examples.test, metric)
            estimate = _estimate(first, chosen.runs(size, given), len(examples.test), workers)
            if agree is not None and not agree(estimate):
                raise AspectragError("not begun: nothing was spent beyond three runs")
            untuned = measure(student, examples.test, metric, meter, workers, "measuring the uncompiled", progress)
            work = Work(
                student, examples.train, examples.val, _guarded(metric, threshold, meter), given, teacher, prompt,
                workers, seed, out / _WORK,
            )  # fmt: skip
            better = _optimized(work, chosen, meter, chosen.runs(size, given), progress)
            changed = changes(student, better, stages)
            if chosen.learns == "prompts":
                _refuse_nothing(by, changed, meter)
            tuned = measure(better, examples.test, metric, meter, workers, "measuring the compiled", progress)
        difference = difference_of(tuned.scores, untuned.scores)
        kept, why = _decided(keep, difference.mean, chosen)
        report = Report(
            target=identity["target"], recipe=recipe, optimizer=by, arguments=given, metric=metric.name,
            models=identity["models"], examples=examples.sizes, data=examples.digest, uncompiled=untuned,
            compiled=tuned, difference=difference, kept=kept, why=why, stages=changed,
            spent={"runs": meter.runs, **spent.totals(), "seconds": round(time.perf_counter() - started, 1)},
            errors=dict(meter.errors),
        )  # fmt: skip
        result = taken_over(program, better, stages) if kept == "compiled" else program
        _save(result, out, report, program.tuning.get("stages", {}), lm)
    shutil.rmtree(out / _WORK)
    return Compiled(result, report)


def _student(
    program: Program,
    chosen: Optimizer,
    stage: str | None,
    stages: Sequence[str],
    known: Mapping[str, Mapping[str, Any]] | None,
    whole: bool,
    meter: Meter,
) -> Student:
    names = [name for name, _ in program.named_predictors()]
    if chosen.learns == "ranker" or stage == "rank":
        return RankingStudent(as_rich_rag(program), stages, meter)
    if stage and stage not in names:
        raise AspectragError(f"{type(program).__name__} has no stage {stage!r}: choose of {', '.join(names)}")
    if stage and not whole:
        return StageStudent(program, stages, meter)
    return MethodStudent(program, stages, meter, known)


def _without_labels(chosen: Optimizer, alone_stage: bool) -> Arguments:
    """Examples that are questions hold no output of a stage: they are no demos of it as they are.

    Raises:
        AspectragError: The optimizer knows no other demos.
    """
    if alone_stage or not chosen.labels:
        return {}
    if "max_labeled_demos" not in chosen.small:
        raise AspectragError(f"{chosen.name} needs examples with the stage's own outputs: choose bootstrap or gepa")
    return {"max_labeled_demos": 0}


def _guarded(metric: Metric, threshold: float | None, meter: Meter) -> Callable[..., Any]:
    """The metric as DSPy calls it; what it raises is counted, and scores 0, as DSPy would have it without a word."""
    scored = as_dspy(metric, threshold=threshold)

    def guarded(
        example: dspy.Example, prediction: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        try:
            return scored(example, prediction or dspy.Prediction(), trace, pred_name, pred_trace)
        except Exception as error:
            meter.failed(error)
            return 0.0 if pred_name is None else dspy.Prediction(score=0.0, feedback="the metric failed")

    guarded.__name__ = metric.name
    return guarded


def _optimized(work: Work, chosen: Optimizer, meter: Meter, runs: int, progress: bool) -> Student:
    """Run the optimizer; what it prints goes into its log.

    Raises:
        AspectragError: It failed.
        dspy.LMError: The language model did.
    """
    meter.outage, log = None, work.folder.parent / _LOG
    bar = tqdm(total=runs or None, desc=f"optimizing ({chosen.name})", unit="run", disable=None if progress else True)
    with bar, _quiet(log) if chosen.learns == "prompts" else ExitStack():
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
    assert isinstance(better, Student)
    return better


@contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """Optimizers print, log, and show bars of their own: all of it goes into a file."""
    logger = logging.getLogger("dspy")
    handlers, level = list(logger.handlers), logging.root.manager.disable
    with log.open("a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        handler = logging.StreamHandler(file)
        logger.handlers = [handler]
        logging.disable(logging.NOTSET)
        try:
            yield
        finally:
            logger.handlers = handlers
            logging.disable(level)


def _refuse_nothing(by: str, changed: Mapping[str, Any], meter: Meter) -> None:
    """Optimizers end without a word where they could do nothing.

    Raises:
        AspectragError: No stage has demos or other instructions.
    """
    if any(change.changed for change in changed.values()):
        return
    reasons = [f"{count} runs failed ({error})" for error, count in meter.errors.items()]
    if meter.unreadable:
        reasons.append(f"{meter.unreadable} outputs could not be read")
    because = "; ".join(reasons) or "no run scored well enough for a demo, no other instructions were better"
    raise AspectragError(
        f"{by} changed nothing: {because}. Nothing is saved: give a lower threshold, a teacher, more examples or "
        "another optimizer"
    )


def _decided(keep: Keep, gain: float, chosen: Optimizer) -> tuple[Literal["compiled", "uncompiled"], str]:
    if keep == "compiled":
        return "compiled", "kept as asked for, whatever it scores"
    if gain > 0:
        return "compiled", "it scores higher on the test examples"
    return "uncompiled", f"what {chosen.name} made scores no higher on the test examples"


def taken_over(program: Program, student: Student, stages: Sequence[str]) -> Program:
    """A copy of the program with the stages of a student, and its ranker where it has one that was trained."""
    better: Program = program.deepcopy()
    for stage in stages:
        tuned: Any = getattr(student, stage, None)
        if tuned is not None:
            own: Any = getattr(better, stage)
            state = tuned.dump_state()
            fields = tuned.signature.fields
            # What examples hold beside the stage's fields is for metrics.
            state["demos"] = [
                {name: value for name, value in demo.items() if name in fields or name == "augmented"}
                for demo in state["demos"]
            ]
            own.load_state({**state, "traces": [], "train": [], "lm": None})
    if hasattr(student.program, "ranker"):
        better.ranker = student.program.ranker  # pyright: ignore[reportAttributeAccessIssue]
    return better


def _save(result: Program, out: Path, report: Report, before: Mapping[str, Any], lm: dspy.BaseLM) -> None:
    """Write report and program; the manifest, without which there is no program, comes last."""
    tuned = report.kept == "compiled"
    changed = {name: change for name, change in report.stages.items() if tuned and change.changed}
    model = getattr(lm, "model", "")
    # Stages that were tuned before may have been so for another model: each says it itself.
    stages = {name: {"lm": model, **report.record(), **change.to_record()} for name, change in changed.items()}
    write(out / _REPORT, dumped(report.to_dict(), indent=1) + "\n")
    meta = {"lm": model, "stages": {**before, **stages}}
    result.save(out, meta=meta if report.stages or not tuned else {**meta, "ranker": report.record()})


@contextmanager
def _opened(out: Path, identity: Mapping[str, Any]) -> Iterator[None]:
    """The folder of an optimization: new, or of the same one that was stopped.

    Raises:
        AspectragError: It holds a finished or another one, or something else.
    """
    file = out / "compiling.json"
    if (out / "manifest.json").is_file():
        read_manifest(out)
        raise AspectragError(f"{out} holds a compiled program already: give another --out, or remove it")
    if file.is_file():
        before, now = read_json(file), ujson.loads(dumped(identity))
        if differs := sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key)):
            raise AspectragError(
                f"{out} holds an optimization with another {', '.join(differs)}: give another --out, or remove it"
            )
    elif any(path.name != ".lock" for path in out.iterdir()):
        raise AspectragError(f"{out} holds other files: give a new folder as --out")
    else:
        write(file, dumped(identity, indent=1) + "\n")
    yield
    file.unlink()


def _estimate(first: Probe, runs: int, test: int, workers: int) -> Estimate:
    total = runs + 2 * test
    at_once = min(workers, max(1, first.runs))
    return Estimate(
        total,
        round(total * first.calls / first.runs),
        round(total * first.tokens / first.runs),
        total * first.seconds / first.runs / at_once,
    )


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"about {max(1, round(seconds))} seconds"
    return f"about {minutes} minutes" if minutes < 120 else f"about {minutes / 60:.1f} hours"


class _Spent(UsageTracker):
    """Counts calls and tokens, of all threads."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Spent":
        return self

    def totals(self) -> dict[str, float]:
        """Calls and tokens."""
        entries = [entry for model in self.usage_data.values() for entry in model]
        return {
            "lm_calls": len(entries),
            "prompt_tokens": sum(int(entry.get("prompt_tokens") or 0) for entry in entries),
            "completion_tokens": sum(int(entry.get("completion_tokens") or 0) for entry in entries),
        }
