"""DSPy's optimizers, and the ranker's trainers, by name: what each needs, what it costs, and how it is run.

DSPy calls them teleprompters too. Each is run with explicit numbers in place of DSPy's ``auto`` modes, so that what it
will cost can be told before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import dspy

from ...errors import AspectragError, nearest
from ..ranker.training import Settings
from ..ranker.us3 import Strategy
from .students import Meter, Student

Arguments = dict[str, Any]
# More than any data set has: one example that fails does not end an optimization, ours counts them and says so. No
# argument is larger either.
_MANY = 1_000_000


@dataclass(frozen=True)
class Work:
    """An optimization that is about to begin.

    Attributes:
        student: What is improved.
        train: Examples to learn from.
        val: Examples to choose by.
        metric: In the form that DSPy calls; see :func:`...metrics.metric.as_dspy`.
        arguments: Of the optimizer.
        teacher: Language model that demos are made with; the student's own by default.
        prompt: Language model that writes instructions; the teacher, or the student's own by default.
        workers: Runs at once.
        seed: Of all choices.
        folder: For what an optimizer keeps to go on from.
    """

    student: Student
    train: Sequence[dspy.Example]
    val: Sequence[dspy.Example]
    metric: Callable[..., Any]
    arguments: Arguments
    teacher: dspy.BaseLM | None
    prompt: dspy.BaseLM | None
    workers: int
    seed: int
    folder: Path

    @property
    def teaching(self) -> dict[str, Any] | None:
        """DSPy's ``teacher_settings``."""
        return {"lm": self.teacher} if self.teacher else None

    @property
    def writer(self) -> Any:
        """The language model that writes instructions."""
        return self.prompt or self.teacher or dspy.settings.lm

    def some(self, *names: str) -> Arguments:
        """Those of the arguments that have these names."""
        return {name: self.arguments[name] for name in names if name in self.arguments}


@dataclass(frozen=True)
class Size:
    """How much an optimizer has to do: examples to learn from and to choose by, and predictors."""

    train: int
    val: int
    predictors: int


def _anything(*_: Any) -> str | None:
    return None


@dataclass(frozen=True)
class Optimizer:
    """An optimizer.

    Attributes:
        name: What users call it.
        about: One line.
        run: Improves the student, and returns the better one.
        runs: How often it runs the student, at most, given how much there is to do.
        small: Arguments of the small budget; all that it takes, with their defaults.
        medium: Arguments of the medium budget where they differ.
        scale: The argument that a budget of calls is met by.
        least: Fewest examples to learn from, and to choose by.
        learns: ``prompts`` of students, or the weights of a ``ranker``.
        labels: Whether its demos are examples as they are, which must then hold the outputs of the stage.
        refuses: What is wrong with arguments that it would fail with, or do nothing with, once much was spent.
    """

    name: str
    about: str
    run: Callable[[Work], dspy.Module]
    runs: Callable[[Size, Arguments], int]
    small: Arguments
    medium: Arguments
    scale: str | None = None
    least: tuple[int, int] = (1, 1)
    learns: Literal["prompts", "ranker"] = "prompts"
    labels: bool = False
    refuses: Callable[[Size, Arguments], str | None] = _anything

    def arguments(self, given: Mapping[str, Any], budget: str | int, size: Size) -> Arguments:
        """The arguments for a budget: ``small``, ``medium``, or a number of runs of the student.

        Raises:
            AspectragError: There is no such argument or budget, the budget is too small for what there is to do, or
                nothing can come of the arguments.
        """
        for name, value in given.items():
            if name not in self.small:
                hint = nearest(name, self.small) or f" (it has: {', '.join(self.small)})"
                raise AspectragError(f"the optimizer {self.name} has no argument {name!r}{hint}")
            if type(value) is not type(self.small[name]):
                raise AspectragError(f"{name} of {self.name} must be like {self.small[name]!r}, not {value!r:.60}")
            # Of demos there may be none; of what is tried, none would be nothing to choose from.
            if isinstance(value, int) and value < (least := 0 if name.endswith("_demos") else 1):
                raise AspectragError(f"{name} of {self.name} must be {least} or more, not {value}")
            if isinstance(value, int) and value > _MANY:
                raise AspectragError(f"{name} of {self.name} must be at most {_MANY:,}")
        chosen = {**self.small, **(self.medium if budget == "medium" else {}), **given}
        if isinstance(budget, int):
            chosen = self._within(budget, chosen, size, None if self.scale in given else self.scale)
        elif budget not in ("small", "medium"):
            raise AspectragError(f"there is no budget {budget!r}: small, medium, or a number of runs")
        if reason := self.refuses(size, chosen):
            raise AspectragError(f"{self.name}: {reason}")
        return chosen

    def _within(self, budget: int, chosen: Arguments, size: Size, scale: str | None) -> Arguments:
        """The largest scale whose runs stay within the budget; as chosen where there is none to choose."""
        scaled = [{**chosen, scale: value} for value in (*range(1, 33), *range(34, 2001, 2))] if scale else [chosen]
        scaled = [each for each in scaled if not self.refuses(size, each)] or scaled
        least, fitting = scaled[0], [each for each in scaled if self.runs(size, each) <= budget]
        if not fitting:
            raise AspectragError(
                f"{self.name} needs at least {self.runs(size, least)} runs with {size.train} examples to learn from "
                f"and {size.val} to choose by, more than {budget}: give a larger budget, or fewer examples"
            )
        return fitting[-1]


