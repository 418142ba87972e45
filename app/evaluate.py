"""``aspectrag eval``, ``compare``: methods over a benchmark, in tables with intervals."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data.benchmarks.loading import load as load_questions
from ..data.index.retriever import NoPassages
from ..errors import AspectragError
from ..lms import load
from ..programs.program import Program
from ..programs.rankers.pointer import PointerRanker
from ..programs.registry import METHODS, class_of, method
from ..programs.rich_rag import RichRag
from ..whole import write
from .options import (
    ApiBase,
    BenchmarkName,
    Corpus,
    Encoder,
    IndexFolder,
    Json,
    K,
    Kind,
    Limit,
    Lm,
    Profile,
    Questions,
    Ranker,
    Role,
    Seed,
    Split,
    Uncompiled,
    file_of,
    settings_of,
    trained_ranker,
)
from .profile import stage_models
from .progress import load_model
from .questions import SPENT, about, benchmark_index
from .shipped import use_shipped
from .tracking import Mlflow, tell, tracker_of
from .views.tables import comparison_view, failures_view, run_view
from .views.terminal import console, shown

if TYPE_CHECKING:
    from ..optimizers.evaluation.run import Run
    from ..optimizers.tracking import Tracker


def evaluate(
    methods: Annotated[list[str] | None, typer.Argument(help=f"Any of: {', '.join(METHODS)}.")] = None,
    benchmark: BenchmarkName = "demo",
    split: Split = "dev",
    questions: Questions = None,
    corpus: Corpus = None,
    index: IndexFolder = None,
    limit: Limit = None,
    seed: Seed = 0,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="What is measured; may be repeated.", show_default="the benchmark's, and what it cost"),
    ] = None,
    program: Annotated[
        list[Path] | None, typer.Option(help="A saved program, asked beside the methods; may be repeated.")
    ] = None,
    k: K = None,
    answers: Annotated[
        str | None,
        typer.Option(help="full, or brief, of all methods that can write both.", show_default="what the metrics need"),
    ] = None,
    lm: Lm = None,
    role: Role = None,
    profile: Profile = None,
    uncompiled: Uncompiled = False,
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
    ranker: Ranker = None,
    json: Json = None,
    mlflow: Mlflow = None,
) -> None:
    """Ask a benchmark's questions of one or more methods, and score the answers.

    All methods get the same questions, passages and language model. Each has a
    folder in --out with its answers, the trace of every question, scores, and
    tables per category. Stopped at any moment, by Ctrl-C or worse, the same
    command goes on where it was and ends with the same table; a finished run
    only prints it. A question that fails is listed, scores 0, and is asked
    again when the command is run again.

    Where stages of a method come tuned for the language model, or have small
    models of their own that steer the question, they are used; --uncompiled
    leaves both out. --role gives single stages a language model of their own.

    Examples:
      aspectrag eval rag typed --benchmark demo --limit 20
      aspectrag eval rag han -b hotpotqa --questions dev.json --limit 200
      aspectrag eval typed -b wiki-nfqa --judge-lm openai/gpt-4o-mini
      aspectrag eval rag --program my-compiled --benchmark demo
      aspectrag eval han -b hotpotqa --role route=small --role judge_ending=small
      aspectrag eval han -b hotpotqa --uncompiled --out runs/uncompiled
      aspectrag eval rich -b demo --ranker my-ranker --json scores.json
      aspectrag compare runs/demo
    """
    if not methods and not program:
        raise AspectragError(f"say what is evaluated: a method ({', '.join(METHODS)}), or --program FOLDER")
    if json:
        file_of("--json", json)  # before the work, which may take hours
    tracker = tracker_of(mlflow)
    asked = load_questions(benchmark, split, questions, limit=limit, seed=seed)
    # Torch and the metrics take seconds to import: only who evaluates pays for them.
    from ..optimizers.evaluation.evaluation import evaluate as run
    from ..optimizers.metrics.registry import metric as metric_of

    names = metric or [*asked.benchmark.metrics, *SPENT]
    chosen = [metric_of(name) for name in dict.fromkeys(names)]
    folder = out or Path("runs") / benchmark
    saved = _saved(program or [])
    classes = {name: method(name) for name in methods or []} | {name: class_of(path) for name, path in saved.items()}
    # The same of all: a method whose own answers are brief would win by that. What a method has not is for the others.
    trained = _ranker({name: cls for name, cls in classes.items() if name not in saved}, ranker)
    options = {"k": k, "answers": answers or asked.benchmark.answers, "ranker": None if trained else ranker}
    configs = {
        name: cls.inspect(saved[name]).config if name in saved else cls.config_class(**settings_of(cls, options)[0])
        for name, cls in classes.items()
    }
    model = load(lm, api_base=api_base)
    unasked = {name: cls(configs[name], NoPassages()) for name, cls in classes.items()}
    own = stage_models(role, profile, unasked, model, default=not uncompiled and not saved)
    judge = load(judge_lm) if judge_lm else None
    retriever = None
    if any(cls.retrieves for cls in classes.values()):
        retriever = benchmark_index([asked], corpus, index, kind, encoder)
    programs: dict[str, Program] = {}
    for name, cls in classes.items():
        given = retriever if cls.retrieves else None
        programs[name] = cls.load(saved[name], given) if name in saved else cls(configs[name], given)
    for name in trained:
        setattr(programs[name], "ranker", trained[name])  # noqa: B010 - programs of other methods have none
    if not uncompiled:
        use_shipped({name: each for name, each in programs.items() if name not in saved}, model, own)
    stages = dict.fromkeys(stage for each in programs.values() for stage, _ in each.named_predictors())
    for each in (model, judge, *(own[stage] for stage in stages if stage in own)):
        if each is not None:
            load_model(each)
    runs = run(
        programs,
        asked.questions,
        folder,
        metrics=chosen,
        lm=model,
        roles=own,
        judge=judge,
        categories=asked.benchmark.categories,
        about=about(asked, limit, seed),
        workers=workers,
    )
    console(wrap=True).print(run_view(runs))
    for each in runs:
        console(stderr=True).print(failures_view(each))
    console().print(shown(f"{folder}: " + ", ".join(each.path.name for each in runs)), style="dim")
    if json:
        _write(json, {"runs": [each.to_dict() for each in runs], "comparison": _compared(runs)})
    tell(tracker, lambda to: _hand_over(to, runs))
    if all(each.metrics["answered"] == 0 for each in runs):
        raise AspectragError("no question was answered: see the errors above")


def _hand_over(to: "Tracker", runs: "Sequence[Run]") -> None:
    """Runs, each with a page to look into them by; the traces go by themselves."""
    from .views.report.page import report_page

    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for run in runs:
            write(page, report_page([run], limit=200, traces=False))
            to.run(run, [page])


def _compared(runs: "Sequence[Run]") -> dict[str, Any] | None:
    """Every run against the first; ``None`` where there is nothing to compare."""
    from ..optimizers.evaluation.comparison import compare as compared

    try:
        return compared(runs).to_dict() if len(runs) > 1 else None
    except AspectragError:  # no column is shared
        return None


def _write(path: Path, found: dict[str, Any]) -> None:
    from ..optimizers.evaluation.folder import dumped

    write(path, dumped(found, indent=2) + "\n")
    console().print(shown(str(path)), style="dim")


def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or folders that hold several; the first is the base.")
    ],
    metric: Annotated[
        list[str] | None, typer.Option(help="Which columns; may be repeated.", show_default="all")
    ] = None,
    by: Annotated[str | None, typer.Option(help="A category, such as type or hops: a table for each value.")] = None,
    json: Json = None,
) -> None:
    """Compare runs question by question: means, paired differences with 95 % intervals, and p values.

    Only questions that all runs were asked count; every run is compared with
    the first. An interval that holds 0, or a p value above 0.05, says that the
    difference may be chance.

    Examples:
      aspectrag compare runs/demo
      aspectrag compare runs/demo/rag runs/demo/typed --metric f1 --by type
      aspectrag compare runs/before/han runs/after/han
      aspectrag compare runs/demo --json compared.json
    """
    if json:
        file_of("--json", json)
    from ..optimizers.evaluation.comparison import compare as compared
    from ..optimizers.evaluation.run import runs_of

    found = [run for path in runs for run in runs_of(path)]
    rows = compared(found, metric or [])
    if by and by not in rows.categories:
        raise AspectragError(f"the runs have no category {by!r} (they have: {', '.join(rows.categories) or 'none'})")
    console(wrap=True).print(comparison_view(rows, by))
    if json:
        _write(json, rows.to_dict())


def _ranker(classes: Mapping[str, type[Program]], ranker: str | None) -> dict[str, PointerRanker]:
    """The trained ranker of the methods that have one, where ``--ranker`` is its folder.

    Raises:
        AspectragError: No method has a ranker, or the folder holds none.
    """
    names = [name for name, cls in classes.items() if issubclass(cls, RichRag)]
    if ranker and not names:
        raise AspectragError("--ranker is for the method rich, which is not evaluated here: leave it out")
    folder = trained_ranker(RichRag, ranker)
    return dict.fromkeys(names, PointerRanker.load(folder)) if folder else {}


def _saved(folders: list[Path]) -> dict[str, Path]:
    """Saved programs by the names of their folders, which their runs get.

    Raises:
        AspectragError: A folder holds none, or two have one name.
    """
    found: dict[str, Path] = {}
    for folder in folders:
        class_of(folder)
        run = folder.resolve().name
        if run in found or run in METHODS or run.startswith("."):
            raise AspectragError(f"--program {folder}: a run cannot be named {run!r} here: rename the folder")
        found[run] = folder
    return found
