"""``aspectrag compile``: a method, or one stage of it, tuned for a language model."""

import ast
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..data.index.retriever import NoPassages, Retriever
from ..errors import AspectragError
from ..lms import load
from ..programs.program import Program
from ..programs.registry import method
from .corpora import say
from .options import ApiBase, Corpus, Encoder, IndexFolder, Kind, Lm, Role, roles_of
from .progress import load_model, waiting
from .questions import benchmark_index
from .tracking import Mlflow, tell, tracker_of
from .views.compiled import compiled_view, recipes_view
from .views.terminal import console

if TYPE_CHECKING:
    from ..optimizers.compiling.materials import Materials
    from ..optimizers.compiling.recipes import Recipe
    from ..optimizers.compiling.spending import Estimate


def compile(
    target: Annotated[
        str | None, typer.Argument(help="METHOD or METHOD.STAGE, such as han.route.", show_default="the recipe's")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", "-r", help="A name of --list, or a .toml file.", show_default="by target")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List recipes and optimizers, and end.")] = False,
    optimizer: Annotated[
        str | None, typer.Option("--optimizer", "-o", help="A name of --list.", show_default="the recipe's")
    ] = None,
    argument: Annotated[
        list[str] | None, typer.Option("--arg", help="NAME=VALUE of the optimizer; may be repeated.")
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            help="small, medium, or the most runs that the optimizer may make; their calls are told before you agree."
        ),
    ] = "small",
    lm: Lm = None,
    teacher_lm: Annotated[
        str | None, typer.Option(help="Language model that makes demos.", show_default="--lm")
    ] = None,
    prompt_lm: Annotated[
        str | None, typer.Option(help="Language model that writes instructions.", show_default="--teacher-lm")
    ] = None,
    api_base: ApiBase = None,
    role: Role = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with a folder for each benchmark.", show_default="what was fetched, or the hub"),
    ] = None,
    train: Annotated[Path | None, typer.Option(help="Your own examples to learn from, JSON lines.")] = None,
    val: Annotated[Path | None, typer.Option(help="Your own examples to choose by.")] = None,
    test: Annotated[Path | None, typer.Option(help="Your own examples to measure on.")] = None,
    corpus: Corpus = None,
    index: IndexFolder = None,
    program: Annotated[Path | None, typer.Option(help="A compiled program to start from.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Score that makes a run a demo.", show_default="the recipe's")
    ] = None,
    keep: Annotated[str, typer.Option(help="better: of the two on the test examples; or compiled, always.")] = "better",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Begin without asking.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="New folder for the program; a stopped one goes on.", show_default="compiled/..."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Runs at once.")] = 8,
    seed: Annotated[int, typer.Option(help="Of all choices.")] = 0,
    kind: Kind = "hybrid",
    encoder: Encoder = None,
    mlflow: Mlflow = None,
) -> None:
    """Tune a method, or one stage of it, for a language model: demos, instructions, or the ranker's weights.

    A recipe says what is tuned, from which data, by which metric and optimizer;
    options change it. First the data are checked, then a few runs tell what it
    will take, and you are asked. The program is measured before and after on
    examples that the optimizer never sees, and the better one is kept. OUT
    becomes a folder that loads anywhere, with report.json. Stopped at any
    moment, the same command goes on, and asks no language model twice.

    With --train, --val and --test the examples are your own: one JSON object a
    line with the fields of the stage, or with a question and its answers where
    a whole method is tuned.

    Examples:
      aspectrag compile --list
      aspectrag compile han.route
      aspectrag compile --recipe classifier --lm ollama_chat/qwen3:4b
      aspectrag compile typed.classify --optimizer gepa --prompt-lm openai/gpt-4o
      aspectrag compile han.judge_ending --program compiled/han.route --budget 500
      aspectrag ask "Who founded it, and when?" --program compiled/han.route
    """
    # Optimizers, torch and the metrics take seconds to import: only who compiles pays for them.
    from ..optimizers.compiling.folder import check
    from ..optimizers.compiling.materials import materials, metric_of
    from ..optimizers.compiling.recipes import cook, recipes
    from ..optimizers.metrics.judge import ROLE

    if listing:
        console(wrap=True).print(recipes_view(recipes()))
        return
    if not yes and not sys.stdin.isatty():
        raise AspectragError("there is nobody to ask whether to begin: give --yes")
    chosen = _recipe(target, recipe)
    if keep not in ("better", "compiled"):
        raise AspectragError(f"--keep is better or compiled, not {keep!r}")
    steps: str | int = int(budget) if re.fullmatch("[0-9]{1,18}", budget) else budget
    folder = out or Path("compiled") / chosen.target
    check(folder)
    tracker = tracker_of(mlflow)
    model = load(lm, api_base=api_base)
    teacher, prompt = (load(name) if name else None for name in (teacher_lm, prompt_lm))
    with ExitStack() as gathering:
        with waiting("gathering examples …"):
            found = _own(chosen, train, val, test) or gathering.enter_context(
                materials(chosen.data, chosen.size(steps), data, seed, lambda found: metric_of(chosen.metric, found))
            )
        start = _program(chosen, program, found, corpus, index, kind, encoder)
        stages = [name for name, _ in start.named_predictors()]
        others = roles_of(role, [*stages, ROLE])
        tuned = [chosen.stage] if chosen.stage else stages
        if taken := [text for text in role or [] if text.partition("=")[0].strip() in tuned]:
            raise AspectragError(f"--role {taken[0]}: this stage is tuned, for the model of --lm: leave it out")
        for each in filter(None, (model, teacher, prompt)):
            load_model(each)
        done = cook(
            chosen, start, found, folder, optimizer=optimizer, arguments=_arguments(argument or []), budget=steps,
            lm=model, teacher=teacher, prompt=prompt, roles=others, keep=cast(Any, keep), workers=workers, seed=seed,
            agree=lambda estimate: _agreed(estimate, yes), **({} if threshold is None else {"threshold": threshold}),
        )  # fmt: skip
    console(wrap=True).print(compiled_view(done.report, folder))
    tell(tracker, lambda to: to.compiled(folder))