def _labeled(work: Work) -> dspy.Module:
    from dspy.teleprompt import LabeledFewShot

    return LabeledFewShot(k=work.arguments["k"]).compile(work.student, trainset=list(work.train))


def _bootstrap(work: Work) -> dspy.Module:
    from dspy.teleprompt import BootstrapFewShot

    optimizer = BootstrapFewShot(
        metric=work.metric, teacher_settings=work.teaching, max_errors=_MANY,
        **work.some("max_bootstrapped_demos", "max_labeled_demos", "max_rounds"),
    )  # fmt: skip
    return optimizer.compile(work.student, trainset=list(work.train))


def _random_search(work: Work) -> dspy.Module:
    from dspy.teleprompt import BootstrapFewShotWithRandomSearch

    optimizer = BootstrapFewShotWithRandomSearch(
        metric=work.metric, teacher_settings=work.teaching, max_errors=_MANY, num_threads=work.workers,
        **work.some("max_bootstrapped_demos", "max_labeled_demos", "num_candidate_programs"),
    )  # fmt: skip
    return optimizer.compile(work.student, trainset=list(work.train), valset=list(work.val))


def _mipro(work: Work) -> dspy.Module:
    from dspy.teleprompt import MIPROv2

    optimizer = MIPROv2(
        metric=work.metric, prompt_model=work.writer, task_model=dspy.settings.lm, teacher_settings=work.teaching,
        auto=None, num_threads=work.workers, max_errors=_MANY, seed=work.seed,
        **work.some("max_bootstrapped_demos", "max_labeled_demos", "num_candidates"),
    )  # fmt: skip
    # Reading the program's source would show the proposer our student, not the method.
    return optimizer.compile(
        work.student, trainset=list(work.train), valset=list(work.val), num_trials=work.arguments["num_trials"],
        minibatch=False, program_aware_proposer=False, seed=work.seed,
    )  # fmt: skip


