"""``aspectrag diagnose``: which stage lost the wrong answers of a run."""

from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from ..errors import AspectragError
from ..whole import write
from .options import Json, file_of
from .views.terminal import console, shown


def diagnose(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or folders that hold several.")],
    metric: Annotated[
        str | None,
        typer.Option(help="The column by which an answer is wrong.", show_default="acc; compound_acc of compound ones"),
    ] = None,
    threshold: Annotated[float, typer.Option(help="Scores below it are wrong.")] = 1.0,
    by: Annotated[
        str | None, typer.Option(help="A category, such as type or hops: stages for each value.", show_default="first")
    ] = None,
    json: Json = None,
) -> None:
    """Name for each wrong answer of a run the first stage that lost it.

    A route that cannot make the look-ups, hops that ended early, a part that no
    sub-question asks for, a passage that was not found, or found and judged
    away, or read in vain, or a reply that the final answer lost: told from the
    trace, by what the benchmark knows of the way to the answer (supporting
    passages, parts and hops with their answers). What cannot be told is counted
    as unknown, with the reason.

    Examples:
      aspectrag diagnose runs/demo/han
      aspectrag diagnose runs/musique --by hops
      aspectrag diagnose runs/hotpotqa --metric f1 --threshold 0.5
      aspectrag diagnose runs/demo --json why.json
    """
    if json:
        file_of("--json", json)  # before the work, which may take minutes
    if not isfinite(threshold):
        raise AspectragError("--threshold is no number that a score could have: give one such as 0.5")
    from ..optimizers.evaluation.diagnosing import diagnose_run
    from ..optimizers.evaluation.folder import dumped
    from ..optimizers.evaluation.run import runs_of
    from .views.diagnosis import counts_view, list_view

    given = {run.path.resolve(): run for path in runs for run in runs_of(path)}  # each once
    found = [diagnose_run(run, metric, threshold) for run in given.values()]
    categories = list(
        dict.fromkeys(name for each in found for scored in each.run.scored() for name in scored.categories)
    )
    if by and by not in categories:
        raise AspectragError(f"the runs have no category {by!r} (they have: {', '.join(categories) or 'none'})")
    if json:
        write(json, dumped([each.to_dict() for each in found], indent=2) + "\n")
    console(wrap=True).print(counts_view(found, by or next(iter(categories), None)))
    for each in found:
        console().print(list_view(each))
    if json:
        console().print(shown(str(json)), style="dim")
