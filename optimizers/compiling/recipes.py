"""Recipes: what is tuned, from which data, by which metric and optimizer; data, in ``optimizers/recipes/*.toml``.

about = "how a question is looked up"
target = "han.route"            # a method, or a method and one of its stages
metric = "label"                # of the stage's own output, or a name of the metrics registry
optimizer = "random-search"
arguments = { max_labeled_demos = 8 }
whole = false                   # true: the stage is scored by what the whole method makes of it
threshold = 1.0                 # the score that makes a run a demo

[data]                          # see :mod:`.materials`
stage = "router"
sets = ["commonsenseqa", "nq", "compound", "musique"]

[sizes]                         # examples: train, val, test
small = [40, 40, 200]
medium = [120, 120, 400]
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import dspy
from pydantic import TypeAdapter, ValidationError

from ... import optimizers
from ...data.index.retriever import NoPassages
from ...errors import AspectragError, nearest
from ...programs.program import Program
from ...programs.registry import METHODS, method
from .compiler import Compiled, compile_program
from .examples import Examples
from .folder import completed, finished
from .materials import Materials, materials, metric_of
from .report import Report

_SIZES = {"small": (40, 40, 100), "medium": (120, 100, 300)}


@dataclass(frozen=True)
class Recipe:
    """What is tuned, and how.

    Attributes:
        name: What users call it.
        about: One line.
        target: ``METHOD`` or ``METHOD.STAGE``.
        metric: ``label``, ``parts``, ``hit@k``, ``ranking@k``, or a metric of the registry.
        optimizer: Name of the optimizer.
        data: Where examples come from.
        arguments: Of the optimizer.
        whole: Whether a stage is scored by what the whole method makes of it.
        threshold: Score that makes a run a demo; the highest there is by default.
        config: Settings of the method.
        sizes: Examples to learn from, to choose by and to measure on, by budget.

    Example:
        >>> recipe("router").stage
        'route'
    """

    name: str
    about: str
    target: str
    metric: str
    optimizer: str
    data: Mapping[str, Any]
    arguments: Mapping[str, Any]
    whole: bool
    threshold: float | None
    config: Mapping[str, Any]
    sizes: Mapping[str, tuple[int, int, int]]

    @property
    def method(self) -> str:
        """The method's name."""
        return self.target.partition(".")[0]

    @property
    def stage(self) -> str | None:
        """The stage's name; ``None`` where the whole method is tuned."""
        return self.target.partition(".")[2] or None

    def size(self, budget: str | int) -> tuple[int, int, int]:
        """Examples to learn from, to choose by and to measure on."""
        return self.sizes.get(str(budget), self.sizes["small"])


