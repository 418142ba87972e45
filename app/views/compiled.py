"""Recipes, and what an optimization did, in the terminal."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from .terminal import shown

if TYPE_CHECKING:
    from ...optimizers.compiling.recipes import Recipe
    from ...optimizers.compiling.report import Measured, Report


def recipes_view(recipes: "Mapping[str, Recipe]") -> RenderableType:
    """Recipes and optimizers, one per line."""
    from ...optimizers.compiling.teleprompters import OPTIMIZERS

    table = Table(box=None, title="Recipes", title_justify="left")
    for heading in ("recipe", "tunes", "by", "with", ""):
        table.add_column(heading, overflow="fold")
    for each in recipes.values():
        table.add_row(each.name, each.target, each.metric, each.optimizer, shown(each.about))
    optimizers = Table(box=None, title="Optimizers", title_justify="left")
    for heading in ("optimizer", "", "arguments (--arg), small and medium"):
        optimizers.add_column(heading, overflow="fold")
    for each in OPTIMIZERS.values():
        medium = {**each.small, **each.medium}
        told = ", ".join(
            f"{name}={small}" + (f"/{medium[name]}" if medium[name] != small else "")
            for name, small in each.small.items()
        )
        optimizers.add_row(each.name, each.about, told)
    return Group(table, Text(), optimizers)


def compiled_view(report: "Report", folder: Path) -> RenderableType:
    """Scores before and after, what changed, what it cost."""
    table = Table(box=None)
    for heading in (report.metric, "uncompiled", "compiled", "difference"):
        table.add_column(heading)
    both = (report.uncompiled, report.compiled)
    mean = "accuracy" if report.uncompiled.classification else "mean"
    table.add_row(f"{mean} ({report.examples['test']})", *(str(each.score) for each in both), _gain(report))
    if all(each.macro_f1 for each in both):
        table.add_row("macro-F1", *(str(each.macro_f1) for each in both), "")
    table.add_row("outputs that could not be read", *(str(each.unreadable) for each in both), "")
    table.add_row("failed", *(_failed(each) for each in both), "")
    lines: list[RenderableType] = [table, Text()]
    for stage, change in report.stages.items():
        if change.changed:
            told = f"{stage}: {change.demos} demos" + (", new instructions" if change.instructions_changed else "")
            lines.append(Text(shown(told), "bold"))
            if diff := change.diff():
                lines.append(Syntax(shown(diff), "diff", theme="ansi_dark", word_wrap=True, background_color="default"))
    spent = report.spent
    lines.append(
        Text(
            f"{report.optimizer}: {spent['runs']:,.0f} runs, {spent['lm_calls']:,.0f} calls, "
            f"{spent['prompt_tokens']:,.0f} + {spent['completion_tokens']:,.0f} tokens, {spent['seconds']:,.0f} s",
            "dim",
        )
    )
    lines += [Text(shown(f"! {note}"), "yellow") for note in report.notes]
    lines += [Text(shown(f"! {count} runs failed: {error}"), "yellow") for error, count in report.errors.items()]
    lines.append(Text(shown(f"{folder}: the {report.kept} program is kept: {report.why}"), "green"))
    return Group(*lines)


def _gain(report: "Report") -> str:
    difference = report.difference
    return f"{difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}], p {difference.p:.3f}"


def _failed(measured: "Measured") -> str:
    first = next(iter(measured.failures.values()), "")
    return f"{len(measured.failures)}" + (f" ({shown(first)[:60]})" if first else "")
