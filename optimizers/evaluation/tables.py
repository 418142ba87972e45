"""What stands in the tables of runs: for the terminal and for notebooks alike."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import AspectragError
from ...programs.showing.tables import Table, tables_html
from .diagnosis import STAGES
from .run import ALL, Run
from .statistics import Mean

if TYPE_CHECKING:
    from .diagnosing import Diagnosed

OTHER_READING = (
    "Questions that failed count as 0 in qualities; the means without them are in metrics.json, as metrics_of_answered."
)


def run_tables(runs: Sequence[Run]) -> list[Table]:
    """A table of all columns by run, and one per value of every category of the first column."""
    found, names = [run.means() for run in runs], [run.path.name for run in runs]
    columns = list(dict.fromkeys(key[2] for each in found for key in each if key[0] == ALL))
    if "cost" not in columns and any(run.unpriced for run in runs):
        columns.append("cost")
    rows: list[tuple[str, ...]] = [
        ("questions", *(f"{run.metrics['answered']} of {run.metrics['questions']}" for run in runs))
    ]
    unjudged = [len(run.metrics.get("unjudged", ())) for run in runs]
    if any(unjudged):  # which, and why, is in metrics.json
        rows.append(("verdicts missing", *map(str, unjudged)))
    for column in columns:
        overall = [each.get((ALL, ALL, column)) for each in found]
        cells = [cell(run, mean) for run, mean in zip(runs, overall, strict=True)]
        if column == "cost":
            cells = ["unknown" if run.unpriced else known for run, known in zip(runs, cells, strict=True)]
        rows.append((column, *cells))
        classes = [run.metrics["classes"].get(column) for run in runs]
        if any(classes):  # F1 by class, and which is taken for which, are in metrics.json
            rows.append(("  macro-F1", *(f"{each['macro_f1']:.3f}" if each else "" for each in classes)))
    tables = [Table(("metric", *names), tuple(rows))]
    if columns:
        split = []
        for key in dict.fromkeys(key[:2] for each in found for key in each if key[0] != ALL):
            cells = [each.get((*key, columns[0])) for each in found]
            if any(cells):
                count = max(mean.n for mean in cells if mean)
                split.append((f"{key[0]} {key[1]} ({count})", *(str(mean) if mean else "" for mean in cells)))
        title = f"{columns[0]} by category"
        tables += [Table((title, *names), tuple(split), title)] if split else []
    return tables


def cell(run: Run, mean: Mean | None) -> str:
    """A mean; with its number of questions where it is not that of the run."""
    if mean is None:
        return ""
    return str(mean) if mean.n == run.metrics["questions"] else f"{mean} of {mean.n}"


def runs_html(runs: Sequence[Run], name: str) -> str:
    """The tables of runs in a notebook; of what is not scored yet, why there are none."""
    try:
        failed = [f"{run.path.name}, {each['id']}: {each['error']}" for run in runs for each in run.metrics["failed"]]
        notes = [OTHER_READING] if failed else []
        return tables_html(
            name, [*run_tables(runs), Table(("failed",), tuple(zip(failed, strict=True)), "failed")], notes
        )
    except AspectragError as error:
        return tables_html(name, [], [str(error)])


def counts_table(found: Sequence["Diagnosed"]) -> Table:
    """How many wrong answers each stage lost, by run."""
    rows: list[tuple[str, ...]] = [
        (stage, *(_share(each.counts()[stage], len(each.wrong)) for each in found)) for stage in STAGES
    ]
    rows += [(), ("wrong", *(str(len(each.wrong)) for each in found)), ("right", *(str(each.right) for each in found))]
    for name, counts in (
        ("without a score", [len(each.unscored) for each in found]),
        ("not asked yet", [each.unasked for each in found]),
    ):
        rows += [(name, *map(str, counts))] if any(counts) else []
    return Table(("lost by", *(each.run.name for each in found)), tuple(rows))


def category_table(found: "Diagnosed", category: str) -> Table:
    """How many wrong answers each stage lost, by the values of a category; ``(none)`` for those without."""
    stages = [stage for stage, count in found.counts().items() if count]
    rows = []
    for value in found.values(category):
        counts = found.counts(category, value)
        total = sum(counts.values())
        rows.append(
            (value if value is not None else "(none)", *(_share(counts[stage], total) for stage in stages), str(total))
        )
    title = f"{found.run.path.name} by {category}"
    return Table((title, *stages, "wrong"), tuple(rows), title)


def diagnosed_html(found: "Diagnosed") -> str:
    """A diagnosed run in a notebook: counts, by category, and every wrong answer with the file of its trace."""
    wrong = sorted(found.wrong, key=lambda each: STAGES.index(each.diagnosis.stage))
    rows = tuple(
        (each.diagnosis.stage, each.id, each.question, each.diagnosis.reason, str(each.trace or "no trace"))
        for each in wrong
    )
    categories = dict.fromkeys(name for each in wrong for name in each.categories)
    head = ("lost by", "id", "question", "why", "trace")
    split = [category_table(found, name) for name in categories]
    return tables_html(found.run.name, [counts_table([found]), *split, Table(head, rows, "wrong answers")])


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.0%})" if count else "0"
