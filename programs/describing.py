"""What a program says to its language models, stage by stage: to be looked at, and to be compared."""

import dataclasses
import difflib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ujson
from dspy.adapters.utils import get_annotation_name
from dspy.signatures.signature import infer_prefix

from .program import Program
from .trace import plain


@dataclass(frozen=True)
class Field:
    """A field of a stage.

    Attributes:
        name: Its name.
        type: Its type.
        description: What the model is told of it; empty where that is nothing.
        prefix: Its prefix, where an optimizer gave it another one than its name.
    """

    name: str
    type: str
    description: str
    prefix: str

    def __str__(self) -> str:
        """One line."""
        prefix = f"prefix {self.prefix!r}" if self.prefix else ""
        return " - ".join(filter(None, [f"{self.name}: {self.type}", self.description, prefix]))


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes:
        inputs: What it is given.
        outputs: What it returns.
        instructions: What it is told.
        demos: Examples that it is shown.
        lm: The model string of a language model that was set on it; ``None`` for the one in force.
    """

    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    instructions: str
    demos: tuple[Mapping[str, Any], ...]
    lm: str | None = None


@dataclass(frozen=True)
class Description:
    """A program.

    Attributes:
        settings: Its class and config, and the digest of a trained ranker.
        stages: By name.
    """

    settings: Mapping[str, Any]
    stages: Mapping[str, Stage]


@dataclass(frozen=True)
class StageDifference:
    """Where two programs differ in a stage.

    Attributes:
        only: ``before`` or ``after``, where the other has no such stage.
        lines: Of fields, or of the language model: ``- what was`` and ``+ what is``.
        instructions: A unified diff; empty where they are the same.
        added: Demos that the second has more.
        removed: Demos that it has not.
        reordered: Whether it has the same demos in another order.
    """

    only: str | None = None
    lines: Sequence[str] = ()
    instructions: Sequence[str] = ()
    added: Sequence[Mapping[str, Any]] = ()
    removed: Sequence[Mapping[str, Any]] = ()
    reordered: bool = False

    def __bool__(self) -> bool:
        return any(vars(self).values())


@dataclass(frozen=True)
class Differences:
    """Where two programs differ; false where they do not.

    Attributes:
        settings: Both values of those that differ, by name.
        stages: By name, those that differ.
    """

    settings: Mapping[str, tuple[Any, Any]]
    stages: Mapping[str, StageDifference]

    def __bool__(self) -> bool:
        return bool(self.settings or self.stages)


def describe(program: Program, folder: Path | None = None) -> Description:
    """Describe a program.

    Args:
        program: The program.
        folder: Where it was read from: a trained ranker may lie beside it.
    """
    settings = {"class": type(program).__name__, **dataclasses.asdict(program.config)}
    weights = folder / "ranker" / "model.safetensors" if folder else None
    if weights and weights.is_file():
        settings["trained ranker"] = hashlib.sha256(weights.read_bytes()).hexdigest()[:16]
    return Description(settings, {name: _stage(predictor) for name, predictor in program.named_predictors()})


def differences(before: Description, after: Description) -> Differences:
    """What is another in the second."""
    settings = {
        name: (before.settings.get(name), after.settings.get(name))
        for name in dict.fromkeys([*before.settings, *after.settings])
        if before.settings.get(name) != after.settings.get(name)
    }
    stages = {
        name: _difference(before.stages.get(name), after.stages.get(name))
        for name in dict.fromkeys([*before.stages, *after.stages])
    }
    return Differences(settings, {name: found for name, found in stages.items() if found})


def _stage(predictor: Any) -> Stage:
    signature = predictor.signature
    return Stage(
        tuple(_field(name, field) for name, field in signature.input_fields.items()),
        tuple(_field(name, field) for name, field in signature.output_fields.items()),
        signature.instructions,
        tuple(plain(demo) for demo in predictor.demos),
        getattr(predictor.lm, "model", None),
    )


def _field(name: str, field: Any) -> Field:
    """A field, without what DSPy makes of its name."""
    description, prefix = (field.json_schema_extra[key] for key in ("desc", "prefix"))
    return Field(
        name,
        get_annotation_name(field.annotation),
        description if description != f"${{{name}}}" else "",
        prefix if prefix != f"{infer_prefix(name)}:" else "",
    )


def _difference(before: Stage | None, after: Stage | None) -> StageDifference:
    if before is None or after is None:
        return StageDifference(only="after" if before is None else "before")
    removed = _without(before.demos, after.demos)
    added = _without(after.demos, before.demos)
    return StageDifference(
        lines=[
            *_changed([f"input {each}" for each in before.inputs], [f"input {each}" for each in after.inputs]),
            *_changed([f"output {each}" for each in before.outputs], [f"output {each}" for each in after.outputs]),
            *_changed(_lm(before), _lm(after)),
        ],
        instructions=list(
            difflib.unified_diff(
                before.instructions.split("\n"), after.instructions.split("\n"), "before", "after", lineterm=""
            )
        ),
        added=added,
        removed=removed,
        reordered=not added and not removed and before.demos != after.demos,
    )


def _lm(stage: Stage) -> list[str]:
    return [f"language model {stage.lm}"] if stage.lm else []


def _changed(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Lines that went and came, in their places."""
    return [line for line in difflib.ndiff(before, after) if line[0] in "+-"]


def _without(demos: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The demos that the others do not have, or not so often."""
    left = [_key(demo) for demo in others]
    found = []
    for demo in demos:
        if (key := _key(demo)) in left:
            left.remove(key)
        else:
            found.append(demo)
    return found


def _key(demo: Mapping[str, Any]) -> str:
    return ujson.dumps(demo, sort_keys=True)
