"""Runs and comparisons as tables in the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...optimizers.evaluation.comparison import Row
from ...optimizers.evaluation.run import ALL, Run
from ...optimizers.evaluation.statistics import SIGNIFICANT, Difference, Mean
from .terminal import shown

_MOST_FAILURES = 5


def run_view(runs: Sequence[Run]) -> RenderableType:
    """A table of all columns by run, and one per category of the first column."""
    found = [run.means() for run in runs]
    columns = list(dict.fromkeys(key[2] for each in found for key in each if key[0] == ALL))
    table = _table("metric", [run.path.name for run in runs])
    table.add_row("questions", *(f"{run.metrics['answered']} of {run.metrics['questions']}" for run in runs))
    for column in columns:
        overall = [each.get((ALL, ALL, column)) for each in found]
        table.add_row(shown(column), *(cell(run, mean) for run, mean in zip(runs, overall, strict=True)))
        classes = [run.metrics["classes"].get(column) for run in runs]
        if any(classes):  # F1 by class, and which is taken for which, are in metrics.json
            table.add_row("  macro-F1", *(f"{each['macro_f1']:.3f}" if each else "" for each in classes))
    parts: list[RenderableType] = [table, Text()]
    if columns:
        split = _table(f"{columns[0]} by category", [run.path.name for run in runs])
        for key in dict.fromkeys(key[:2] for each in found for key in each if key[0] != ALL):
            cells = [each.get((*key, columns[0])) for each in found]
            if any(cells):
                count = max(cell.n for cell in cells if cell)
                split.add_row(shown(f"{key[0]} {key[1]} ({count})"), *(str(cell) if cell else "" for cell in cells))
        if split.row_count:
            parts += [split, Text()]
    return Group(*parts)


def cell(run: Run, mean: Mean | None) -> str:
    """A mean; with its number of questions where it is not that of the run."""
    if mean is None:
        return ""
    return str(mean) if mean.n == run.metrics["questions"] else f"{mean} of {mean.n}"


def failures_view(run: Run, name: str | None = None) -> RenderableType:
    """Which questions failed, and why; nothing where none did. Without a name the run has that of its folder."""
    failed = run.metrics["failed"]
    lines = [Text(shown(f"! {name or run.path.name}, {each['id']}: {each['error']}"), "yellow") for each in failed]
    more = len(lines) - _MOST_FAILURES
    if more > 0:
        lines = [*lines[:_MOST_FAILURES], Text(f"! and {more} more: see metrics.json", "yellow")]
    return Group(*lines)


def comparison_view(runs: Sequence[Run], rows: Sequence[Row], by: str | None = None) -> RenderableType:
    """Means of all runs, and differences to the first: over all questions, or for each value of a category."""
    table = Table(title_justify="left", box=None, pad_edge=False)
    if by:
        table.add_column(shown(by))
    table.add_column("metric", no_wrap=True)
    table.add_column("n", justify="right")
    for place, run in enumerate(runs):
        table.add_column(shown(run.name), overflow="fold", min_width=7)  # a long name gives way, not its numbers
        if place:
            table.add_column("difference", no_wrap=True)
            table.add_column("p", justify="right")
    for row in rows:
        if row.category != (by or ALL):
            continue
        cells: list[str | Text] = [shown(row.value)] if by else []
        cells += [shown(row.column), str(row.means[0].n)]
        for mean, difference in zip(row.means, row.differences, strict=True):
            cells.append(f"{mean}".split(" ")[0])
            if difference is not None:
                cells += [signed(difference), p_value(difference)]
        table.add_row(*cells)
    return table


def _table(first: str, names: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for name in names:
        table.add_column(shown(name), no_wrap=True)
    return table


def signed(difference: Difference) -> str:
    """A difference with its sign, and its interval."""
    text = str(difference)
    return text if text.startswith("-") else f"+{text}"


def p_value(difference: Difference) -> Text:
    """How surprising a difference is: bold where chance alone seldom gives it."""
    text = "< 0.001" if difference.p < 0.001 else f"{difference.p:.3f}"
    return Text(text, "bold" if difference.p < SIGNIFICANT else "")
