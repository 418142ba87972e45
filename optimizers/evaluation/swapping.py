"""Swapping the language model: the same questions of the same program, on one model after another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from ...errors import AspectragError
from ...lms import explain
from ...programs.compiled import folder_of
from ...programs.fitting import relearnt
from ...programs.program import Program
from ..compiling.folder import finished
from ..metrics.metric import Metric
from .evaluation import evaluate
from .run import Run
from .runner import alone
from .tables import runs_html

# What answers took, and how often an output was of no use: the other half of every table of a swap.
SPENT = (
    "lm_calls", "prompt_tokens", "completion_tokens", "cost", "seconds", "fallbacks", "parse_failures",
)  # fmt: skip
# Tunes a program by the recipe of a name for a language model, in a folder of its own.
Recompile = Callable[[str, Program, dspy.BaseLM, Path], Program]


@dataclass(frozen=True)
class Swapped:
    """One run of a swap.

    Attributes:
        lm: What the user calls the language model.
        recipes: What the program was recompiled by for it; empty where it is as it is for all.
        run: The run, scored.
    """

    lm: str
    recipes: tuple[str, ...]
    run: Run

    @property
    def name(self) -> str:
        """One line: the language model, and how the program was recompiled."""
        return f"{self.lm}, recompiled ({', '.join(self.recipes)})" if self.recipes else self.lm

    def _repr_html_(self) -> str:
        """The tables of its run, in notebooks."""
        return runs_html([self.run], self.name)


def swap(
    program_of: Callable[[dspy.BaseLM], Program],
    questions: Sequence[dspy.Example],
    lms: Mapping[str, dspy.BaseLM],
    out: str | Path,
    *,
    method: str,
    metrics: Sequence[str | Metric],
    recipes: Sequence[str] = (),
    recompile: Recompile | None = None,
    roles: Mapping[str, dspy.BaseLM] | None = None,
    judge: dspy.BaseLM | None = None,
    categories: Sequence[str] = ("type",),
    about: Mapping[str, Any] | None = None,
    workers: int = 8,
    progress: bool = True,
    report: Callable[[str], None] | None = None,
) -> list[Swapped]:
    """Ask the same questions of a program on one language model after another; stopped, it goes on where it was.

    Each run is one of :func:`.evaluation.evaluate`, in ``out/<language model>/<method>``; a recompiled program's is in
    ``out/<language model>+<recipe>/<method>``. One judge judges them all, since models rate their own answers higher.

    Args:
        program_of: Makes the program for a language model: the same one for all, unless there is a reason.
        questions: As benchmarks give them.
        lms: Two language models or more, by what the user calls them; the first is what others are compared with.
        out: Folder.
        method: Name of the method, and of its runs.
        metrics: Metrics, or their names; :data:`SPENT` is measured too.
        recipes: What the program is recompiled by, one after another, for each language model: it is then asked twice,
            as it is and recompiled. What is tuned already is not tuned again.
        recompile: Tunes the program by one of these recipes; gives it back tuned, saved in the folder or not.
        roles: Language models of single stages, the same for all.
        judge: Judges, for metrics that ask a judge; the role ``judge``, or the first of ``lms``, by default.
        categories: Fields of the questions that tables are split by.
        about: What else the config of the runs shall say.
        workers: Questions under way at once.
        progress: Whether to show bars.
        report: Told which language model has its turn.

    Returns:
        The runs, by language model in the order given: as it is, then recompiled.

    Raises:
        AspectragError: Something cannot be used as it is, two language models are one, or one is out of reach: the runs
            that are done stay, and so does what was answered of the others.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data.benchmarks import load
        >>> from aspectrag.programs import Direct
        >>> models = {name: lms.scripted_lm({"answer": name}) for name in ("large", "small")}
        >>> with TemporaryDirectory() as folder:
        ...     done = swap(
        ...         lambda _: Direct(), load("demo", limit=2).questions, models, folder,
        ...         method="direct", metrics=["em"], progress=False,
        ...     )
        >>> len(done)
        2
    """
    if recipes and recompile is None:
        raise ValueError("recipes need a function that recompiles by them")
    out, own = Path(out), dict(roles or {})
    folders = folders_of(lms)
    if (out / "manifest.json").is_file():
        raise AspectragError(f"{out} is a run itself: give a new folder as --out")
    judges = judge or own.get("judge") or next(iter(lms.values()))
    chosen = [*metrics, *(name for name in SPENT if name not in {getattr(each, "name", each) for each in metrics})]

    def run(program: Program, folder: Path, lm: dspy.BaseLM, more: Mapping[str, Any]) -> Run:
        (made,) = evaluate(
            {method: program}, questions, folder, metrics=chosen, lm=lm, roles=own, judge=judges, categories=categories,
            about={**(about or {}), **more}, workers=workers, progress=progress,
        )  # fmt: skip
        return made

    swapped = []
    with alone(out):
        for place, (name, lm) in enumerate(lms.items(), 1):
            if report:
                report(f"{name} ({place} of {len(lms)})")
            try:
                swapped.append(Swapped(name, (), run(program_of(lm), out / folders[name], lm, {})))
                if recompile and recipes:
                    kept = out / folders[name] / "compiled"
                    tuned = _recompiled(program_of(lm), lm, kept, method, recipes, recompile)
                    folder = out / "+".join([folders[name], *map(folder_of, recipes)])
                    made = run(tuned, folder, lm, {"recompiled": list(recipes)})
                    swapped.append(Swapped(name, tuple(recipes), made))
            except dspy.LMError as error:
                raise AspectragError(
                    f"{name}: {explain(error)}. What was answered is kept in {out}: the same command goes on"
                ) from error
    return swapped


def folders_of(lms: Mapping[str, dspy.BaseLM]) -> dict[str, str]:
    """The folder of each language model, by what the user calls it.

    Raises:
        AspectragError: There is one only, or two are the same.
    """
    names: dict[str, str] = {}
    for name, lm in lms.items():
        model = getattr(lm, "model", type(lm).__name__)
        if model in names:
            raise AspectragError(f"{names[model]} and {name} are the same language model ({model}): give each once")
        names[model] = name
    if len(names) < 2:
        raise AspectragError(f"there is one language model only ({', '.join(lms)}): give two or more, each as --lm")
    return {name: folder_of(model) for model, name in names.items()}


def _recompiled(
    program: Program, lm: dspy.BaseLM, kept: Path, method: str, recipes: Sequence[str], recompile: Recompile
) -> Program:
    """The program tuned by one recipe after another; what was tuned before is read from its folder.

    Each stage goes on with what it learnt, and with what is known of that.

    Raises:
        AspectragError: What was tuned before had other settings, or cannot be read.
    """
    folder = method
    for recipe in recipes:
        folder += f"+{folder_of(recipe)}"
        if not finished(kept / folder):
            before = program.deepcopy()
            tuned = recompile(recipe, program, lm, kept / folder)
            if not (kept / folder / "manifest.json").is_file():
                told = {"lm": getattr(lm, "model", ""), "recipe": recipe}
                stages = {**tuned.tuning.get("stages", {}), **dict.fromkeys(relearnt(before, tuned), told)}
                tuned.save(kept / folder, meta={**told, "stages": stages})
        saved = type(program).load(kept / folder, program.retriever)
        if saved.config != program.config:
            raise AspectragError(f"{kept / folder} was tuned with other settings: give another --out, or remove it")
        # Also where it was tuned just now: what is measured is what is kept, and a run that goes on finds the same.
        program.adopt(kept / folder, [*saved.tuning["stages"], *relearnt(program, saved)])
        if (ranker := getattr(saved, "ranker", None)) is not None:
            program.ranker = ranker  # pyright: ignore[reportAttributeAccessIssue]
            program.tuning["ranker"] = saved.tuning.get("ranker", {"recipe": recipe})
    return program
