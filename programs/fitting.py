"""Whether a saved program fits one that is there: all of it, to be loaded, or single stages, to be adopted."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from ..errors import AspectragError
from .saved import damage_named, read, read_manifest, tuned_stages

FORMAT_VERSION = 1
Fields = Mapping[str, list[str]]


def identity_of(program: dspy.Module) -> dict[str, Any]:
    """What must agree between a saved state and the class that loads it; DSPy itself checks positions alone."""
    predictors = {name: _fields(predictor) for name, predictor in program.named_predictors()}
    return {"format": FORMAT_VERSION, "class": type(program).__name__, "predictors": predictors}


def load_prompts(program: dspy.Module, folder: Path, load_lm: Callable[[dict[str, Any]], dspy.BaseLM]) -> None:
    """Give a program the state of a saved one, whose predictors it has.

    Args:
        program: It.
        folder: What :meth:`.program.Program.save` wrote.
        load_lm: Makes a language model out of what was saved of it.

    Raises:
        AspectragError: Class, format, predictors or fields differ, a language model cannot be had, or the folder is
            damaged; says which.
    """
    saved, state, ours = read_manifest(folder), read(folder, "state"), identity_of(program)
    with damage_named(folder):
        _compare_kind(saved, ours, folder)
        theirs = saved.get("predictors", {})
        for name in sorted(theirs.keys() | ours["predictors"].keys()):
            if theirs.get(name) != ours["predictors"].get(name):
                raise AspectragError(
                    f"{folder}: predictor {name!r} was saved with fields {theirs.get(name)}, "
                    f"this program has {ours['predictors'].get(name)}: compile it again"
                )
            _check(state[name], theirs[name])
        lms = {name: load_lm(part["lm"]) for name, part in state.items() if part["lm"]}
        program.load_state({name: {**part, "lm": None} for name, part in state.items()})
        for name, predictor in program.named_predictors():
            predictor.lm = lms.get(name)


def adoptable(program: dspy.Module, folder: Path, stages: Sequence[str] | None = None) -> dict[str, Any]:
    """The states of those saved stages that fit a program, ready to be loaded.

    Args:
        program: Left as it is.
        folder: What :meth:`.program.Program.save` wrote.
        stages: Their names; by default those that were tuned.

    Raises:
        AspectragError: Class or format differ, a stage is not there, or the folder is damaged.
    """
    saved, state, found = read_manifest(folder), read(folder, "state"), {}
    _compare_kind(saved, identity_of(program), folder)
    wanted = tuned_stages(saved) if stages is None else stages
    with damage_named(folder):
        theirs = saved["predictors"]
        for name in wanted:
            if name not in theirs:
                raise AspectragError(f"{folder} has no stage {name!r} (it has: {', '.join(theirs)})")
            _check(state[name], theirs[name])
        for name, predictor in program.named_predictors():
            if name in wanted and _fits(predictor, theirs[name], state[name]):
                found[name] = learnt(state[name])
                predictor.deepcopy().load_state(found[name])  # what cannot be loaded is found out here
    return found


def learnt(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a predictor without what its optimizer left there, and without a language model that was set."""
    return {"demos": state["demos"], "signature": state["signature"], "traces": [], "train": [], "lm": None}


def relearnt(before: dspy.Module, after: dspy.Module) -> list[str]:
    """The stages of a program whose demos or instructions are others in a copy of it."""
    old, new = ({name: learnt(p.dump_state()) for name, p in each.named_predictors()} for each in (before, after))
    return [name for name, state in new.items() if state != old.get(name)]


def _compare_kind(saved: Mapping[str, Any], ours: Mapping[str, Any], folder: Path) -> None:
    for key in ("format", "class"):
        if saved.get(key) != ours[key]:
            raise AspectragError(
                f"{folder}: {key} is {saved.get(key)!r}, this program's is {ours[key]!r}: compile it again"
            )


def _fields(predictor: Any) -> dict[str, list[str]]:
    signature = predictor.signature
    return {"inputs": list(signature.input_fields), "outputs": list(signature.output_fields)}


def _check(state: Mapping[str, Any], fields: Fields) -> None:
    """Refuse a state that DSPy would load, and fail with when the predictor is called."""
    demos, instructions, described = state["demos"], state["signature"]["instructions"], state["signature"]["fields"]
    if not isinstance(demos, list) or not all(isinstance(demo, dict) for demo in demos):
        raise ValueError("demos are no list of records")
    if not isinstance(instructions, str):
        raise ValueError("instructions are no text")
    if len(described) != len(fields["inputs"]) + len(fields["outputs"]):
        raise ValueError("fields are missing")


def _fits(predictor: Any, fields: Fields, state: Mapping[str, Any]) -> bool:
    """Whether what a saved predictor learnt is of use to this one: the two promise the same.

    Names are not enough: a brief answer has the fields of a full one. What tells signatures of the same fields apart is
    how the fields are described. Every saved state holds that, also those of earlier versions, in which a signature's
    name would be missing; and it shows too that a signature was changed since. Not compared are instructions and the
    prefixes of fields, as optimizers change both.
    """
    theirs, ours = state["signature"]["fields"], predictor.signature.dump_state()["fields"]
    return fields == _fields(predictor) and all(
        one["description"] == other["description"] for one, other in zip(theirs, ours, strict=True)
    )
