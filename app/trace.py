"""``aspectrag trace``: what happened on the way to an answer, in the terminal and as a page, and against another."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..errors import AspectragError, nearest
from ..programs.showing.known import Known
from ..programs.trace import Trace
from ..whole import write
from .options import file_of
from .views.terminal import console, shown

app = typer.Typer(no_args_is_help=True, help="Traces: show every step of an answer, and where two of them differ.")

File = Annotated[Path, typer.Argument(help="What 'ask --trace' wrote, a file of a run's traces/, or a run's folder.")]
Asked = Annotated[str | None, typer.Option("--question", help="The id of a question of the run.")]


@app.command()
def show(file: File, question: Asked = None) -> None:
    """Show a trace as a tree: what was called, with what, what came back, and what it cost.

    Examples:
      aspectrag trace show trace.json
      aspectrag trace show runs/demo/han --question demo:q20
    """
    from ..programs.showing.tree import whole_view

    console(wrap=True).print(whole_view(Trace.load(_file(file, question))))


@app.command()
def html(
    file: File,
    out: Annotated[Path, typer.Option(help="The page; one there is replaced.")] = Path("trace.html"),
    question: Asked = None,
) -> None:
    """Write a trace as one HTML page: the answer with its passages, and every step with all that went in and came out.

    Of a run's wrong answer it says what was expected, and which step lost it.
    The page is a single file that needs no network: it opens by a double click
    and loads nothing.

    Examples:
      aspectrag trace html trace.json --out trace.html
      aspectrag trace html runs/demo/han --question demo:q20 --out q20.html
    """
    from ..programs.showing.traces import trace_page

    found = _file(file, question)
    _page_of("--out", out, [found])
    trace = Trace.load(found)
    known = _known(found, question, trace) if question else None
    _write(out, trace_page(trace, found.name, known))


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="A trace, or a run's folder.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    page: Annotated[
        Path | None, typer.Option("--html", help="Write all of what differs as a page too; one there is replaced.")
    ] = None,
    question: Asked = None,
) -> None:
    """Show where two traces differ: which steps one alone has, and which had another outcome.

    Lines with - are of A, those with + of B, those with ~ are in both and not
    the same. Times are shown, but count for no difference.

    Examples:
      aspectrag trace diff before.json after.json
      aspectrag trace diff runs/demo/rag runs/demo/han --question demo:q20 --html diff.html
    """
    from ..programs.showing.difference_tree import difference_view
    from ..programs.showing.differences import difference_page

    files = [_file(path, question if path.is_dir() else None) for path in (before, after)]
    if page:
        _page_of("--html", page, files)
    if question and not (before.is_dir() or after.is_dir()):
        raise AspectragError("--question is for the folders of runs: leave it out")
    found = Trace.load(files[0]).compare(Trace.load(files[1]))
    names = (str(before), str(after))
    console(wrap=True).print(difference_view(found, names))
    if page:
        _write(page, difference_page(found, names))


def _file(path: Path, question: str | None) -> Path:
    """The file of a trace: the one that is given, or that of a question in a run's folder."""
    if not path.is_dir():
        if question:
            raise AspectragError(f"--question is for the folder of a run, and {path} is none: leave it out")
        return path
    from ..optimizers.evaluation.folder import trace_name
    from ..optimizers.evaluation.run import runs_of

    run, *more = runs_of(path)
    if more:
        names = ", ".join(str(each.path) for each in (run, *more))
        raise AspectragError(f"{path} holds several runs: give one of {names}")
    ids = [each.id for each in run.questions]
    if not question:
        raise AspectragError(f"{path} holds the traces of {len(ids)} questions: give --question ID, such as {ids[0]}")
    if question not in ids:
        raise AspectragError(f"{path} has no question {question!r}{nearest(question, ids)}")
    file = run.path / "traces" / trace_name(question)
    if not file.is_file():
        raise AspectragError(f"{path} keeps no trace of {question!r}: it was not asked yet")
    return file


def _known(file: Path, id: str, trace: Trace) -> Known | None:
    """What is known of the right answer to a question, by the run that its trace is of; nothing before it is scored."""
    from ..optimizers.evaluation.diagnosing import known_of
    from ..optimizers.evaluation.run import Run

    run = Run(file.parents[1])
    scored = next((each for each in run.scored() if each.id == id), None) if run.is_scored else None
    answered = next((each for each in run.answers() if each[0].id == id), None) if scored else None
    return known_of(*answered, scored, trace) if scored and answered else None


def _page_of(option: str, page: Path, traces: Sequence[Path]) -> None:
    file_of(option, page)
    if page.resolve() in [each.resolve() for each in traces]:
        raise AspectragError(f"{option} {page} is a trace itself: give the page another name")


def _write(out: Path, page: str) -> None:
    write(out, page)
    console().print(shown(str(out)), style="dim")
