"""Compiling, from end to end: check, estimate, measure, optimize, measure again, keep the better, say what happened."""

import hashlib
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import dspy

from ...errors import AspectragError
from ...programs.fitting import learnt
from ...programs.program import Program
from ...programs.trace import plain
from ..evaluation.cache import run_cache
from ..evaluation.evaluation import described, identity_of
from ..evaluation.folder import dumped
from ..evaluation.statistics import difference_of
from ..metrics.given import Given, as_metric
from ..ranker.sft import as_rich_rag
from .checks import check_labels, check_sets, finite
from .examples import Examples
from .folder import completed, opened, save
from .measuring import measure, no_score, probe, unscored
from .optimizing import NothingChangedError, guarded, optimized, refuse_nothing, unreached
from .report import Report, changes
from .spending import Estimate, Spent, estimated
from .students import Meter, MethodStudent, RankingStudent, StageStudent, Student
from .teleprompters import Arguments, Optimizer, Size, Work, optimizer

logger = logging.getLogger(__name__)
Keep = Literal["better", "compiled"]


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
    metric: Given,
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
        metric: What counts: a metric, the name of one, or a function as DSPy's optimizers know them.
        out: The folder; it becomes the saved program, with ``report.json`` and the log of the optimizer.
        method: Name of the method.
        stage: The stage that is tuned; all stages by default.
        by: Name of the optimizer.
        arguments: Of the optimizer, over those of the budget.
        budget: ``small``, ``medium``, or the most runs that the optimizer may make; what calls they take is in the
            estimate that ``agree`` gets.
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
        AspectragError: Something cannot be used as it is, the user did not agree, the optimizer did nothing, or no
            example scored anything but 0.
        dspy.LMError: A language model is out of reach; what was answered is kept.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data.index import NoPassages
        >>> from aspectrag.optimizers.metrics import label_of
        >>> from aspectrag.programs import HanRag
        >>> asked = [
        ...     dspy.Example(question=f"Who built {n}?", route="single-step").with_inputs("question") for n in range(24)
        ... ]
        >>> examples = Examples(asked[:8], asked[8:16], asked[16:])
        >>> lm = lms.scripted_lm({"route": "single-step"})
        >>> with TemporaryDirectory() as folder:
        ...     done = compile_program(
        ...         HanRag(None, NoPassages()), examples, label_of("route"), f"{folder}/route",
        ...         method="han", stage="route", by="labeled", lm=lm, progress=False,
        ...     )
        >>> done.report.uncompiled.score.mean
        1.0
    """
    out, chosen, meter, metric = Path(out), optimizer(by), Meter(), finite(as_metric(metric))
    if threshold is not None and not math.isfinite(threshold):
        raise AspectragError(f"the threshold is {threshold}: give a number")
    if not 0 <= seed < 2**32:
        raise AspectragError(f"the seed is {seed}: give one from 0 to {2**32 - 1}")
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
    if chosen.labels and given.get("k", given.get("max_labeled_demos")):
        check_labels(examples.train, [getattr(student, name).signature for name in stages])
    models = {name: model for name, model in (("lm", lm), ("teacher", teacher), ("prompt", prompt)) if model}
    others = {name: model for name, model in (roles or {}).items() if name not in stages}
    # All that the outcome depends on.
    identity = {
        "target": f"{method}.{stage}" if stage else method, "recipe": recipe, "optimizer": by, "arguments": given,
        "metric": metric.name, "data": examples.digest, "seed": seed, "keep": keep,
        "models": {name: getattr(model, "model", "") for name, model in models.items()},
        "start": hashlib.sha256(dumped(plain(program.dump_state())).encode("utf-8", "surrogatepass")).hexdigest(),
        "threshold": threshold, "known": known or {}, "whole": whole,
        "options": {name: plain(identity_of(model)) for name, model in models.items()},
        "roles": {name: plain(identity_of(model)) for name, model in others.items()},
        **{part: value for part, value in described(program).items() if part in ("config", "ranker", "passages")},
    }  # fmt: skip
    with opened(out, identity) as folder, run_cache(folder / "answers"):
        if done := completed(program, out):
            return Compiled(*done)
        spent = Spent()
        started = time.perf_counter()
        with dspy.context(lm=lm, roles=others, usage_tracker=spent, disable_history=True):
            first = probe(student, examples.test, metric)
            estimate = estimated(first, chosen.runs(size, given), len(examples.test), workers)
            if agree is not None and not agree(estimate):
                raise AspectragError("not begun: nothing was spent beyond three runs")
            untuned = measure(student, examples.test, metric, meter, workers, "measuring the uncompiled", progress)
            if unscored(metric, untuned):
                logger.warning("%s; if tuning finds nothing else, it ends without a program", no_score(metric))
            work = Work(
                student, examples.train, examples.val, guarded(metric, threshold, meter), given, teacher, prompt,
                workers, seed, folder,
            )  # fmt: skip
            better = optimized(work, chosen, meter, out / "optimizer.log", chosen.runs(size, given), progress)
            changed = changes(student, better, stages)
            if chosen.learns == "prompts":
                refuse_nothing(by, changed, given, meter)
            tuned = measure(better, examples.test, metric, meter, workers, "measuring the compiled", progress)
            if unscored(metric, untuned, tuned):
                raise NothingChangedError(f"nothing tells the two programs apart: {no_score(metric)}")
        difference = difference_of(tuned.scores, untuned.scores)
        gain = -difference.mean if metric.better == "lower" else difference.mean
        kept, why = _decided(keep, gain, chosen)
        report = Report(
            target=identity["target"], recipe=recipe, optimizer=by, arguments=given, metric=metric.name,
            models=identity["models"], examples=examples.sizes, data=examples.digest, uncompiled=untuned,
            compiled=tuned, difference=difference, kept=kept, why=why, stages=changed,
            spent={"runs": meter.runs, **spent.totals(), "seconds": round(time.perf_counter() - started, 1)},
            errors=dict(meter.errors), notes=unreached(given, threshold, meter),
        )  # fmt: skip
        result = taken_over(program, better, stages) if kept == "compiled" else program
        save(result, out, report, getattr(lm, "model", ""))
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


def _decided(keep: Keep, gain: float, chosen: Optimizer) -> tuple[Literal["compiled", "uncompiled"], str]:
    if keep == "compiled":
        return "compiled", "kept as asked for, whatever it scores"
    if gain > 0:
        return "compiled", "it scores better on the test examples"
    return "uncompiled", f"what {chosen.name} made scores no better on the test examples"


def taken_over(program: Program, student: Student, stages: Sequence[str]) -> Program:
    """A copy of the program with the stages of a student, and its ranker where it has one that was trained."""
    better: Program = program.deepcopy()
    for stage in stages:
        tuned: Any = getattr(student, stage, None)
        if tuned is not None:
            own: Any = getattr(better, stage)
            state = learnt(tuned.dump_state())
            fields = tuned.signature.fields
            # What examples hold beside the stage's fields is for metrics.
            state["demos"] = [
                {name: value for name, value in demo.items() if name in fields or name == "augmented"}
                for demo in state["demos"]
            ]
            own.load_state(state)
    if hasattr(student.program, "ranker"):
        better.ranker = student.program.ranker  # pyright: ignore[reportAttributeAccessIssue]
    return better
