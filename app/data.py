"""``aspectrag data``: sets of questions for training and testing."""

import random
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer
import ujson
from rich.table import Table
from tqdm import tqdm

from ..data.benchmarks.benchmark import Benchmark
from ..data.benchmarks.fetching import fetch
from ..data.benchmarks.files import Placed
from ..data.benchmarks.loading import QuestionSet
from ..data.benchmarks.loading import load as load_questions
from ..data.benchmarks.registry import BENCHMARKS, benchmark
from ..data.benchmarks.store import fetched
from ..data.construction.facets import FacetPart
from ..data.construction.records import Question, Results, read_questions
from ..errors import AspectragError
from ..lms import load, roles
from ..programs.annotation import FacetAnnotator
from ..texts import encodable
from . import data_build
from .options import ApiBase, Lm
from .progress import load_model
from .views.terminal import console, shown
from .working import work_through

# Columns that may not grow, so that what a benchmark asks has the rest: a table makes all about as wide by itself.
_WIDTHS = {"licence": 14, "categories": 12, "here": 12}

app = typer.Typer(
    no_args_is_help=True,
    help="Sets of questions for training and testing. The published ones are known by name: see 'list'. A set of your "
    "own is a file of JSON lines, one question with its answers "
    'per line: {"id": "q1", "question": "...", "answers": ["..."]}; other keys are kept. What is made of a set goes '
    "to a file of its own, so that it can be looked at, mended and used again.",
    epilog="For example, a look at a set: aspectrag data show musique --questions musique_ans_v1.0_dev.jsonl",
)
app.add_typer(data_build.app, name="build")


@app.command("list")
def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines, one per benchmark.")] = False,
) -> None:
    """List the benchmarks: what each asks, under which licence, and whether it is here.

    Those that the hub has are fetched by name, or downloaded when first used;
    the others are given as files: where to get them is told by 'show'.

    Example:
      aspectrag data list
    """
    table = Table(box=None)
    for heading in ("name", "about", "licence", "categories", "here"):
        table.add_column(heading, overflow="fold", max_width=_WIDTHS.get(heading))
    for each in BENCHMARKS.values():
        row = {"name": each.name, "about": each.about, "licence": each.licence, "categories": list(each.categories)}
        row["here"] = _where(each)
        if as_json:
            _print_json(row)
        table.add_row(*(", ".join(value) if isinstance(value, list) else value for value in row.values()))
    if not as_json:
        console(wrap=True).print(table)


def _where(each: Benchmark) -> str:
    if each.name == "demo":
        return "comes with the package"
    if (fetched() / each.name).is_dir():
        return "fetched"
    return "on the hub" if each.hub else "give its files"


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A benchmark: see 'aspectrag data list'.")],
    split: Annotated[str, typer.Option(help="dev, to measure on, or tune, to learn from.")] = "dev",
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            "--path",
            help="A file or folder with its data, as published.",
            show_default="fetched, or hub",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="A random sample of so many.", show_default="all")] = None,
    seed: Annotated[int, typer.Option(help="Which sample --limit takes.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")] = False,
) -> None:
    """Show what a benchmark asks: its size, categories, metrics, corpus, and three of its questions.

    Data are read from --questions, else from what 'fetch' wrote, else from the
    hub. A file or folder may be in the form in which its authors published it,
    in that of the hub, of BEIR or of FlashRAG, or hold records of your own.

    Examples:
      aspectrag data show demo
      aspectrag data show hotpotqa --questions hotpot_dev_distractor_v1.json
    """
    loaded = load_questions(name, split, questions, limit=limit, seed=seed, store=fetched())
    if as_json:
        _print_json(_summary(loaded))
        return
    chosen, out = loaded.benchmark, console(wrap=True)
    table = Table(box=None, show_header=False, title=shown(f"{name}: {chosen.about}"), title_justify="left")
    for heading, value in _summary(loaded).items():
        if heading == "categories":
            for category, counts in value.items():
                table.add_row(category, ", ".join(f"{shown(kind) or '-'} {count:,}" for kind, count in counts.items()))
        elif heading == "examples":
            for one in value:
                table.add_row("for example", shown(f"{one['question']} -> {' | '.join(one['answers'][:3])}")[:400])
        elif heading not in ("name", "about"):
            table.add_row(heading, shown(", ".join(value) if isinstance(value, list) else f"{value}"))
    out.print(table)