def read_recipe(text: str, name: str) -> Recipe:
    """Read a recipe.

    Raises:
        AspectragError: It is no TOML, lacks something, or has something unknown.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AspectragError(f"the recipe {name} is no TOML ({error})") from None
    known = {each.name for each in fields(Recipe)} - {"name"}
    needed = ("about", "target", "metric", "optimizer", "data")
    if unknown := sorted(given.keys() - known):
        raise AspectragError(f"the recipe {name} has {unknown[0]!r}, which is none of {', '.join(sorted(known))}")
    if missing := [key for key in needed if key not in given]:
        raise AspectragError(f"the recipe {name} has no {missing[0]}")
    sizes = given.get("sizes", {})
    filled = {
        "name": name, "arguments": {}, "whole": False, "threshold": None, "config": {}, **given,
        "sizes": {**_SIZES, **sizes} if isinstance(sizes, dict) else sizes,
    }  # fmt: skip
    try:
        read = TypeAdapter(Recipe).validate_python(filled)
    except ValidationError as error:
        first = error.errors()[0]
        raise AspectragError(f"the recipe {name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if any(train < 1 or val < 0 or test < 1 for train, val, test in read.sizes.values()):
        raise AspectragError(
            f"the recipe {name}: sizes are [train, val, test], with something to learn from and measure"
        )
    tuned, dot, stage = read.target.partition(".")
    cls = method(tuned)
    try:
        stages = cls.stages(cls.config_class(**read.config))
    except TypeError as error:
        raise AspectragError(f"the recipe {name}: its config does not fit {tuned} ({error})") from None
    if dot and stage not in (*stages, "ranker"):
        raise AspectragError(f"the recipe {name}: {tuned} has no stage {stage!r} ({', '.join(stages)})")
    return read


@cache
def recipes() -> dict[str, Recipe]:
    """The recipes of the package, by name."""
    found = sorted((file for file in files(optimizers).joinpath("recipes").iterdir() if file.name.endswith(".toml")),
                   key=lambda file: file.name)  # fmt: skip
    return {name: read_recipe(file.read_text(encoding="utf-8"), name) for file in found if (name := file.name[:-5])}


def recipe(name: str) -> Recipe:
    """The recipe of a name, or of a file that ends in ``.toml``.

    Raises:
        AspectragError: There is none; names the nearest.

    Example:
        >>> recipe("router").target
        'han.route'
    """
    if name.endswith(".toml"):
        try:
            return read_recipe(Path(name).read_text(encoding="utf-8"), Path(name).stem)
        except (OSError, UnicodeDecodeError) as error:
            raise AspectragError(f"{name} cannot be read ({error}): give a recipe's name or file") from None
    known = recipes()
    if name in known:
        return known[name]
    raise AspectragError(f"there is no recipe {name!r}{nearest(name, known)} (recipes: {', '.join(known)})")


def output_of(chosen: Recipe) -> tuple[tuple[str, ...], str]:
    """What the student of a recipe is given, and the field that it returns.

    Example:
        >>> output_of(recipe("router"))
        (('question',), 'route')
    """
    if chosen.stage in ("rank", "ranker"):
        return ("question", "aspects"), "ranked"
    if chosen.whole or chosen.stage is None:
        return ("question",), "answer"
    predictor: Any = getattr(method(chosen.method)(None, NoPassages()), chosen.stage)
    return tuple(predictor.signature.input_fields), next(iter(predictor.signature.output_fields))


def cook(
    chosen: Recipe, program: Program, found: Materials, out: Path, *, optimizer: str | None = None, **options: Any
) -> Compiled:
    """Tune a program by a recipe, from materials that were gathered for it.

    Args:
        chosen: The recipe.
        program: Of its method.
        found: Its examples, and what its metric needs.
        out: As in :func:`.compiler.compile_program`.
        optimizer: In place of the recipe's, with its own arguments.
        options: As there.

    Raises:
        AspectragError: The program is another method's; and as there.
    """
    if type(program) is not METHODS[chosen.method]:
        raise AspectragError(f"the recipe {chosen.name} is for {chosen.method}, not for a {type(program).__name__}")
    arguments = {**(chosen.arguments if optimizer in (None, chosen.optimizer) else {}), **options.pop("arguments", {})}
    return compile_program(
        program,
        Examples(found.train, found.val, found.test),
        found.metric,
        out,
        method=chosen.method,
        stage=None if chosen.stage == "ranker" else chosen.stage,
        by=optimizer or chosen.optimizer,
        arguments=arguments,
        known=found.known,
        whole=chosen.whole,
        threshold=options.pop("threshold", chosen.threshold),
        recipe=chosen.name,
        **options,
    )


def compile_recipe(
    name: str,
    program: Program,
    out: str | Path,
    *,
    lm: dspy.BaseLM,
    data: str | Path | None = None,
    budget: str | int = "small",
    seed: int = 0,
    **options: Any,
) -> Compiled:
    """Tune a program by the recipe of a name; what was done before in the folder is not done again.

    Args:
        name: Of a recipe, or its file.
        program: Of its method.
        out: Folder for the compiled program.
        lm: The language model to tune for.
        data: Folder with a folder for each benchmark; what was fetched by default.
        budget: As in :func:`.compiler.compile_program`.
        seed: Of all choices.
        options: As there.

    Returns:
        The program, and the report of how it came to be.

    Raises:
        AspectragError: As there, the data cannot be had, or the folder holds a program that was tuned otherwise.

    Example:
        >>> compile_recipe("router", program, "compiled/route", lm=lm, budget="small")  # doctest: +SKIP
    """
    out, data, chosen = Path(out), None if data is None else Path(data), recipe(name)
    if finished(out) and (done := completed(program, out)):
        _refuse_another(out, done[1], chosen, lm, options)
        return Compiled(*done)
    with materials(chosen.data, chosen.size(budget), data, seed, lambda f: metric_of(chosen.metric, f)) as found:
        return cook(chosen, program, found, out, lm=lm, budget=budget, seed=seed, **options)


def _refuse_another(out: Path, report: Report, chosen: Recipe, lm: dspy.BaseLM, options: Mapping[str, Any]) -> None:
    """Compare what was asked for with what the report of a folder tells.

    Raises:
        AspectragError: It is something else; names the first.
    """
    models = {"lm": lm, **{name: options.get(name) for name in ("teacher", "prompt")}}
    wanted = {
        "target": chosen.method if chosen.stage == "ranker" else chosen.target, "recipe": chosen.name,
        "optimizer": options.get("optimizer") or chosen.optimizer,
        **{name: getattr(model, "model", "") for name, model in models.items() if model},
    }  # fmt: skip
    told = {"target": report.target, "recipe": report.recipe, "optimizer": report.optimizer, **report.models}
    for name in {**wanted, **told}:
        if told.get(name) != wanted.get(name):
            raise AspectragError(
                f"{out} holds a program with another {name} ({told.get(name) or 'none'}, not "
                f"{wanted.get(name) or 'none'}): give another folder, or remove it"
            )
