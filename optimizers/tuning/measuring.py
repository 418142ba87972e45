"""What a skill that was taught scores, asked as its method asks it."""

import random
import time
from collections.abc import Sequence
from typing import Any

import dspy

from ...data.index.retriever import NoPassages
from ...errors import AspectragError
from ...programs.registry import method
from ..compiling.materials import Found, metric_of
from ..compiling.measuring import measure
from ..compiling.recipes import recipe
from ..compiling.report import Measured
from ..compiling.students import Meter, StageStudent
from ..metrics.f1 import f1
from ..metrics.metric import Metric
from .skills import stage_of

# Held-out examples are measured on for as long as there is time, some in any case, and never more.
_LEAST, _MOST = 8, 200


def scored(
    skill: str, lm: dspy.BaseLM, examples: Sequence[dspy.Example], metric: Metric, *, progress: bool = True
) -> Measured:
    """What the skill scores on examples."""
    name, stage = stage_of(skill)
    meter = Meter()
    student = StageStudent(method(name)(None, NoPassages()), [stage], meter)
    with dspy.context(lm=lm):
        return measure(student, examples, metric, meter, 1, f"measuring the {skill}", progress)


def held_out_scores(
    skill: str, lm: dspy.BaseLM, held_out: Sequence[dspy.Example], output: str, until: float | None, progress: bool
) -> dict[str, Any]:
    """For the card: ``n``, ``metric``, ``score`` and, of a classifier, ``macro_f1``; or ``failed``, with the reason.

    Args:
        skill: Of :data:`.skills.SKILLS`.
        lm: The tuned model.
        held_out: Examples that it did not learn from; those that there is time for, 200 at most.
        output: The field that it writes.
        until: When to end, by ``time.monotonic()``.
        progress: Whether to show bars.
    """
    examples = random.Random(0).sample(list(held_out), min(_MOST, len(held_out)))
    metric = _metric(skill, output)
    try:
        if until is not None and len(examples) > _LEAST:
            began = time.monotonic()
            scored(skill, lm, examples[:_LEAST], metric, progress=False)
            each = (time.monotonic() - began) / _LEAST
            examples = examples[: max(_LEAST, int((until - time.monotonic()) / each))]
        found = scored(skill, lm, examples, metric, progress=progress)
    except AspectragError as error:  # what was taught is there all the same
        return {"n": len(examples), "failed": str(error)}
    told: dict[str, Any] = {"n": len(examples), "metric": metric.name, "score": str(found.score)}
    return told | ({"macro_f1": str(found.macro_f1)} if found.macro_f1 else {})


def _metric(skill: str, output: str) -> Metric:
    name = recipe(skill).metric
    if name.startswith("hit@"):  # what a look-up finds would need the passages
        return Metric("f1", f"words of the expected {output}", lambda e, p: f1(str(p.get(output) or ""), [e[output]]))
    return metric_of(name, Found(output, None))
