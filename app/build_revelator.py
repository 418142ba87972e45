"""``aspectrag data build revelator``: what HANRAG's control stages learn from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer

from ..data.benchmarks.store import fetched
from ..data.construction.gathering import Gathered, gathered, indexed
from ..data.construction.relevance import relevance
from ..data.construction.revelator import BUILDERS, route_of
from ..data.construction.splitting import disjoint, split
from ..data.construction.stages import STAGES
from ..data.passages import Passage
from ..errors import AspectragError
from .building import Out, Seed, folder, tell, write_parts
from .corpora import say
from .progress import waiting


def revelator(
    sets: Annotated[
        list[str], typer.Argument(help="Names of benchmarks, such as musique, nq, commonsenseqa, compound.")
    ],
    out: Out,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with a folder for each benchmark.", show_default="what was fetched, or the hub"),
    ] = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this stage: {', '.join(STAGES)}. Can be given again.", show_default="all"),
    ] = None,
    test: Annotated[float, typer.Option(min=0, max=0.9, help="Share of the questions in test.jsonl.")] = 0.1,
    most: Annotated[
        int | None,
        typer.Option(min=1, help="Most records of a stage; of the router, for each route.", show_default="all"),
    ] = None,
    negatives: Annotated[int, typer.Option(min=0, help="Irrelevant passages for each relevant one.")] = 1,
    beside_dev: Annotated[
        bool, typer.Option(help="Leave out what shares a question or passage with the split dev, kept to measure on.")
    ] = True,
    seed: Seed = 0,
) -> None:
    """Training sets for the stages that steer HANRAG; no model is asked.

    \b
    router       question -> how it is looked up, each of four ways as often:
                 commonsenseqa is straightforward; nq, squad, triviaqa and first
                 hops of musique are single-step; compound; and musique,
                 2wikimultihopqa, hotpotqa are complex
    decomposer   compound question -> its parts
    refiner      question and what was found -> what to look up next (hops)
    relevance    question and passage -> whether it helps: the supporting ones
                 do, found ones that hold no answer do not
    ending       question and what was found -> whether it is enough

    Taken is the split tune of each set. OUT gets a folder for each stage with
    train.jsonl and test.jsonl, which share no question and no supporting
    passage, in any stage.

    Example:
      aspectrag data build revelator musique nq commonsenseqa compound --out revelator
    """  # noqa: D301
    wanted = _stages(stage)
    folder(out)
    source = _gathered(sets, data, beside_dev)
    questions, passages = source.learn, source.passages
    shares = {"train": 1 - test, "test": test} if test else {"train": 1.0}
    parts = split(questions, shares, seed, route_of)
    made: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name in wanted:
        if name != "relevance":
            made[name] = {part: BUILDERS[name](each, most=most, seed=seed) for part, each in parts.items()}
        elif passages:
            made[name] = _relevance(parts, passages, negatives, most, seed)
        else:
            made[name] = {part: [] for part in parts}
    empty = [name for name in wanted if not all(made[name].values())]
    if empty and (stage or len(empty) == len(wanted)):
        raise AspectragError(f"nothing for the {empty[0]} in {', '.join(sets)}: {_NEEDED[empty[0]]}")
    for name in empty:
        say(f"! nothing for the {name}, left out: {_NEEDED[name]}")
    made = {name: found for name, found in made.items() if name not in empty}
    if test:
        disjoint(*([one for found in made.values() for one in found[part]] for part in shares))
    for name, found in made.items():
        write_parts(folder(out / name), found)
    rows = [(name, *(len(found[part]) for part in shares)) for name, found in made.items()]
    tell(("stage", *shares), rows, f"{out}: from {len(questions)} questions of {', '.join(sets)}")


_NEEDED = {
    "router": "give sets of more than one kind, such as commonsenseqa, nq, compound, musique",
    "decomposer": "give a set of compound questions; 'aspectrag data build compound' makes one",
    "refiner": "give a set with hops, such as musique or 2wikimultihopqa",
    "ending": "give a set with hops, such as musique or 2wikimultihopqa",
    "relevance": "give a set with supporting passages and their texts, such as squad, musique",
}


def _stages(names: list[str] | None) -> list[str]:
    for name in names or ():
        if name not in STAGES:
            raise AspectragError(f"there is no stage {name!r}: choose {', '.join(STAGES)}")
    return list(dict.fromkeys(names or STAGES))


def _gathered(sets: Sequence[str], data: Path | None, beside_dev: bool) -> Gathered:
    """The questions that may be learnt from, their hops as they are asked, and the passages."""
    found = gathered(sets, data or fetched(), beside_dev=beside_dev)
    if found.left_out:
        total = found.left_out + len(found.learn)
        say(f"{found.left_out} of {total} questions left out: they share something with dev")
    return found


def _relevance(
    parts: dict[str, list[dspy.Example]], passages: dict[str, Passage], negatives: int, most: int | None, seed: int
) -> dict[str, list[dict[str, Any]]]:
    with waiting(f"looking for passages that do not help, among {len(passages):,} …"), indexed(passages) as index:
        return {
            part: relevance(questions, passages, index, negatives=negatives, most=most, seed=seed)
            for part, questions in parts.items()
        }
