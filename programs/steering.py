"""The profile ``revelator``: the stages that steer a question, each on a small model that was tuned for it.

Source: HANRAG (arXiv 2509.09713), section 4.2, whose revelator decides all of this with one tuned model.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import dspy

from ..errors import AspectragError
from ..lms.local.names import shipped_adapters
from ..signatures import (
    ClassifyQuestion,
    DecomposeCompound,
    JudgeEnding,
    JudgeRelevance,
    RefineSeedQuestion,
    RouteQuestion,
)

REVELATOR = "revelator"
# What each skill was taught to do: it serves the stages that promise the same, of whatever method.
SKILLS: Mapping[str, type[dspy.Signature]] = {
    "classifier": ClassifyQuestion,
    "router": RouteQuestion,
    "relevance": JudgeRelevance,
    "ending": JudgeEnding,
    "decomposer": DecomposeCompound,
    "refiner": RefineSeedQuestion,
}


def steered(programs: Iterable[dspy.Module], profile: str = REVELATOR) -> dict[str, str]:
    """The language models of those stages that small models were tuned for, as ``lms.roles`` takes them.

    A name that is a stage of several programs is among them only where it promises the same in all.

    Args:
        programs: Those that are asked with the same ``roles``.
        profile: ``revelator`` for the models of the package, or a folder with an adapter in a folder for each skill,
            as ``aspectrag train revelator`` makes it.

    Raises:
        AspectragError: There are no such models.

    Example:
        Needs the extra ``train``; the first use fetches the small model, 98 MB::

            program = HanRag(retriever=open_index("my-index"))
            with dspy.context(lm=load("embedded"), roles=roles(steered([program]))):
                program(question="Who directed the film that won the first Oscar, and when were they born?")
    """
    models = _models(profile)
    skills: dict[str, set[str | None]] = {}
    for program in programs:
        for stage, predictor in program.named_predictors():
            skills.setdefault(stage, set()).add(_skill_of(predictor, models))
    found = {stage: skill for stage, (skill, *others) in skills.items() if skill and not others}
    return {stage: models[skill] for stage, skill in found.items()}


def _models(profile: str) -> dict[str, str]:
    """Names of language models, by the skill each was tuned for."""
    if profile == REVELATOR:
        return shipped_adapters(REVELATOR)
    folder = Path(profile).expanduser()
    found = {skill: f"local/{folder / skill}" for skill in SKILLS if (folder / skill / "card.json").is_file()}
    if not found:
        raise AspectragError(
            f"there is no profile {profile!r}: say {REVELATOR}, or a folder that 'aspectrag train revelator' made"
        )
    return found


def _skill_of(predictor: Any, skills: Iterable[str]) -> str | None:
    return next((skill for skill in skills if _promise(predictor.signature) == _promise(SKILLS[skill])), None)


def _promise(signature: type[dspy.Signature]) -> list[tuple[Any, ...]]:
    """What tells signatures apart that a small model knows by their fields; instructions are in its weights."""
    return [
        (name, field.annotation, field.json_schema_extra["desc"])  # pyright: ignore
        for name, field in signature.fields.items()
    ]
