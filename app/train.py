"""``aspectrag train``: small models of your own for the stages that steer a question."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..data.benchmarks.store import fetched
from ..errors import AspectragError
from ..programs.steering import SKILLS
from .building import folder
from .corpora import say
from .views.terminal import console, shown

if TYPE_CHECKING:
    from ..lms.local.card import Card

app = typer.Typer(no_args_is_help=True, help="Train small models for single stages.")


@app.callback()
def _train() -> None:
    """Train small models for single stages."""


def _told(card: "Card") -> str:
    """What a skill scores on the examples that were held out."""
    from ..optimizers.tuning.revelator import HELD_OUT

    scores = card.scores[HELD_OUT]
    if reason := scores.get("failed"):
        return f"it could not be measured: {reason}"
    parts = [f"{'accuracy' if scores['metric'] == 'label' else scores['metric']} {scores['score']}"]
    parts += [f"macro-F1 {scores['macro_f1']}"] if "macro_f1" in scores else []
    parts += [f"threshold of {field} {threshold:g}" for field, threshold in card.thresholds.items()]
    too_long = card.training["examples"]["too_long"]
    left_out = f"; {too_long:,} examples were too long to learn from" if too_long else ""
    return f"{', '.join(parts)} on {scores['n']} held-out examples{left_out}"


@app.command()
def revelator(
    out: Annotated[Path, typer.Option(help="Folder for the adapters, one in a folder for each skill.")],
    skills: Annotated[
        list[str] | None, typer.Option("--skills", help=f"Only this one: {', '.join(SKILLS)}. Can be given again.")
    ] = None,
    base: Annotated[
        str, typer.Option(help="The small model: smollm2, a folder, or a name on the hub; any causal model.")
    ] = "smollm2",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with a folder for each benchmark.", show_default="what was fetched, or the hub"),
    ] = None,
    minutes: Annotated[
        float, typer.Option(min=0.1, help="Most minutes in all; the skills share them by how much there is to read.")
    ] = 85.0,
    most: Annotated[
        int | None, typer.Option(min=8, help="Most examples of a skill.", show_default="550 to 3,000")
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(min=0.01, help="Passes over the examples.", show_default="1.5 to 3")
    ] = None,
    rank: Annotated[int, typer.Option(min=1, help="Of the adapters: their size grows with it.")] = 8,
    learning_rate: Annotated[float, typer.Option(help="The highest; it falls to 0 at the end.")] = 1e-3,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of all that is left to chance.")] = 0,
) -> None:
    """Teach a small model how a question is looked up: which type it is, by which way, what helps, when to stop.

    \b
    classifier   which of eight types a question is (Typed-RAG)
    router       which of four ways it is looked up (HANRAG)
    relevance    whether a passage helps
    ending       whether enough was found
    decomposer   a compound question -> its parts
    refiner      what to look up next

    Learnt is from the split tune of the benchmarks that the recipes of these
    stages name; nothing that shares a question or an article with the split
    dev of these or of any benchmark in the folder. A tenth is held out: by it the
    best weights are chosen, and its scores are told and kept in card.json.
    Stopped, the same command goes on where it was. The skills are used by --profile OUT, a single one by
    --role route=local/OUT/router.

    Examples:
      aspectrag train revelator --skills router --out runs/revelator
      aspectrag ask "Who wrote it, and when?" -m han --profile runs/revelator
    """  # noqa: D301
    from ..lms.local.card import read_card
    from ..optimizers.tuning.lora import LoraSettings
    from ..optimizers.tuning.revelator import train_revelator
    from ..optimizers.tuning.skills import stage_of

    settings = LoraSettings(rank=rank, alpha=2 * rank, learning_rate=learning_rate, seed=seed)
    for skill in skills or ():
        stage_of(skill)
    if data is not None and not data.is_dir():
        raise AspectragError(f"--data: there is no folder {data}")
    folder(out)  # nothing is made before the rest is known to be right

    def told(skill: str, where: Path) -> None:
        _, stage = stage_of(skill)
        console().print(shown(f"{skill}: {where} (--role {stage}=local/{where})"))
        console().print(shown(f"  {_told(read_card(where))}"))

    say("reading what is to be learnt …")
    train_revelator(
        data or fetched(), out, skills=skills or tuple(SKILLS), base=base, most=most, epochs=epochs,
        minutes=minutes, settings=settings, told=told,
    )  # fmt: skip
