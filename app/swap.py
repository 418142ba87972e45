"""``aspectrag swap``: one method on several language models, in a table of what each gains and costs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import dspy
import typer

from ..data.benchmarks.loading import load as load_questions
from ..errors import AspectragError
from ..lms import load
from ..programs.program import Program
from ..programs.registry import METHODS, method
from .corpora import say
from .options import (
    ApiBase,
    BenchmarkName,
    Corpus,
    Encoder,
    IndexFolder,
    K,
    Kind,
    Limit,
    Questions,
    Role,
    Seed,
    Split,
    roles_of,
    settings_of,
)
from .progress import load_model
from .questions import about, benchmark_index
from .views.swap import swap_view
from .views.tables import failures_view
from .views.terminal import console, shown


def swap(
    method_name: Annotated[str, typer.Argument(metavar="METHOD", help=f"One of: {', '.join(METHODS)}.")],
    lm: Annotated[
        list[str],
        typer.Option(
            help="A language model, as for 'aspectrag ask'; given two times or more. The others are compared with "
            "the first."
        ),
    ],
    benchmark: BenchmarkName = "demo",
    split: Split = "dev",
    questions: Questions = None,
    corpus: Corpus = None,
    index: IndexFolder = None,
    limit: Limit = None,
    seed: Seed = 0,
    recompile: Annotated[
        list[str] | None,
        typer.Option(
            help="A recipe: for each language model the program is asked as it is, and tuned by the recipe for it; may "
            "be repeated."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="What quality is; may be repeated.", show_default="the benchmark's"),
    ] = None,
    k: K = None,
    answers: Annotated[
        str | None,
        typer.Option(help="full, or brief, of a method that can write both.", show_default="what the metrics need"),
    ] = None,
    judge_lm: Annotated[
        str | None,
        typer.Option(help="Language model of metrics that ask a judge, the same for all.", show_default="first --lm"),
    ] = None,
    role: Role = None,
    api_base: ApiBase = None,
    workers: Annotated[int, typer.Option(min=1, help="Questions under way at once.")] = 8,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the runs; one there goes on.", show_default="runs/swap-BENCHMARK")
    ] = None,
    kind: Kind = "hybrid",
    encoder: Encoder = None,
) -> None:
    """Ask a benchmark's questions of a method on several language models: what does another one gain, and cost?

    All of them get the same questions, passages and program. The table has the
    quality of each with 95 % intervals, the paired difference to the first with
    its p value, and what an answer took: calls, tokens, dollars, seconds. It
    counts failed questions, simpler paths that were taken, and parse failures:
    those of them taken because the model's output could not be used.

    A prompt that was tuned for one model may suit another less: with
    --recompile each is asked twice, by the program as it is and by one whose
    stages a recipe tuned for that model, in a row of its own.

    Each has an ordinary run in --out, to look into with 'aspectrag report'.
    Stopped at any moment, or by a server that went away, the same command goes
    on where it was; a finished one only prints the table.

    Examples:
      aspectrag swap rag --lm embedded --lm ollama_chat/qwen3:4b --limit 20
      aspectrag swap han --lm openai/gpt-4o-mini --lm small -b hotpotqa
      aspectrag swap typed --lm embedded --lm small --judge-lm openai/gpt-4o
      aspectrag swap han --lm embedded --lm small --recompile router
      aspectrag report runs/swap-hotpotqa/*
    """
    cls = method(method_name)
    models = _models(lm, api_base)
    asked = load_questions(benchmark, split, questions, limit=limit, seed=seed)
    # Torch and the metrics take seconds to import: only who evaluates pays for them.
    from ..optimizers.evaluation.comparison import compare
    from ..optimizers.evaluation.swapping import swap as run
    from ..optimizers.metrics.registry import metric as metric_of

    chosen = [metric_of(name) for name in dict.fromkeys(metric or asked.benchmark.metrics)]
    settings, _ = settings_of(cls, {"k": k, "answers": answers or asked.benchmark.answers})
    config = cls.config_class(**settings)
    stages = cls.stages(config)
    own = roles_of(role, stages)
    recipes = _recipes(recompile or [], method_name, own)
    judge = load(judge_lm) if judge_lm else None
    retriever = benchmark_index([asked], corpus, index, kind, encoder) if cls.retrieves else None
    for each in (judge, *(own[stage] for stage in stages if stage in own)):
        if each is not None:
            load_model(each)

    def program_of(model: dspy.BaseLM) -> Program:
        if isinstance(model, dspy.LM):
            load_model(model)
        return cls(config, retriever)

    def recompiled(recipe: str, program: Program, model: dspy.BaseLM, to: Path) -> Program:
        # DSPy's optimizers take seconds to import: only who recompiles pays for them.
        from ..optimizers.compiling import compile_recipe
        from ..optimizers.compiling.optimizing import NothingChangedError

        try:
            return compile_recipe(recipe, program, to, lm=model, roles=own, workers=workers).program
        except NothingChangedError as error:  # which is what comes out of a comparison, too
            say(f"{recipe}: {error}")
            return program

    folder = out or Path("runs") / f"swap-{benchmark}"
    swapped = run(
        program_of,
        asked.questions,
        models,
        folder,
        method=method_name,
        metrics=chosen,
        recipes=recipes,
        recompile=recompiled,
        roles=own,
        judge=judge,
        categories=asked.benchmark.categories,
        about=about(asked, limit, seed),
        workers=workers,
        report=say,
    )
    console(wrap=True).print(swap_view(swapped, compare([each.run for each in swapped])))
    for each in swapped:
        console(stderr=True).print(failures_view(each.run, each.name))
    console().print(shown(f"The runs are in {folder}: aspectrag report {folder}/*"), style="dim")
    if silent := [each.name for each in swapped if each.run.metrics["answered"] == 0]:
        raise AspectragError(f"{'; '.join(silent)}: no question was answered: see the errors above")


def _models(names: list[str], api_base: str | None) -> dict[str, dspy.BaseLM]:
    """The language models by the names that the user gave.

    Raises:
        AspectragError: There is one only, or two are the same.
    """
    from ..optimizers.evaluation.swapping import folders_of

    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise AspectragError(f"--lm {twice[0]} is given twice: give each language model once")
    models: dict[str, dspy.BaseLM] = {name: load(name, api_base=api_base) for name in names}
    folders_of(models)
    return models


def _recipes(names: list[str], method_name: str, roles: Mapping[str, dspy.BaseLM]) -> list[str]:
    """The names of recipes, each once; looked at before the work, which may take hours.

    Raises:
        AspectragError: There is no such recipe, or it is for something else.
    """
    if not names:
        return []
    from ..optimizers.compiling.recipes import recipe

    for name in names:
        found, why = recipe(name), None
        if found.method != method_name:
            why = f"this recipe is for {found.method}, not for {method_name}"
        elif found.stage == "ranker":
            why = "this recipe trains what asks no language model"
        elif found.stage in roles:
            why = f"the stage {found.stage} has a language model of its own, its role"
        if why:
            raise AspectragError(f"--recompile {name}: {why}: leave it out")
    return list(dict.fromkeys(names))
