"""Runs side by side: the same questions, column by column, with paired intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import AspectragError
from ...programs.showing.tables import Strong, Table, tables_html
from .run import ALL, Run, Scored
from .scoring import groups
from .statistics import SIGNIFICANT, Difference, Mean, difference_of, mean_of


@dataclass(frozen=True)
class Row:
    """One column of scores, over all questions or those of one category.

    Attributes:
        category: The category, ``all`` for all questions.
        value: Its value.
        column: What is compared.
        means: Of each run, over the questions that all runs scored.
        differences: Of each run to the first; ``None`` for the first itself.
    """

    category: str
    value: str
    column: str
    means: tuple[Mean, ...]
    differences: tuple[Difference | None, ...]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {
            "category": self.category,
            "value": self.value,
            "metric": self.column,
            "means": [mean.to_dict() for mean in self.means],
            "differences": [each.to_dict() if each else None for each in self.differences],
        }


class Comparison(list[Row]):
    """Rows, and the runs that they compare; a notebook shows it as a table.

    Args:
        rows: The rows.
        runs: The runs, in the order of the means of each row.
        unpriced: Whether cost was wanted, and is not known of each run.
    """

    def __init__(self, rows: Iterable[Row], runs: Sequence[Run], unpriced: bool = False) -> None:
        super().__init__(rows)
        self.runs = tuple(runs)
        self.unpriced = unpriced

    @property
    def categories(self) -> list[str]:
        """The categories that there are rows for, beside all questions."""
        return list(dict.fromkeys(row.category for row in self if row.category != ALL))

    def table(self, by: str | None = None) -> Table:
        """Means of all runs, and differences to the first: over all questions, or for each value of a category."""
        head = [*([by] if by else []), "metric", "n"]
        for place, run in enumerate(self.runs):
            head += [run.name, *(["difference", "p"] if place else [])]
        rows = []
        for row in self:
            if row.category != (by or ALL):
                continue
            cells = [*([row.value] if by else []), row.column, str(row.means[0].n)]
            for mean, difference in zip(row.means, row.differences, strict=True):
                cells.append(f"{mean}".split(" ")[0])
                if difference is not None:
                    p = difference.p_text()
                    cells += [difference.signed(), Strong(p) if difference.p < SIGNIFICANT else p]
            rows.append(tuple(cells))
        if self.unpriced and not by:
            cells = ["cost", ""]
            for place, run in enumerate(self.runs):
                mean = run.metrics["metrics"].get("cost")
                cells += [str(Mean(**mean)).split(" ")[0] if mean else "unknown", *(["", ""] if place else [])]
            rows.append(tuple(cells))
        return Table(tuple(head), tuple(rows), f"by {by}" if by else "")

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form: every run, then every row with means, intervals, differences and p values."""
        return {"runs": [str(run.path) for run in self.runs], "rows": [row.to_dict() for row in self]}

    def _repr_html_(self) -> str:
        return tables_html("compared with the first", [self.table(), *map(self.table, self.categories)])


def compare(runs: Sequence[Run], columns: Sequence[str] = ()) -> Comparison:
    """Compare runs with the first of them, over the questions that all of them scored.

    Args:
        runs: At least two.
        columns: Which columns; all that the runs share by default.

    Raises:
        AspectragError: There is one run only, one is not scored, or they share no question or no column.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data.benchmarks import load
        >>> from aspectrag.optimizers.evaluation import evaluate
        >>> from aspectrag.programs import Direct
        >>> lm, demo = lms.scripted_lm({"answer": "Nobody."}), load("demo", limit=2).questions
        >>> with TemporaryDirectory() as folder:
        ...     runs = evaluate(
        ...         {"first": Direct(), "second": Direct()}, demo, folder, metrics=["em"], lm=lm, progress=False
        ...     )
        ...     row = compare(runs, ["em"])[0]
        >>> row.column, [each.mean for each in row.means]
        ('em', [0.0, 0.0])
    """
    if len(runs) < 2:
        raise AspectragError("there is one run only: give two runs, or a folder that holds several")
    tables = [{each.id: each for each in run.scored()} for run in runs]
    asked = [{question.id: question.question for question in run.questions} for run in runs]
    # An id alone may mean another question in another set.
    common = [
        id for id in asked[0] if all(id in table for table in tables) and len({texts.get(id) for texts in asked}) == 1
    ]
    if not common:
        raise AspectragError(f"{runs[0].name} and the others share no question: compare runs over the same set")
    shared = [column for column in _columns(tables[0].values()) if all(column in _columns(t.values()) for t in tables)]
    missing = [column for column in columns if column not in shared]
    if missing or not shared:
        raise AspectragError(
            f"the runs do not all have {', '.join(missing) or 'any column'} (they share: {', '.join(shared) or 'none'})"
        )
    rows = []
    for (category, value), members in groups([tables[0][id] for id in common]).items():
        for column in columns or shared:
            have = [each.id for each in members if all(column in table[each.id].scores for table in tables)]
            if have:
                values = [[table[id].scores[column] for id in have] for table in tables]
                differences = (None, *(difference_of(each, values[0]) for each in values[1:]))
                rows.append(Row(category, value, column, tuple(map(mean_of, values)), differences))
    return Comparison(rows, runs, not columns and any(run.unpriced for run in runs))


def _columns(scored: Iterable[Scored]) -> dict[str, None]:
    return dict.fromkeys(column for each in scored for column in each.scores)
