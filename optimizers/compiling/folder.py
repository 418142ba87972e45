"""The folder of an optimization: while it goes on, and as the compiled program that comes of it."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ujson

from ...errors import AspectragError
from ...programs.program import Program
from ...programs.saved import read_manifest
from ...whole import write
from ..evaluation.folder import dumped, read_json
from ..evaluation.runner import alone, writable
from .report import Report

# Gone once all is done: answers of the language model, and what optimizers keep to go on from.
_WORK = ".work"
_REPORT, _IDENTITY = "report.json", "compiling.json"
_OTHERWISE = "remove the folder, and compile again"


@contextmanager
def opened(out: Path, identity: Mapping[str, Any]) -> Iterator[Path]:
    """The folder of an optimization, new or of the same one that was stopped; gives that of its work.

    Raises:
        AspectragError: It holds a finished or another one, or something else; it cannot be written into, or another
            process is at it.
    """
    with alone(out):
        file = out / _IDENTITY
        check(out)
        if file.is_file():
            before, now = read_json(file, _OTHERWISE), ujson.loads(dumped(identity))
            # What an earlier version did not write down cannot be compared.
            if differs := sorted(key for key in before if before[key] != now.get(key)):
                raise AspectragError(
                    f"{out} holds an optimization with another {', '.join(differs)}: give another --out, or remove it"
                )
        else:
            with writable(out):
                write(file, dumped(identity, indent=1) + "\n")
        yield out / _WORK
        shutil.rmtree(out / _WORK)
        file.unlink()  # last of all: until then the same command is known by it


def check(out: Path) -> None:
    """Whether a program can be compiled into the folder, as far as that shows before anything is known of it.

    Raises:
        AspectragError: It holds a compiled program, or something else.
    """
    if finished(out):
        read_manifest(out)
        raise AspectragError(f"{out} holds a compiled program already: give another --out, or remove it")
    own = {".lock", f"{_IDENTITY}.part"}
    if out.is_dir() and not (out / _IDENTITY).is_file() and any(path.name not in own for path in out.iterdir()):
        raise AspectragError(f"{out} holds other files: give a new folder as --out")


def finished(out: Path) -> bool:
    """Whether the folder holds a compiled program, and nothing is left to be done."""
    return (out / "manifest.json").is_file() and not (out / _IDENTITY).is_file()


def completed(program: Program, out: Path) -> tuple[Program, Report] | None:
    """What was saved already, where only the cleaning up was cut short."""
    if not (out / "manifest.json").is_file():
        return None
    return type(program).load(out, program.retriever), Report.from_dict(read_json(out / _REPORT, _OTHERWISE))


def save(result: Program, out: Path, report: Report, model: str) -> None:
    """Write report and program; the manifest, without which there is no program, comes last.

    What is told of stages that were tuned now joins what the program tells of those that were before.
    """
    if report.kept == "compiled":
        changed = {name: change for name, change in report.stages.items() if change.changed}
        # Stages that were tuned before may have been so for another model: each says it itself.
        told = {name: {"lm": model, **report.record(), **change.to_record()} for name, change in changed.items()}
        result.tuning = {**result.tuning, "stages": {**result.tuning.get("stages", {}), **told}}
        if not report.stages:
            result.tuning["ranker"] = report.record()
    write(out / _REPORT, dumped(report.to_dict(), indent=1) + "\n")
    result.save(out, meta={"lm": model, "stages": {}, **result.tuning})
