"""Diagnosed runs in the terminal: how many answers each stage lost, and which."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...optimizers.evaluation.diagnosing import Diagnosed, Wrong
from ...optimizers.evaluation.diagnosis import STAGES
from .terminal import clip, shown

_AFTER_RETRIEVAL = ("relevance filter", "reading", "aggregation")


def counts_view(found: Sequence[Diagnosed], by: str | None = None) -> RenderableType:
    """How many wrong answers each stage lost, by run; and for each value of a category, run by run."""
    table = _table("lost by", [each.run.name for each in found])
    for stage in STAGES:
        table.add_row(stage, *(_share(each.counts()[stage], len(each.wrong)) for each in found))
    table.add_row()
    table.add_row("wrong", *(str(len(each.wrong)) for each in found))
    table.add_row("right", *(str(each.right) for each in found))
    for name, counts in (
        ("without a score", [len(each.unscored) for each in found]),
        ("not asked yet", [each.unasked for each in found]),
    ):
        if any(counts):
            table.add_row(name, *map(str, counts))
    parts: list[RenderableType] = [table, Text()]
    for each in found if by else ():
        parts += [_by_category(each, by or ""), Text()] if each.wrong else []
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


def _by_category(found: Diagnosed, category: str) -> Table:
    stages = [stage for stage, count in found.counts().items() if count]
    table = _table(f"{found.run.path.name} by {category}", [*stages, "wrong"])
    for value in found.values(category):
        counts = found.counts(category, value)
        total = sum(counts.values())
        cells = [_share(counts[stage], total) for stage in stages]
        table.add_row(shown(value) if value is not None else Text("(none)", "dim"), *cells, str(total))
    return table


def _line(wrong: Wrong) -> Text:
    head = Text(f"{wrong.diagnosis.stage:<16}  ", "yellow")
    return head.append(shown(wrong.id), "cyan").append(
        shown(f"  {' '.join(wrong.diagnosis.reason.split())}"), "default"
    )


def _where(wrong: Wrong) -> Text:
    where = " > ".join(clip(name) for name in wrong.place)
    trace = shown(str(wrong.trace)) if wrong.trace else "no trace"
    return Text(f"{'':<18}{f'{where}, ' if where else ''}{trace}", "dim")


def _table(first: str, names: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(shown(first))
    for name in names:
        table.add_column(shown(name), overflow="fold", justify="right")
    return table


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.0%})" if count else "0"
