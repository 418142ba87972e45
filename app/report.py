"""``aspectrag report``: scored runs as one HTML page to look into, and to hand on."""

from pathlib import Path
from typing import Annotated

import typer

from ..whole import write
from .options import file_of
from .views.terminal import console, shown

_LARGE = 50_000_000


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or folders that hold several; the first is the base.")
    ],
    html: Annotated[Path, typer.Option(help="The page; one there is replaced.")] = Path("report.html"),
    limit: Annotated[
        int | None, typer.Option(min=1, help="Most questions to show one by one.", show_default="all")
    ] = None,
    traces: Annotated[bool, typer.Option("--traces/--no-traces", help="Every step of every answer, or none.")] = True,
) -> None:
    """Write runs as one HTML page: tables, plots, and every question with its answers and traces.

    The page is a single file that needs no network: it opens by a double click
    and loads nothing. With several runs, the others are compared with the
    first. --limit and --no-traces keep the page of a large run small.

    Examples:
      aspectrag report runs/demo
      aspectrag report runs/demo/rag runs/demo/typed --html typed.html
      aspectrag report runs/hotpotqa --html hotpotqa.html --limit 200 --no-traces
    """
    file_of("--html", html)  # before the work, which may take minutes
    from ..optimizers.evaluation.run import runs_of
    from .views.report.page import report_page

    found = [run for path in runs for run in runs_of(path)]
    write(html, report_page(found, limit=limit, traces=traces))
    size = html.stat().st_size
    console().print(shown(f"{html}: {_readable(size)}, {len(found)} run{'' if len(found) == 1 else 's'}"))
    if size > _LARGE:
        console(stderr=True).print(
            "! a page so large opens slowly: --limit N or --no-traces make it small", style="yellow"
        )


def _readable(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"
