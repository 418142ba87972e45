"""Diagnosed runs in the terminal: how many answers each stage lost, and which."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...optimizers.evaluation.diagnosing import Diagnosed, Wrong
from ...optimizers.evaluation.diagnosis import STAGES
from ...optimizers.evaluation.tables import category_table, counts_table
from ...programs.showing.tables import Table as Told
from .terminal import clip, shown

_AFTER_RETRIEVAL = ("relevance filter", "reading", "aggregation")


def counts_view(found: Sequence[Diagnosed], by: str | None = None) -> RenderableType:
    """How many wrong answers each stage lost, by run; and for each value of a category, run by run."""
    table = _table(counts_table(found))
    parts: list[RenderableType] = [table, Text()]
    for each in found if by else ():
        parts += [_table(category_table(each, by or "")), Text()] if each.wrong else []
    for each in found:
        counts = each.counts()
        if counts["retrieval"] and not any(counts[stage] for stage in _AFTER_RETRIEVAL):
            said = (
                f"! {each.run.name}: no wrong answer got beyond retrieval: are the passages those the questions name?"
            )
            parts.append(Text(shown(said), "yellow"))
    return Group(*parts)


def list_view(found: Diagnosed) -> RenderableType:
    """The wrong answers, by stage: why, at which step, and where the trace is."""
    if not found.wrong:
        return Text(shown(f"{found.run.name}: no answer is wrong"), "bold")
    lines: list[Text] = [Text(shown(found.run.name), "bold")]
    for each in sorted(found.wrong, key=lambda wrong: STAGES.index(wrong.diagnosis.stage)):
        lines += [_line(each), _where(each)]
    return Group(*lines, Text())


def _line(wrong: Wrong) -> Text:
    head = Text(f"{wrong.diagnosis.stage:<16}  ", "yellow")
    return head.append(shown(wrong.id), "cyan").append(
        shown(f"  {' '.join(wrong.diagnosis.reason.split())}"), "default"
    )


def _where(wrong: Wrong) -> Text:
    where = " > ".join(clip(name) for name in wrong.place)
    trace = shown(str(wrong.trace)) if wrong.trace else "no trace"
    return Text(f"{'':<18}{f'{where}, ' if where else ''}{trace}", "dim")


def _table(told: Told) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(shown(told.head[0]))
    for name in told.head[1:]:
        table.add_column(shown(name), overflow="fold", justify="right")
    for row in told.rows:
        table.add_row(*map(shown, row))
    return table
