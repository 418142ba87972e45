"""``aspectrag eval``, ``compare``: methods over a benchmark, in tables with intervals."""

from pathlib import Path
from typing import Annotated

import typer

from ..data.benchmarks.loading import QuestionSet
from ..data.benchmarks.loading import load as load_questions
from ..data.growing import write_passages
from ..data.index.fingerprint import corpus_hash
from ..data.passages import Passage
from ..errors import AspectragError
from ..lms import load, roles
from ..lms.artifacts import home
from ..programs.program import Program, read_manifest
from ..programs.registry import METHODS, method
from .corpora import index_of
from .options import ApiBase, Encoder, Kind, Lm, settings_of
from .progress import load_model
from .views.tables import comparison_view, failures_view, run_view
from .views.terminal import console, shown

# What answers took is part of every table: a better answer at ten times the price is another matter.
_SPENT = ("steps", "lm_calls", "prompt_tokens", "completion_tokens", "cost", "seconds")


def evaluate(
    methods: Annotated[list[str] | None, typer.Argument(help=f"Any of: {', '.join(METHODS)}.")] = None,
    benchmark: Annotated[
        str, typer.Option("--benchmark", "-b", help="A name of 'aspectrag data list'.", show_default="demo")
    ] = "demo",
    split: Annotated[str, typer.Option(help="dev to measure, tune to learn from.")] = "dev",
    questions: Annotated[
        Path | None,
        typer.Option(help="File or folder with the benchmark's questions.", show_default="fetched, or from the hub"),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="Files or folders to answer from; may be repeated.", show_default="the benchmark's"),
    ] = None,
    index: Annotated[
        Path | None, typer.Option(help="An index to answer from, made by 'aspectrag index build'.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="A random sample of so many.", show_default="all")] = None,
    seed: Annotated[int, typer.Option(help="Which sample --limit takes.")] = 0,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="What is measured; may be repeated.", show_default="the benchmark's, and what it cost"),
    ] = None,
    program: Annotated[
        list[Path] | None, typer.Option(help="A saved program, asked beside the methods; may be repeated.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Passages per query.", show_default="the method's own")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(help="full, or brief, of all methods that can write both.", show_default="what the metrics need"),
    ] = None,
    lm: Lm = None,
    judge_lm: Annotated[
        str | None, typer.Option(help="Language model of metrics that ask a judge.", show_default="--lm")
    ] = None,
    api_base: ApiBase = None,
    workers: Annotated[int, typer.Option(min=1, help="Questions under way at once, over all methods.")] = 8,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the runs; one there goes on.", show_default="runs/BENCHMARK")
    ] = None,
    kind: Kind = "hybrid",
    encoder: Encoder = None,
) -> None:
    """Ask a benchmark's questions of one or more methods, and score the answers.

    All methods get the same questions, passages and language model. Each has a
    folder in --out with its answers, the trace of every question, scores, and
    tables per category. Stopped at any moment, by Ctrl-C or worse, the same
    command goes on where it was and ends with the same table; a finished run
    only prints it. A question that fails is listed, scores 0, and is asked
    again when the command is run again.

    Examples:
      aspectrag eval rag typed --benchmark demo --limit 20
      aspectrag eval rag han -b hotpotqa --questions dev.json --limit 200
      aspectrag eval typed -b wiki-nfqa --judge-lm openai/gpt-4o-mini
      aspectrag eval rag --program my-compiled --benchmark demo
      aspectrag compare runs/demo
    """
    if not methods and not program:
        raise AspectragError(f"say what is evaluated: a method ({', '.join(METHODS)}), or --program FOLDER")
    if index and corpus:
        raise AspectragError("--index and --corpus exclude each other: an index has its passages already")
    asked = load_questions(benchmark, split, questions, limit=limit, seed=seed, store=home() / "benchmarks")
    # Torch and the metrics take seconds to import: only who evaluates pays for them.
    from ..optimizers.evaluation.evaluation import evaluate as run
    from ..optimizers.metrics.registry import metric as metric_of

    names = metric or [*asked.benchmark.metrics, *_SPENT]
    chosen = [metric_of(name) for name in dict.fromkeys(names)]
    folder = out or Path("runs") / benchmark
    classes = {**{name: method(name) for name in methods or []}, **_saved(program or [])}
    model = load(lm, api_base=api_base)
    judge = load(judge_lm) if judge_lm else None
    retriever = None
    if any(cls.retrieves for cls in classes.values()):
        retriever = index_of(index, _corpus(asked, corpus, index), kind, encoder, progress=True, whole_records=True)
    # The same of all: a method whose own answers are brief would win by that.
    options = {"k": k, "answers": answers or asked.benchmark.answers}
    programs: dict[str, Program] = {}
    for name, cls in classes.items():
        saved = next((path for path in program or [] if path.resolve().name == name), None)
        given = retriever if cls.retrieves else None
        settings, _ = settings_of(cls, options)  # options that a method has not are for the others
        programs[name] = cls.load(saved, given) if saved else cls(cls.config_class(**settings), given)
    load_model(model)
    if judge is not None:
        load_model(judge)
    about = {
        "benchmark": benchmark, "split": split, "source": asked.source, "limit": limit, "seed": seed,
        "questions": len(asked),
    }  # fmt: skip
    runs = run(
        programs,
        asked.questions,
        folder,
        metrics=chosen,
        lm=model,
        roles=roles(),
        judge=judge,
        categories=asked.benchmark.categories,
        about=about,
        workers=workers,
    )
    console(wrap=True).print(run_view(runs))
    for each in runs:
        console(stderr=True).print(failures_view(each))
    console().print(shown(f"{folder}: " + ", ".join(each.path.name for each in runs)), style="dim")
    if all(each.metrics["answered"] == 0 for each in runs):
        raise AspectragError("no question was answered: see the errors above")