class _Heard(dspy.BaseLM):
    """A language model whose failures the meter is told of: GEPA asks it outside of modules, and keeps silent."""

    def __init__(self, lm: dspy.BaseLM, meter: Meter) -> None:
        super().__init__(lm.model)
        self._lm, self._meter = lm, meter

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the language model."""
        try:
            return self._lm(*args, **kwargs)
        except dspy.LMError as error:
            self._meter.lost(error)
            raise


def _gepa(work: Work) -> dspy.Module:
    from dspy.teleprompt import GEPA

    # Without a folder of its own: what it kept there would be gone on from with fresh choices, and failures kept in it.
    optimizer = GEPA(
        metric=work.metric, reflection_lm=cast(Any, _Heard(work.writer, work.student.meter)),
        num_threads=work.workers, seed=work.seed, warn_on_score_mismatch=False,
        max_metric_calls=work.arguments["max_metric_calls"],
        reflection_minibatch_size=min(work.arguments["reflection_minibatch_size"], len(work.train)),
    )  # fmt: skip
    return optimizer.compile(work.student, trainset=list(work.train), valset=list(work.val))


def _simba(work: Work) -> dspy.Module:
    from dspy.teleprompt import SIMBA

    # It marks the teacher's settings for sampling: a copy may keep the mark.
    teaching = {"lm": work.teacher.copy()} if work.teacher else None
    optimizer = SIMBA(
        metric=work.metric, bsize=min(work.arguments["bsize"], len(work.train)), num_threads=work.workers,
        prompt_model=work.writer, teacher_settings=teaching, **work.some("max_steps", "num_candidates", "max_demos"),
    )  # fmt: skip
    return optimizer.compile(work.student, trainset=list(work.train), seed=work.seed)


def _rules(work: Work) -> dspy.Module:
    from dspy.teleprompt import InferRules

    optimizer = InferRules(
        metric=work.metric, teacher_settings={"lm": work.writer}, num_threads=work.workers, max_errors=_MANY,
        **work.some("num_candidates", "num_rules", "max_bootstrapped_demos", "max_labeled_demos"),
    )  # fmt: skip
    better: Any = optimizer.compile(work.student, trainset=list(work.train), valset=list(work.val))
    return better


def _settings(work: Work) -> Settings:
    return Settings(seed=work.seed, **work.some("epochs", "patience"))


def _with_program(student: Student, program: Any) -> Student:
    better = student.deepcopy()
    better.program = program
    return better


def _sft(work: Work) -> dspy.Module:
    from ..ranker.sft import SupervisedRanker

    trainer = SupervisedRanker(work.folder / "sft", settings=_settings(work))
    return _with_program(
        work.student, trainer.compile(work.student.program, trainset=list(work.train), valset=list(work.val))
    )


def _dpo(work: Work) -> dspy.Module:
    from ..ranker.dpo import PreferenceRanker

    trainer = PreferenceRanker(work.folder / "dpo", strategy=work.arguments["strategy"])
    trainer.settings = replace(trainer.settings, seed=work.seed, **work.some("epochs", "patience"))
    return _with_program(
        work.student, trainer.compile(work.student.program, trainset=list(work.train), valset=list(work.val))
    )


def _no_runs(*_: Any) -> int:
    return 0


def _no_demos(_: Size, arguments: Arguments) -> str | None:
    if not arguments["max_bootstrapped_demos"] and not arguments["max_labeled_demos"]:
        return "without demos there is nothing to tune: max_bootstrapped_demos or max_labeled_demos must be above 0"
    return None


def _no_runs_to_choose_among(_: Size, arguments: Arguments) -> str | None:
    # It draws how many demos a candidate gets, from 1 on.
    return None if arguments["max_bootstrapped_demos"] else "max_bootstrapped_demos must be 1 or more"


def _nothing_to_propose(_: Size, arguments: Arguments) -> str | None:
    # The first candidate is what is there already; how many demos the others get is drawn, from 1 on.
    if arguments["num_candidates"] < 2:
        return "num_candidates must be 2 or more, the first is the program as it is"
    if arguments["max_labeled_demos"] and not arguments["max_bootstrapped_demos"]:
        return "max_bootstrapped_demos must be 1 or more, or max_labeled_demos 0 too"
    return None


def _no_step(size: Size, arguments: Arguments) -> str | None:
    # The instructions that are there already are scored first, by all examples to choose by.
    if arguments["max_metric_calls"] <= size.val:
        return f"max_metric_calls must be more than the {size.val} examples to choose by, or no instructions are tried"
    return None


def _no_strategy(_: Size, arguments: Arguments) -> str | None:
    if arguments["strategy"] in (known := get_args(Strategy)):
        return None
    return f"there is no strategy {arguments['strategy']!r:.60}{nearest(arguments['strategy'], known)}"


def _demos_tried(size: Size, arguments: Arguments) -> int:
    """Runs to collect demos: at worst each example, once."""
    return size.train if arguments["max_bootstrapped_demos"] else 0


OPTIMIZERS: dict[str, Optimizer] = {
    each.name: each
    for each in (
        Optimizer(
            "labeled", "examples as demos, as they are; asks no model (LabeledFewShot)", _labeled,
            _no_runs, {"k": 8}, {"k": 16}, least=(1, 0), labels=True,
        ),
        Optimizer(
            "bootstrap", "demos of runs that scored well (BootstrapFewShot)", _bootstrap,
            lambda size, a: a["max_rounds"] * _demos_tried(size, a),
            {"max_bootstrapped_demos": 4, "max_labeled_demos": 4, "max_rounds": 1},
            {"max_bootstrapped_demos": 8, "max_labeled_demos": 16}, least=(1, 0), labels=True, refuses=_no_demos,
        ),
        Optimizer(
            "random-search", "the best of several sets of demos (BootstrapFewShotWithRandomSearch)", _random_search,
            lambda size, a: (
                (a["num_candidate_programs"] + 3) * size.val + (a["num_candidate_programs"] + 1) * _demos_tried(size, a)
            ),
            {"max_bootstrapped_demos": 4, "max_labeled_demos": 4, "num_candidate_programs": 4},
            {"max_bootstrapped_demos": 4, "max_labeled_demos": 16, "num_candidate_programs": 10},
            scale="num_candidate_programs", labels=True, refuses=_no_runs_to_choose_among,
        ),
        Optimizer(
            "mipro", "instructions and demos, searched together (MIPROv2)", _mipro,
            # Where there shall be no demos, some are made all the same, for the instructions to be written by.
            lambda size, a: (a["num_trials"] + 1) * size.val + a["num_candidates"] * size.train,
            {"max_bootstrapped_demos": 2, "max_labeled_demos": 2, "num_candidates": 4, "num_trials": 8},
            {"max_bootstrapped_demos": 4, "max_labeled_demos": 4, "num_candidates": 8, "num_trials": 20},
            scale="num_trials", labels=True, refuses=_nothing_to_propose,
        ),
        Optimizer(
            "gepa", "instructions that grow by reflection on what went wrong (GEPA)", _gepa,
            # It looks at the number before a step: of two small batches, and of all examples to choose by.
            lambda size, a: a["max_metric_calls"] + 2 * min(a["reflection_minibatch_size"], size.train) + size.val,
            {"max_metric_calls": 150, "reflection_minibatch_size": 3}, {"max_metric_calls": 500},
            scale="max_metric_calls", refuses=_no_step,
        ),
        Optimizer(
            "simba", "demos and rules from runs that vary most (SIMBA)", _simba,
            lambda size, a: (
                a["max_steps"] * (2 * a["num_candidates"] + 1) * min(a["bsize"], size.train)
                + (a["num_candidates"] + 1) * size.train
            ),
            {"max_steps": 3, "num_candidates": 3, "bsize": 12, "max_demos": 4},
            {"max_steps": 8, "num_candidates": 6, "bsize": 32}, scale="max_steps", least=(1, 0),
        ),
        Optimizer(
            "rules", "rules that a model reads out of the examples (InferRules)", _rules,
            lambda size, a: _demos_tried(size, a) + a["num_candidates"] * size.val,
            {"num_candidates": 3, "num_rules": 5, "max_bootstrapped_demos": 2, "max_labeled_demos": 2},
            {"num_candidates": 8, "num_rules": 10, "max_bootstrapped_demos": 4, "max_labeled_demos": 4},
            scale="num_candidates", labels=True,
        ),
        Optimizer(
            "sft", "the pointer ranker's weights, on lists that cover most (SupervisedRanker)", _sft,
            _no_runs, {"epochs": 60, "patience": 12}, {}, learns="ranker",
        ),
        Optimizer(
            "dpo", "the pointer ranker's weights, on pairs of lists of different worth (PreferenceRanker)", _dpo,
            _no_runs, {"epochs": 60, "patience": 12, "strategy": "us3"}, {}, learns="ranker", refuses=_no_strategy,
        ),
    )
}  # fmt: skip


def optimizer(name: str) -> Optimizer:
    """The optimizer of a name.

    Raises:
        AspectragError: There is none; names the nearest.
    """
    if name in OPTIMIZERS:
        return OPTIMIZERS[name]
    raise AspectragError(
        f"there is no optimizer {name!r}{nearest(name, OPTIMIZERS)} (optimizers: {', '.join(OPTIMIZERS)})"
    )
