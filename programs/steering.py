"""The profile ``revelator``: the stages that steer a question, each on a small model that was tuned for it.

Source: HANRAG (arXiv 2509.09713), section 4.2, whose revelator decides all of this with one tuned model.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import dspy

from ..signatures import (
    ClassifyQuestion,
    DecomposeCompound,
    JudgeEnding,
    JudgeRelevance,
    RefineSeedQuestion,
    RouteQuestion,
)

# What each skill was taught to do: it serves the stages that promise the same, of whatever method.
SKILLS: Mapping[str, type[dspy.Signature]] = {
    "classifier": ClassifyQuestion,
    "router": RouteQuestion,
    "relevance": JudgeRelevance,
    "ending": JudgeEnding,
    "decomposer": DecomposeCompound,
    "refiner": RefineSeedQuestion,
}


def steered(programs: Iterable[dspy.Module], models: Mapping[str, str]) -> dict[str, str]:
    """The language models of those stages that small models were tuned for, as ``lms.roles`` takes them.

    A name that is a stage of several programs is among them only where it promises the same in all.

    Args:
        programs: Those that are asked with the same ``roles``.
        models: Names of language models by the skill that each was taught, as ``lms.adapters`` gives them.

    Example:
        Needs the extra ``train``; the first use fetches the small model, 98 MB::

            program = HanRag(retriever=open_index("my-index"))
            own = roles(steered([program], adapters("revelator")))
            with dspy.context(lm=load("embedded"), roles=own):
                program(question="Who directed the film that won the first Oscar, and when were they born?")
    """
    skills: dict[str, set[str | None]] = {}
    for program in programs:
        for stage, predictor in program.named_predictors():
            skills.setdefault(stage, set()).add(_skill_of(predictor, models))
    found = {stage: skill for stage, (skill, *others) in skills.items() if skill and not others}
    return {stage: models[skill] for stage, skill in found.items()}


def _skill_of(predictor: Any, skills: Iterable[str]) -> str | None:
    promise = _promise(predictor.signature)
    return next((skill for skill in skills if skill in SKILLS and promise == _promise(SKILLS[skill])), None)


def _promise(signature: type[dspy.Signature]) -> list[tuple[Any, ...]]:
    """What tells signatures apart that a small model knows by their fields; instructions are in its weights."""
    return [
        (name, field.annotation, field.json_schema_extra["desc"])  # pyright: ignore
        for name, field in signature.fields.items()
    ]