def _summary(loaded: QuestionSet) -> dict[str, Any]:
    chosen = loaded.benchmark
    # Not the first three: many files have their questions in order of kind.
    some = random.Random(0).sample(range(len(loaded)), min(3, len(loaded)))
    corpus = f"{len(loaded.corpus):,} passages with the records" if isinstance(loaded.corpus, tuple) else loaded.corpus
    return {
        "name": chosen.name,
        "about": chosen.about,
        "split": loaded.split,
        "questions": len(loaded),
        "categories": {
            category: dict(Counter(str(one[category]) for one in loaded.questions).most_common())
            for category in chosen.categories
        },
        "metrics": list(chosen.metrics),
        "corpus": str(corpus or f"not here ({chosen.corpus})"),
        "licence": chosen.licence,
        "source": loaded.source,
        "digest": loaded.digest,
        "examples": [
            {key: loaded.questions[place][key] for key in ("id", "question", "answers")} for place in sorted(some)
        ],
    }


@app.command("fetch")
def fetch_command(
    name: Annotated[str, typer.Argument(help="A benchmark that the hub has: see 'aspectrag data list'.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write; it must not exist.", show_default="in the cache")
    ] = None,
) -> None:
    """Download a benchmark from the hub, once: later commands find it by its name, without a network.

    Writes tune.jsonl and dev.jsonl, one record per line, and corpus.jsonl where
    passages come with the questions. Stopped at any moment, the same command
    goes on with what was downloaded. To take it to a machine without a network,
    give --out here, and its files to eval --questions there.

    Example:
      aspectrag data fetch musique
    """
    chosen = benchmark(name)
    folder = out or fetched() / name
    counts = fetch(chosen, folder, _watched)
    console().print(shown(f"{folder}: {', '.join(f'{count:,} {what}' for what, count in counts.items())}"))


def _watched(split: str, records: Iterable[Placed]) -> Iterable[Placed]:
    return tqdm(records, f"reading {split}", unit=" questions", disable=None)


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(encodable(ujson.dumps(value, ensure_ascii=False, escape_forward_slashes=False)) + "\n")


@app.command()
def annotate(
    questions: Annotated[Path, typer.Argument(help="JSON lines with id, question and answers, a long one first.")],
    out: Annotated[Path, typer.Option(help="File for the records with their sub-questions; one there is extended.")],
    lm: Lm = None,
    api_base: ApiBase = None,
    workers: Annotated[int, typer.Option(min=1, help="Questions that are asked about at once.")] = 8,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Annotate a random sample of so many.", show_default="all")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which sample --limit takes.")] = 0,
) -> None:
    """Split long answers by the facets of their questions: what RichRAG learns from and is measured with.

    Each record gets sub_questions, in place of any it has: their questions are
    facets, their answers consecutive parts of the first answer; and aspects_by,
    the model that named them. A split with facets that give away what only the
    answer tells is refused; a question without a good split in three attempts
    is left out and listed at the end. Stopped at any moment, the same command
    goes on where it was, and asks again what failed.

    Example:
      aspectrag data annotate questions.jsonl --out faceted.jsonl --limit 200
    """
    asked = read_questions(questions)
    if out.exists() and out.samefile(questions):
        raise AspectragError("--out: this is the file with the questions; give another one")
    if not out.resolve().parent.is_dir():
        raise AspectragError(f"--out: the folder {out.parent} does not exist")
    results = Results(out, asked, "aspects_by")
    ids = [question.id for question in asked]
    sample = set(random.Random(seed).sample(ids, min(limit or len(ids), len(ids))))
    left = [question for question in asked if question.id in sample and question.id not in results.done]
    if left:
        _annotate(left, results, load(lm, api_base=api_base), workers)
    done = len(sample & results.done.keys())
    if not done:
        raise AspectragError(f"none of the {len(sample)} questions could be annotated")
    now = len(results.done.keys() & {question.id for question in left})
    console().print(shown(f"{out}: {done} of {len(sample)} questions annotated, {now} of them now"))


def _annotate(questions: list[Question], results: Results, model: dspy.LM, workers: int) -> None:
    """Annotate questions as they come.

    Raises:
        dspy.LMError: The language model failed several times in a row.
    """
    load_model(model)
    annotator, own = FacetAnnotator(), roles()
    made_by = own.get("split", model).model

    def annotated(question: Question) -> dict[str, Any]:
        parts = annotator(question=question.question, answer=question.answer).parts
        return {"sub_questions": list(map(_sub_question, parts)), "aspects_by": made_by}

    with dspy.context(lm=model, roles=own):
        work_through(questions, results, annotated, workers, "annotating", "question")


def _sub_question(part: FacetPart) -> dict[str, Any]:
    return {"question": part.facet, "answers": [part.sub_answer], "source": "annotation"}
