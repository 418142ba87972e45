"""What the commands of ``aspectrag data build`` share: the folder that they write, and what they say at the end."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ..data.construction.splitting import disjoint
from ..data.growing import write_records
from ..errors import AspectragError
from .views.terminal import console, shown

Out = Annotated[Path, typer.Option(help="Folder to write; files of an earlier build in it are replaced.")]
Seed = Annotated[int, typer.Option(help="Of every random choice: the same seed gives the same files.")]
Workers = Annotated[int, typer.Option(min=1, help="Calls of the model at once.")]

_PARTS = {"tune", "train", "dev", "test"}


def work_folder(out: Path) -> Path:
    """The folder within ``out`` for what models are asked for; both are made.

    Raises:
        AspectragError: ``out`` is a file.
    """
    folder(out)
    return folder(out / "work")


def folder(path: Path) -> Path:
    """Make a folder, and those that it is in.

    Raises:
        AspectragError: It is a file, or in one.
    """
    if file := next((each for each in (path, *path.parents) if each.is_file()), None):
        raise AspectragError(f"--out: {file} is a file; give a folder")
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_parts(out: Path, parts: Mapping[str, Sequence[dict[str, Any]]]) -> None:
    """Write a file for each part of a set, once it is certain that they share nothing; parts of an earlier build go.

    Raises:
        AspectragError: Two of them share a question, a supporting passage or an entity.
    """
    for one, other in combinations(parts.values(), 2):
        disjoint(one, other)
    for name in _PARTS - parts.keys():
        (out / f"{name}.jsonl").unlink(missing_ok=True)  # it may share something with what is written now
    for name, records in parts.items():
        write_records(out / f"{name}.jsonl", records)


def tell(headings: Sequence[str], rows: Sequence[Sequence[str | int]], last: str) -> None:
    """Print how much there is of what, and where."""
    table = Table(box=None)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left")
    for row in rows:
        table.add_row(*(shown(str(cell)) for cell in row))
    console().print(table)
    console().print(shown(last))
