"""A swap as tables in the terminal: what each language model gained, and what it cost."""

from collections.abc import Sequence
from decimal import Decimal

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...optimizers.evaluation.comparison import Row
from ...optimizers.evaluation.run import ALL, Run
from ...optimizers.evaluation.statistics import Mean
from ...optimizers.evaluation.swapping import SPENT, Swapped
from ...optimizers.evaluation.tables import cell
from .tables import p_value, signed
from .terminal import shown

_COLUMNS = {
    "lm_calls": "calls", "prompt_tokens": "prompt", "completion_tokens": "completion", "cost": "dollars",
    "seconds": "seconds",
}  # fmt: skip
_COUNTS = {"fallbacks": "fallbacks", "parse_failures": "parse failures"}


def swap_view(swapped: Sequence[Swapped], rows: Sequence[Row]) -> RenderableType:
    """Means as the runs have them and differences to the first; below, what an answer took and what went wrong.

    Args:
        swapped: The runs.
        rows: Their comparison.
    """
    return Group(_quality(swapped, rows), Text(), _spent(swapped), Text())


def _quality(swapped: Sequence[Swapped], rows: Sequence[Row]) -> Table:
    table = _table("metric", "language model")
    table.add_column("mean", no_wrap=True)
    table.add_column("difference", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    overall = {row.column: row for row in rows if row.category == ALL}
    means = [_means(each.run) for each in swapped]
    columns = dict.fromkeys(column for each in means for column in each if column not in SPENT)
    for number, column in enumerate(columns):
        if number:
            table.add_row()
        for place, each in enumerate(swapped):
            difference = overall[column].differences[place] if column in overall else None
            table.add_row(
                "" if place else shown(column),
                _name(each),
                cell(each.run, means[place].get(column)),
                signed(difference) if difference else "",
                p_value(difference) if difference else "",
            )
    return table


def _spent(swapped: Sequence[Swapped]) -> Table:
    """Means of an answer; failures are counted over the run."""
    table = _table("per question")
    for heading in [*_COLUMNS.values(), "failed", *_COUNTS.values()]:
        table.add_column(heading, justify="right", no_wrap=True)
    for each in swapped:
        means, metrics = _means(each.run), each.run.metrics
        failed = metrics["questions"] - metrics["answered"]
        spent = [_dollars(means.get(name)) if name == "cost" else _number(means.get(name)) for name in _COLUMNS]
        counts = [str(round(mean.mean * mean.n)) if (mean := means.get(name)) else "" for name in _COUNTS]
        table.add_row(_name(each), *spent, f"{failed} of {metrics['questions']}", *counts)
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _name(swapped: Swapped) -> str:
    return shown(f"  recompiled ({', '.join(swapped.recipes)})" if swapped.recipes else swapped.lm)


def _means(run: Run) -> dict[str, Mean]:
    return {column: mean for (category, _, column), mean in run.means().items() if category == ALL}


def _number(mean: Mean | None) -> str:
    return f"{mean}".split(" ")[0] if mean else ""


def _dollars(mean: Mean | None) -> str:
    """Two digits, however small; a model without a price has an unknown one."""
    return f"{Decimal(f'{mean.mean:.2g}'):f}" if mean else "unknown"
