"""``aspectrag program``: what a saved program says to its language models, and where two of them differ."""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import typer
import ujson

from ..data.index.retriever import NoPassages
from ..programs.describing import Description, describe, differences
from ..programs.registry import METHODS, class_of
from ..programs.saved import read_manifest
from ..programs.trace import plain
from .views.program import differences_view, program_view
from .views.terminal import console, shown

app = typer.Typer(no_args_is_help=True, help="Saved programs: show what they say, and where two of them differ.")

Folder = Annotated[Path, typer.Argument(help="A saved program, such as 'aspectrag compile' makes.")]


@app.command()
def show(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")] = False,
) -> None:
    """Show a saved program: its settings and, for each stage, fields, instructions, demos, and what tuning gained.

    Scores have 95 % intervals, over questions that the optimizer did not see. A
    p value above 0.05 says that the difference may be chance.

    Examples:
      aspectrag program show my-compiled
      aspectrag program show my-compiled --json | jq '.stages.route.demos'
    """
    cls = class_of(folder)
    program, manifest = cls.inspect(folder), read_manifest(folder)
    found, tuning = describe(program, folder), program.tuning["stages"]
    meta = manifest.get("meta")
    record = {
        "class": cls.__name__,
        "method": next(name for name, each in METHODS.items() if each is cls),
        "lm": meta.get("lm") if isinstance(meta, dict) else None,
        "dspy": manifest.get("dspy"),
        "config": {name: value for name, value in found.settings.items() if name != "class"},
        "stages": {
            name: {**dataclasses.asdict(stage), "tuning": tuning.get(name)} for name, stage in found.stages.items()
        },
    }
    if as_json:
        sys.stdout.write(ujson.dumps(plain(record), ensure_ascii=False, escape_forward_slashes=False) + "\n")
    else:
        console(wrap=True).print(program_view(record))


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="A saved program.")],
    after: Annotated[
        Path | None,
        typer.Argument(metavar="B", help="Another one. Without it, A is compared with what it was untuned."),
    ] = None,
) -> None:
    """Show where two saved programs differ: settings, and stage by stage fields, instructions and demos.

    Lines with - are of A, those with + of B. With A alone, - is the untuned
    program of its class and settings, and + is A: what tuning changed.

    Examples:
      aspectrag program diff my-compiled
      aspectrag program diff compiled/small compiled/medium
    """
    if after is None:
        cls = class_of(before)
        untuned = cls(cls.inspect(before).config, NoPassages())
        names, found = ("untuned", str(before)), differences(describe(untuned), _described(before))
    else:
        names, found = (str(before), str(after)), differences(_described(before), _described(after))
    if not found:
        console().print(shown(f"{names[0]} and {names[1]}: no difference"))
        return
    console(wrap=True).print(differences_view(found, *names))


def _described(folder: Path) -> Description:
    return describe(class_of(folder).inspect(folder), folder)
