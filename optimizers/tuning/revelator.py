"""The revelator: every skill by which a question is steered, taught to one small model, an adapter each.

Source: HANRAG (arXiv 2509.09713), section 4.2, whose revelator is one model of 8 billion parameters, tuned for all of
its skills. Ours are adapters of a model of 135 million, so that they are trained, and run, on a laptop.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dspy

from ...lms import load
from ...lms.local.card import read_card, write_card
from .labeled import LabeledFinetune
from .lora import LoraSettings
from .measuring import held_out_scores
from .skills import SKILLS, Lessons, lessons, measured_on, predictor_of, stage_of
from .thresholds import best_threshold, probabilities

# In the scores of a card: those of the examples that were held out.
HELD_OUT = "held out"
# Share of the time that is kept for the threshold and for measuring.
_MEASURING = 0.05


@dataclass(frozen=True)
class Plan:
    """How much of a skill is learnt: examples, at most, and passes over them."""

    most: int
    epochs: float


# As much as two cores that multiply in bfloat16 read in an hour: passages are long. Slower ones are given minutes.
PLANS: Mapping[str, Plan] = {
    "classifier": Plan(3000, 2.0),
    "router": Plan(2200, 2.0),
    "relevance": Plan(1600, 1.5),
    "ending": Plan(1400, 2.0),
    "decomposer": Plan(550, 3.0),
    "refiner": Plan(790, 2.0),
}


def train_revelator(
    store: str | Path,
    out: str | Path,
    *,
    skills: Sequence[str] = SKILLS,
    base: str = "smollm2",
    most: int | None = None,
    epochs: float | None = None,
    minutes: float | None = None,
    settings: LoraSettings | None = None,
    told: Callable[[str, Path], None] = lambda *_: None,
    progress: bool = True,
) -> dict[str, Path]:
    """Teach skills to a small model, one after the other; killed, the same call goes on where it was.

    Args:
        store: Folder with a folder for each benchmark; the split ``tune`` is learnt from.
        out: Gets a folder for each skill.
        skills: Of :data:`.skills.SKILLS`.
        base: Name of the small model, after ``local/``.
        most: Examples of a skill, at most; by default as in :data:`PLANS`.
        epochs: Passes over them; by default as in :data:`PLANS`.
        minutes: In all, with what it takes to read the sets and to measure; shared out by how much of each skill there
            is to read.
        settings: How to train; its epochs and minutes are those above.
        told: Called with each skill that is done, and its folder.
        progress: Whether to show bars.

    Returns:
        The folders, by skill.

    Raises:
        AspectragError: There is no such skill, its examples cannot be had, or see :func:`.lora.tune`.

    Example:
        >>> train_revelator(Path("data"), Path("runs/revelator"), skills=["router"])  # doctest: +SKIP
    """
    store, out, until = Path(store).expanduser(), Path(out).expanduser(), time.monotonic()
    settings = settings or LoraSettings()
    for skill in skills:
        stage_of(skill)
    lm = load(f"local/{base}")
    others = measured_on(store)
    found = {
        skill: lessons(skill, store, most=most or PLANS[skill].most, seed=settings.seed, others=others)
        for skill in dict.fromkeys(skills)
    }
    passes = {skill: epochs or PLANS[skill].epochs for skill in found}
    weights = {skill: passes[skill] * _reading(each) for skill, each in found.items()}
    for skill, each in found.items():
        share = None if minutes is None else minutes * weights[skill] / sum(weights.values())
        # What one skill takes too long, or leaves, is missing or there for the next.
        until += 60 * (share or 0)
        how = replace(settings, minutes=share, epochs=passes[skill])
        teach(skill, lm, each, out / skill, how, until=until if share else None, progress=progress)
        told(skill, out / skill)
    return {skill: out / skill for skill in found}


def teach(
    skill: str,
    lm: dspy.LM,
    found: Lessons,
    out: Path,
    settings: LoraSettings,
    *,
    until: float | None = None,
    progress: bool = True,
) -> Any:
    """Teach one skill; a verdict then gets the threshold that is best for the examples that were held out.

    What the skill scores on them is in its card: as weights and threshold were chosen by them, a little too high.

    Args:
        skill: Of :data:`.skills.SKILLS`.
        lm: The small model.
        found: What is learnt from.
        out: Folder of the adapter.
        settings: How to train.
        until: See :func:`.lora.tune`; measuring included.
        progress: Whether to show a bar.

    Returns:
        The predictor of the stage, with the tuned model.
    """
    trained_by = until if until is None else until - _MEASURING * max(0.0, until - time.monotonic())
    tuner = LabeledFinetune(lm, out=out, skill=skill, until=trained_by, progress=progress, **vars(settings))
    tuned = tuner.compile(predictor_of(skill), trainset=found.learn, valset=found.held_out)
    (output,) = tuned.signature.output_fields
    card = read_card(out)
    if tuned.signature.output_fields[output].annotation is bool and output not in card.thresholds:
        chances = probabilities(tuned, output, found.held_out)
        threshold = best_threshold(chances, [bool(each[output]) for each in found.held_out])
        card = replace(card, thresholds={output: threshold})
        write_card(out, card)
        tuned.lm = load(f"local/{out}")
    if HELD_OUT not in card.scores:
        scores = held_out_scores(skill, tuned.lm, found.held_out, output, until, progress)
        write_card(out, replace(card, scores={**card.scores, HELD_OUT: scores}))
    return tuned


def _reading(found: Lessons) -> int:
    return sum(len(str(each.toDict())) for each in found.learn)