def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or folders that hold several; the first is the base.")
    ],
    metric: Annotated[
        list[str] | None, typer.Option(help="Which columns; may be repeated.", show_default="all")
    ] = None,
    by: Annotated[str | None, typer.Option(help="A category, such as type or hops: a table for each value.")] = None,
) -> None:
    """Compare runs question by question: means, paired differences with 95 % intervals, and p values.

    Only questions that all runs were asked count; every run is compared with
    the first. An interval that holds 0, or a p value above 0.05, says that the
    difference may be chance.

    Examples:
      aspectrag compare runs/demo
      aspectrag compare runs/demo/rag runs/demo/typed --metric f1 --by type
      aspectrag compare runs/before/han runs/after/han
    """
    from ..optimizers.evaluation.comparison import compare as compared
    from ..optimizers.evaluation.run import runs_of

    found = [run for path in runs for run in runs_of(path)]
    rows = compared(found, metric or [])
    categories = list(dict.fromkeys(row.category for row in rows if row.category != "all"))
    if by and by not in categories:
        raise AspectragError(f"the runs have no category {by!r} (they have: {', '.join(categories) or 'none'})")
    console(wrap=True).print(comparison_view(found, rows, by))


def _saved(folders: list[Path]) -> dict[str, type[Program]]:
    """The class of each saved program, by the name of its folder.

    Raises:
        AspectragError: A folder holds none, or two have one name.
    """
    classes = {cls.__name__: cls for cls in METHODS.values()}
    found: dict[str, type[Program]] = {}
    for folder in folders:
        name = str(read_manifest(folder).get("class"))
        if name not in classes:
            raise AspectragError(f"{folder} holds a program of the class {name!r}, which is no method")
        run = folder.resolve().name
        if run in found or run in METHODS or run.startswith("."):
            raise AspectragError(f"--program {folder}: a run cannot be named {run!r} here: rename the folder")
        found[run] = classes[name]
    return found


def _corpus(asked: QuestionSet, corpus: list[Path] | None, index: Path | None) -> list[Path]:
    """Files of the passages: the user's, the benchmark's, or those that came with its questions, written down once.

    Raises:
        AspectragError: There are none.
    """
    if index:
        return []
    if corpus:
        return corpus
    if isinstance(asked.corpus, Path):
        return [asked.corpus]
    if not asked.corpus:
        raise AspectragError(
            f"{asked.benchmark.name} brings no passages ({asked.benchmark.corpus}): "
            "give --corpus FILES or --index FOLDER"
        )
    return [_written(asked.corpus)]


def _written(passages: tuple[Passage, ...]) -> Path:
    file = home() / "corpora" / f"{corpus_hash(passages)[:16]}.jsonl"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_passages(file, passages)
    return file
