"""What a small model is taught: the control stages of the methods, each from the questions that its recipe names."""

import random
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from ...data.benchmarks.loading import load
from ...data.construction.compound import as_typed, from_singles
from ...data.construction.gathering import Measured, gathered, indexed, measured
from ...data.construction.relevance import relevance
from ...data.construction.revelator import BUILDERS, route_of, router
from ...data.construction.sampling import balanced, some
from ...data.construction.splitting import apart, marks, split
from ...data.construction.stages import STAGES
from ...data.index.retriever import NoPassages
from ...data.passages import Passage
from ...errors import AspectragError, nearest
from ...programs import steering
from ...programs.registry import method
from ..compiling.recipes import recipe

# The recipe of a skill names its stage, and the questions that it is learnt from.
SKILLS = tuple(steering.SKILLS)
# Single questions that more compound ones are made of.
_MORE = {"decomposer": ("squad", "triviaqa")}
_ROUNDS = 4
_HASTY = 0.25
_HELD_OUT = 0.1


@dataclass(frozen=True)
class Lessons:
    """What a skill is learnt from.

    Attributes:
        learn: Examples to learn from.
        held_out: Examples to choose the best weights by; none is of a question that ``learn`` has examples of.
    """

    learn: list[dspy.Example]
    held_out: list[dspy.Example]


def stage_of(skill: str) -> tuple[str, str]:
    """The method and the stage that a skill is for.

    Raises:
        AspectragError: There is no such skill.

    Example:
        >>> stage_of("router")
        ('han', 'route')
    """
    if skill not in SKILLS:
        raise AspectragError(f"there is no skill {skill!r}{nearest(skill, SKILLS)} (skills: {', '.join(SKILLS)})")
    name, _, stage = recipe(skill).target.partition(".")
    return name, stage


def predictor_of(skill: str) -> Any:
    """The stage itself, as its method makes it."""
    name, stage = stage_of(skill)
    return getattr(method(name)(None, NoPassages()), stage)


def measured_on(store: Path) -> Measured:
    """What no skill may learn from: the split ``dev`` of the sets of all skills, and of whatever the store has.

    Args:
        store: Folder with a folder for each benchmark.
    """
    return measured([name for skill in SKILLS for name in _sets(skill)], store)


def lessons(skill: str, store: Path, *, most: int, seed: int = 0, others: Measured | None = None) -> Lessons:
    """Gather the examples of a skill: of the split ``tune``, sharing nothing with any ``dev``.

    To the compound questions of the sets are added ones made of their single questions. Where the skill is to choose a
    label, of each label as many examples are taken as there are, and more of the others where one is rare.

    Args:
        skill: One of :data:`SKILLS`.
        store: Folder with a folder for each benchmark.
        most: Examples to learn from, at most.
        seed: Which are taken.
        others: See :func:`measured_on`, which is asked by default.

    Raises:
        AspectragError: There is no such skill, or its sets cannot be had or hold nothing for it.
    """
    stage_of(skill)
    others = others or measured_on(store)
    labelled = "benchmark" in recipe(skill).data
    parts = _labelled(skill, store, seed, others) if labelled else _records(skill, store, seed, others)
    if not all(parts.values()):
        raise AspectragError(f"too little for the {skill} in {', '.join(_sets(skill))}: give sets with more questions")
    predictor = predictor_of(skill)
    (output,) = predictor.signature.output_fields
    wanted = {"learn": most, "held_out": max(1, round(most * _HELD_OUT))}
    return Lessons(**{part: _picked(records, output, wanted[part], seed) for part, records in parts.items()})


def _sets(skill: str) -> list[str]:
    data = recipe(skill).data
    return [data["benchmark"]] if "benchmark" in data else [*data["sets"], *_MORE.get(skill, ())]


def _records(skill: str, store: Path, seed: int, others: Measured) -> dict[str, list[dspy.Example]]:
    source = gathered(_sets(skill), store, others=others)
    learn = source.learn
    if skill in ("router", "decomposer"):
        learn = learn + apart(from_singles(learn, _ROUNDS, seed), source.measure, titles=True)
        learn = [_hasty(question, seed) for question in learn]
    shared = split(learn, {"learn": 1 - _HELD_OUT, "held_out": _HELD_OUT}, seed, route_of)
    stage = STAGES[skill]
    kept = {known for question in source.measure for kind, known in marks(question) if kind == "passage"}
    # Nor shall a passage that is measured on be learnt as one that does not help.
    passages = {known: passage for known, passage in source.passages.items() if known not in kept}
    with indexed(passages) if skill == "relevance" else nullcontext() as index:
        return {
            part: [stage.example(record) for record in _built(skill, questions, passages, index, seed)]
            for part, questions in shared.items()
        }


def _hasty(question: dspy.Example, seed: int) -> dspy.Example:
    """The question, one in four as it is typed in haste: no way shall be told by the capitals of the set it is from."""
    hasty = random.Random(f"{seed} {question.id}").random() < _HASTY
    return question.copy(question=as_typed(question.question)) if hasty else question


def _built(
    skill: str, questions: Sequence[dspy.Example], passages: dict[str, Passage], index: Any, seed: int
) -> list[Any]:
    if skill == "relevance":
        return relevance(questions, passages, index, seed=seed)
    if skill == "router":
        return router(questions, as_many=False)
    return BUILDERS[skill](questions, seed=seed)


def _labelled(skill: str, store: Path, seed: int, others: Measured) -> dict[str, list[dspy.Example]]:
    data = recipe(skill).data
    tune, dev = (load(data["benchmark"], part, store=store).questions for part in ("tune", "dev"))
    ((field, source),) = data["output"].items()
    shared = split(
        apart(tune, [*dev, *others.questions], titles=True),
        {"learn": 1 - _HELD_OUT, "held_out": _HELD_OUT},
        seed,
        lambda q: q[source],
    )
    return {
        part: [dspy.Example(question=q.question, **{field: q[source]}).with_inputs("question") for q in questions]
        for part, questions in shared.items()
    }


def _picked(examples: list[dspy.Example], output: str, most: int, seed: int) -> list[dspy.Example]:
    if isinstance(examples[0][output], str | bool) and len({each[output] for each in examples}) <= len(examples) // 4:
        return balanced(examples, lambda each: each[output], most, fill=True, seed=seed)
    return some(examples, most, seed)
