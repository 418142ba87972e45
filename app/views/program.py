"""Saved programs, and differences of two, in the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import ujson
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...optimizers.evaluation.statistics import Difference, Mean
from ...programs.describing import Differences, StageDifference
from .tables import p_value, signed
from .terminal import clip, shown

_Score = TypeVar("_Score", Mean, Difference)
_COLOURS = {"-": "red", "+": "green", "@": "dim"}


def program_view(record: Mapping[str, Any]) -> RenderableType:
    """All of a program: its settings, what tuning gained, and each stage.

    Args:
        record: What ``program show --json`` prints.
    """
    head = _table("", "")
    head.add_row("class", shown(f"{record['class']} (--method {record['method']})"))
    head.add_row("language model", shown(str(record["lm"] or "not said")))
    head.add_row("saved with", shown(f"DSPy {record['dspy'] or 'of an unknown version'}"))
    head.add_row("settings", shown(", ".join(f"{name} {value}" for name, value in record["config"].items())))
    tuned = [name for name, stage in record["stages"].items() if stage["tuning"]]
    head.add_row("tuned stages", shown(", ".join(tuned) or "none"))
    parts: list[RenderableType] = [head, Text()]
    for name, stage in record["stages"].items():
        parts += [Text(shown(name), "bold"), _stage(stage), Text()]
    return Group(*parts)


def _add_tuning(table: Table, told: Mapping[str, Any]) -> None:
    """Rows for as much as was kept of it: by what, for which language model, and what it gained."""
    by = " / ".join(str(told[key]) for key in ("recipe", "optimizer") if told.get(key))
    lm, metric = told.get("lm"), told.get("metric")
    table.add_row("  tuned", shown(" ".join(filter(None, [by, lm and f"for {lm}", metric and f"by {metric}"]))))
    before, after = (_score(Mean, told.get(key)) for key in ("uncompiled", "compiled"))
    if before and after:
        table.add_row("  score", f"{before} -> {after}, {after.n:.0f} questions")
    if difference := _score(Difference, told.get("difference")):
        table.add_row("  difference", Text.assemble(f"{signed(difference)}, p ", p_value(difference)))


def _score(kind: type[_Score], record: Any) -> _Score | None:
    """A mean or a difference, where all of it was kept."""
    try:
        values: dict[str, Any] = {each.name: float(record[each.name]) for each in fields(kind)}
    except (KeyError, TypeError, ValueError):
        return None
    return kind(**values)


def _stage(stage: Mapping[str, Any]) -> Table:
    table = _table("", "")
    for kind in ("input", "output"):
        for field in stage[f"{kind}s"]:
            described = " - ".join(filter(None, [field["type"], field["description"], field["prefix"]]))
            table.add_row(f"  {kind}", shown(f"{field['name']}: {described}"))
    table.add_row("  instructions", shown(stage["instructions"]))
    if stage["lm"]:
        table.add_row("  language model", shown(stage["lm"]))
    if stage["tuning"]:
        _add_tuning(table, stage["tuning"])
    table.add_row("  demos", str(len(stage["demos"])))
    for number, demo in enumerate(stage["demos"], 1):
        table.add_row(Text(f"{number}", justify="right"), _demo(demo, [field["name"] for field in stage["inputs"]]))
    return table


def differences_view(found: Differences, before: str, after: str) -> RenderableType:
    """Settings that differ side by side, then stage by stage what went and what came."""
    parts: list[RenderableType] = [Text(shown(f"- {before}"), "red"), Text(shown(f"+ {after}"), "green"), Text()]
    if found.settings:
        table = _table("setting", "-", "+")
        for name, values in found.settings.items():
            table.add_row(shown(name), *("" if value is None else shown(str(value)) for value in values))
        parts += [table, Text()]
    for name, stage in found.stages.items():
        parts += [Text(shown(name), "bold"), *_changes(stage), Text()]
    return Group(*parts)


def _changes(stage: StageDifference) -> Iterable[Text]:
    if stage.only:
        yield _line("- not in the other" if stage.only == "before" else "+ not in the other")
    for line in stage.lines:
        yield _line(line)
    if stage.instructions:
        yield Text("  instructions", "dim")
        for line in stage.instructions[2:]:  # the two names are said above
            yield _line(line)
    for sign, demos in (("-", stage.removed), ("+", stage.added)):
        if demos:
            yield Text(
                f"  {len(demos)} demo{'s' if len(demos) > 1 else ''} {'added' if sign == '+' else 'removed'}", "dim"
            )
        for demo in demos:
            yield _line(f"{sign} {_demo(demo)}")
    if stage.reordered:
        yield Text("  the same demos in another order", "dim")


def _line(text: str) -> Text:
    return Text(f"  {shown(text)}", _COLOURS.get(text[:1], ""))


def _demo(demo: Mapping[str, Any], inputs: Sequence[str] = ()) -> str:
    """A demo on one line: what is given, an arrow, what is returned."""
    sides: tuple[list[str], list[str]] = [], []
    for name, value in demo.items():
        if name != "augmented":
            text = value if isinstance(value, str) else ujson.dumps(value, ensure_ascii=False)
            sides[name not in inputs].append(f"{shown(name)}: {clip(text)}")
    told = " -> ".join(", ".join(side) for side in sides if side)
    return f"{told} (bootstrapped)" if demo.get("augmented") else told


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, show_header=any(headings))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
