"""The numbers of the page: as the runs hold them, and their paired differences to the first run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....errors import AspectragError
from ....optimizers.evaluation.comparison import compare
from ....optimizers.evaluation.run import ALL, Run
from ....optimizers.evaluation.statistics import Difference, Mean
from ....optimizers.metrics.metric import Metric
from ....optimizers.metrics.registry import FAMILIES, METRICS, metric


@dataclass(frozen=True)
class Line:
    """One column of scores, over all questions or those of one category.

    Attributes:
        category: The category, ``all`` for all questions.
        value: Its value.
        column: What was measured.
        means: Of each run; ``None`` where it has none.
        differences: Of each run to the first, over the questions that all runs share; ``None`` where there is none.
    """

    category: str
    value: str
    column: str
    means: tuple[Mean | None, ...]
    differences: tuple[Difference | None, ...]


@dataclass(frozen=True)
class Numbers:
    """All tables of the page.

    Attributes:
        lines: Of every category, value and column; those over all questions first.
        answered: Means without the questions that failed, by column; empty where none failed.
        remark: Why runs are not compared, where they cannot be.
    """

    lines: tuple[Line, ...]
    answered: tuple[Line, ...]
    remark: str = ""

    @property
    def columns(self) -> list[str]:
        """What was measured: qualities first, then what they took."""
        found = dict.fromkeys(line.column for line in self.lines if line.category == ALL)
        return sorted(found, key=lambda column: not is_quality(column))

    def overall(self) -> list[Line]:
        """A line per column, over all questions."""
        own = {line.column: line for line in self.lines if line.category == ALL}
        return [own[column] for column in self.columns]

    def of(self, column: str) -> list[Line]:
        """A line per value of every category, for one column."""
        return [line for line in self.lines if line.column == column and line.category != ALL]


def numbers(runs: Sequence[Run]) -> Numbers:
    """Read the tables of scored runs, and compare the runs where there are several.

    Raises:
        AspectragError: A run is not scored, or its tables cannot be read.
    """
    for run in runs:
        run.scored()  # says it in its own words where it is not
    tables = [run.means() for run in runs]
    differences, remark = _differences(runs)
    lines = []
    for key in dict.fromkeys(key for table in tables for key in table):
        means = tuple(table.get(key) for table in tables)
        lines.append(Line(*key, means, differences.get(key, (None,) * len(runs))))
    unpriced = any(run.unpriced for run in runs)
    if unpriced and not any(line.column == "cost" for line in lines):
        lines.append(Line(ALL, ALL, "cost", (None,) * len(runs), (None,) * len(runs)))
    answered: tuple[Line, ...] = ()
    if any(run.metrics["failed"] for run in runs):
        parts = [run.metrics["metrics_of_answered"] for run in runs]
        answered = tuple(
            Line(ALL, ALL, name, tuple(Mean(**part[name]) if name in part else None for part in parts), ())
            for name in sorted({name: None for part in parts for name in part}, key=lambda name: not is_quality(name))
        )
    return Numbers(tuple(lines), answered, remark)


def _differences(
    runs: Sequence[Run],
) -> tuple[Mapping[tuple[str, str, str], tuple[Difference | None, ...]], str]:
    if len(runs) < 2:
        return {}, ""
    try:
        return {(row.category, row.value, row.column): row.differences for row in compare(runs)}, ""
    except AspectragError as error:  # runs over different questions may still stand on one page
        return {}, str(error)


def metric_of(column: str) -> Metric | None:
    """The metric that gives a column; ``None`` where it is not one of ours.

    Example:
        >>> metric_of("seconds").better, metric_of("nDCG@7").better, metric_of("made up")
        ('lower', 'higher', None)
    """
    for known in METRICS.values():
        if column == known.name or column in known.gives:
            return known
    try:
        return metric(column) if column.partition("@")[0] in FAMILIES else None
    except AspectragError:
        return None


def is_quality(column: str) -> bool:
    """Whether more of it is better: what is worth plotting against its cost."""
    known = metric_of(column)
    return known is None or known.better == "higher"


def arrow(column: str) -> dict[str, Any]:
    """What a reader is told about a column: its metric in words, and which way is better."""
    known = metric_of(column)
    if known is None:
        return {"about": "", "sign": "", "better": ""}
    sign = {"higher": "↑", "lower": "↓", "neither": ""}[known.better]
    return {"about": known.about, "sign": sign, "better": f"{known.better} is better" if sign else ""}
