"""Runs side by side: the same questions, column by column, with paired intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import AspectragError
from .run import Run, Scored
from .scoring import groups
from .statistics import Difference, Mean, difference_of, mean_of


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


def compare(runs: Sequence[Run], columns: Sequence[str] = ()) -> list[Row]:
    """Compare runs with the first of them, over the questions that all of them scored.

    Args:
        runs: At least two.
        columns: Which columns; all that the runs share by default.

    Raises:
        AspectragError: There is one run only, one is not scored, or they share no question or no column.
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
    return rows


def _columns(scored: Iterable[Scored]) -> dict[str, None]:
    return dict.fromkeys(column for each in scored for column in each.scores)
