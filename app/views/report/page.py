"""The page: tables, plots and questions, in one file that loads nothing and runs nothing but its own script."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from tqdm.auto import tqdm

from .... import __version__
from ....optimizers.evaluation.run import Run
from ....optimizers.evaluation.statistics import SIGNIFICANT, Mean, mean_of
from ....programs.showing.pages import asset, digest, templates
from .facts import facts, names_of
from .plots import COLOURS, bars, quality_and_cost
from .questions import Entry, entries
from .tables import Numbers, arrow, is_quality, numbers

TEMPLATES = Path(__file__).parent.parent / "templates"


def report_page(runs: Sequence[Run], *, limit: int | None = None, traces: bool = True, progress: bool = True) -> str:
    """One or more scored runs as an HTML page that stands alone and opens from disk.

    Args:
        runs: The runs; with several, the others are compared with the first.
        limit: Most questions that are shown one by one; tables and plots are of all.
        traces: Whether each answer has its trace.
        progress: Whether to show a bar.

    Returns:
        The page; the same runs give the same page, byte for byte.

    Raises:
        AspectragError: A run is not scored, damaged, or given twice.
    """
    names, found = names_of(runs), numbers(runs)
    environment = templates(TEMPLATES)
    style = asset("report.css", TEMPLATES) + asset("trace.css")
    script = asset("report.js", TEMPLATES) + asset("trace.js")
    shown = entries(runs, names, environment, limit=limit, traces=traces, progress=progress)
    return environment.get_template("report.html").render(
        style=style,
        script=script,
        style_hash=digest(style),
        script_hash=digest(script),
        version=__version__,
        runs=[
            {"name": name, "metrics": run.metrics, "unpriced": run.unpriced}
            for name, run in zip(names, runs, strict=True)
        ],
        base=names[0],
        facts=facts(runs),
        numbers=found,
        plots=_plots(runs, names, found, progress),
        colours=len(COLOURS),
        arrow=arrow,
        significant=SIGNIFICANT,
        entries=shown,
        total=len({(question.id, question.question) for run in runs for question in run.questions}),
        places={entry.question.id: entry.key for entry in reversed(shown)},
        data=_data(shown, found.columns, len(runs), environment.filters["clean"]),
    )


def _plots(runs: Sequence[Run], names: Sequence[str], found: Numbers, progress: bool) -> dict[str, dict[str, Markup]]:
    """By column: ``cost`` and ``bars``, where there is something to draw."""
    tokens = [_tokens(run) for run in runs]
    plots: dict[str, dict[str, Markup]] = {}
    for line in tqdm(found.overall(), desc="drawing", unit="metric", disable=None if progress else True):
        plots[line.column] = {}
        points = [(n, y, x) for n, y, x in zip(names, line.means, tokens, strict=True) if y and x and x.mean]
        if points and is_quality(line.column):
            plots[line.column]["cost"] = quality_and_cost(line.column, *zip(*points, strict=True))
        if split := found.of(line.column):
            plots[line.column]["bars"] = bars(split, names)
    return plots


def _tokens(run: Run) -> Mean | None:
    """Tokens read and written per question that was answered; cached calls took none."""
    spent = [
        record["usage"]["prompt_tokens"] + record["usage"]["completion_tokens"]
        for _, record in run.answers()
        if record["error"] is None
    ]
    return mean_of(spent) if spent else None


def _data(shown: Sequence[Entry], columns: Sequence[str], runs: int, clean: Any) -> Markup:
    """What the script filters and sorts by, as JSON that no text can break out of."""
    questions = [
        {
            "text": clean(" ".join(entry.texts)).lower(),
            "categories": [clean(f"{name}: {value}") for name, value in entry.categories.items()],
            "scores": [
                [entry.scored[place].scores.get(column) for column in columns] if place in entry.scored else None
                for place in range(runs)
            ],
            "failed": [place for place, scored in entry.scored.items() if scored.error is not None],
        }
        for entry in shown
    ]
    text = json.dumps({"columns": [clean(column) for column in columns], "questions": questions})
    return Markup(text.replace("<", "\\u003c"))
