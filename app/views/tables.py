"""Runs and comparisons as tables in the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...optimizers.evaluation.comparison import Comparison
from ...optimizers.evaluation.run import Run
from ...optimizers.evaluation.statistics import SIGNIFICANT, Difference
from ...optimizers.evaluation.tables import OTHER_READING, run_tables
from ...programs.showing.tables import Strong
from ...programs.showing.tables import Table as Told
from .terminal import shown

_MOST_FAILURES = 5


def run_view(runs: Sequence[Run]) -> RenderableType:
    """A table of all columns by run, and one per category of the first column."""
    parts = [part for table in run_tables(runs) for part in (_table(table), Text())]
    return Group(*parts, *([Text(OTHER_READING, "dim")] if any(run.metrics["failed"] for run in runs) else []))


def failures_view(run: Run, name: str | None = None) -> RenderableType:
    """Which questions failed, and why; nothing where none did. Without a name the run has that of its folder."""
    failed = run.metrics["failed"]
    lines = [Text(shown(f"! {name or run.path.name}, {each['id']}: {each['error']}"), "yellow") for each in failed]
    more = len(lines) - _MOST_FAILURES
    if more > 0:
        lines = [*lines[:_MOST_FAILURES], Text(f"! and {more} more: see metrics.json", "yellow")]
    return Group(*lines)


def comparison_view(found: Comparison, by: str | None = None) -> RenderableType:
    """Means of all runs, and differences to the first: over all questions, or for each value of a category."""
    told = found.table(by)
    table = Table(title_justify="left", box=None, pad_edge=False)
    if by:
        table.add_column(shown(by))
    table.add_column("metric", no_wrap=True)
    table.add_column("n", justify="right")
    for place, run in enumerate(found.runs):
        table.add_column(shown(run.name), overflow="fold", min_width=7)  # a long name gives way, not its numbers
        if place:
            table.add_column("difference", no_wrap=True)
            table.add_column("p", justify="right")
    for row in told.rows:
        table.add_row(*map(text, row))
    return table


def text(cell: str) -> Text:
    """A cell: bold where it stands out."""
    return Text(shown(cell), "bold" if isinstance(cell, Strong) else "")


def signed(difference: Difference) -> str:
    """A difference with its sign, and its interval."""
    return difference.signed()


def p_value(difference: Difference) -> Text:
    """How surprising a difference is: bold where chance alone seldom gives it."""
    return Text(difference.p_text(), "bold" if difference.p < SIGNIFICANT else "")


def _table(told: Told) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(shown(told.head[0]))
    for name in told.head[1:]:
        table.add_column(shown(name), no_wrap=True)
    for row in told.rows:
        table.add_row(*map(text, row))
    return table