def _recipe(target: str | None, name: str | None) -> "Recipe":
    """The recipe that is meant by its name, or by what it tunes.

    Raises:
        AspectragError: There is none, or it tunes something else.
    """
    from ..optimizers.compiling.recipes import recipe, recipes

    if name:
        chosen = recipe(name)
        if target not in (None, chosen.target):
            raise AspectragError(f"the recipe {name} tunes {chosen.target}, not {target}: leave one of the two out")
        return chosen
    if target is None:
        raise AspectragError("say what is tuned: METHOD.STAGE, or --recipe NAME ('aspectrag compile --list')")
    fitting = [each for each in recipes().values() if each.target == target]
    if not fitting:
        method(target.partition(".")[0])
        known = ", ".join(dict.fromkeys(each.target for each in recipes().values()))
        raise AspectragError(f"there is no recipe for {target!r}: give --recipe FILE.toml, or one of {known}")
    return fitting[0]


def _own(chosen: "Recipe", train: Path | None, val: Path | None, test: Path | None) -> "Materials | None":
    """The user's own examples, if there are any.

    Raises:
        AspectragError: Some are missing, or a file cannot be read.
    """
    from ..data.benchmarks.files import read_lines
    from ..optimizers.compiling.materials import Found, Materials, metric_of, own_example
    from ..optimizers.compiling.recipes import output_of

    if not (train or val or test):
        return None
    if not train or not test:
        raise AspectragError("own examples need --train and --test (and --val, which most optimizers choose by)")
    for path in filter(None, (train, val, test)):
        if not path.is_file():
            raise AspectragError(f"{path} does not exist: give a file of JSON lines")
    inputs, output = output_of(chosen)
    learn, choose, measure = (
        [own_example(record, inputs) for _, record in read_lines(path)] if path else [] for path in (train, val, test)
    )
    return Materials(learn, choose, measure, metric_of(chosen.metric, Found(output, None)))


def _program(
    chosen: "Recipe",
    folder: Path | None,
    found: "Materials",
    corpus: list[Path] | None,
    index: Path | None,
    kind: str,
    encoder: str | None,
) -> Program:
    """The program to start from; over passages where the recipe asks questions of it."""
    cls = method(chosen.method)
    retriever: Retriever = NoPassages()
    if found.questions or corpus or index:
        retriever = benchmark_index(found.questions, corpus, index, kind, encoder)
    elif chosen.whole or chosen.stage is None:
        raise AspectragError("whole methods look things up: give --corpus FILES or --index FOLDER")
    given = retriever if cls.retrieves else None
    return cls.load(folder, given) if folder else cls(cls.config_class(**chosen.config), given)


def _arguments(given: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` as Python reads the value.

    Raises:
        AspectragError: It is none.
    """
    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise AspectragError(f"--arg takes NAME=VALUE, not {each!r}")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def _agreed(estimate: "Estimate", yes: bool) -> bool:
    say(f"this takes {estimate}")
    return yes or typer.confirm("Begin?", default=True, err=True)
