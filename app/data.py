"""``aspectrag data``: sets of questions for training and testing."""

import contextvars
import random
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Annotated, Any, TypeVar

import dspy
import typer
from tqdm import tqdm

from ..data.construction.facets import FacetPart
from ..data.construction.records import Question, Results, read_questions
from ..errors import AspectragError
from ..lms import explain, load, roles
from ..programs.annotation import FacetAnnotator
from ..programs.blocks.cancelling import watched
from .options import ApiBase, Lm
from .progress import load_model
from .views.terminal import console, shown

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

# So many failed calls in a row, and the server is held to be gone: the other questions would fail as well.
_PATIENCE = 3

app = typer.Typer(
    no_args_is_help=True,
    help="Sets of questions for training and testing. A set is a file of JSON lines, one question with its answers "
    'per line: {"id": "q1", "question": "...", "answers": ["..."]}; other keys are kept. What is made of a set goes '
    "to a file of its own, so that it can be looked at, mended and used again.",
    epilog="For example, parts of long answers by facet: aspectrag data annotate questions.jsonl --out faceted.jsonl",
)


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
    """Annotate questions as they come, put the results in order, and say which failed and why.

    Raises:
        dspy.LMError: The language model failed several times in a row.
    """
    load_model(model)
    annotator, own = FacetAnnotator(), roles()
    made_by = own.get("split", model).model
    failures: dict[str, str] = {}

    def attempt(question: Question) -> list[FacetPart] | Exception:
        try:
            return annotator(question=question.question, answer=question.answer).parts
        except (AspectragError, dspy.LMError) as error:
            return error

    def take(outcomes: Iterable[tuple[Question, list[FacetPart] | Exception]]) -> None:
        in_a_row = 0
        for question, outcome in outcomes:
            if isinstance(outcome, list):
                results.add(question, {"sub_questions": list(map(_sub_question, outcome)), "aspects_by": made_by})
            else:
                failures[question.id] = explain(outcome)
            in_a_row = in_a_row + 1 if isinstance(outcome, dspy.LMError) else 0
            if in_a_row == _PATIENCE and isinstance(outcome, dspy.LMError):
                raise outcome

    try:
        with dspy.context(lm=model, roles=own), closing(_as_they_come(attempt, questions, workers)) as outcomes:
            take(tqdm(outcomes, "annotating", len(questions), unit="question", disable=None))
    finally:
        results.sort()
        for question in questions:
            if reason := failures.get(question.id):
                console(stderr=True).print(shown(f"! {question.id}: {reason}"), style="yellow")


def _sub_question(part: FacetPart) -> dict[str, Any]:
    return {"question": part.facet, "answers": [part.sub_answer], "source": "annotation"}


def _as_they_come(
    work: Callable[[Item], Outcome], items: Sequence[Item], workers: int
) -> Generator[tuple[Item, Outcome]]:
    """Yield each item with what its work gave, the first to finish first; once closed, no further call is made."""
    stop = Event()
    cancelled = watched(stop)

    def branch(item: Item) -> Outcome:
        # DSPy's own trace is for optimizers: shared between threads, it would only grow.
        with dspy.context(cancelled=cancelled, trace=None):
            return work(item)

    pool = ThreadPoolExecutor(workers, thread_name_prefix="annotate")
    queue = iter(items)
    running: dict[Future[Outcome], Item] = {}
    try:
        while True:
            for item in islice(queue, workers - len(running)):
                running[pool.submit(contextvars.copy_context().run, branch, item)] = item
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupted user does not wait for the others
