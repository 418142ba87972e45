"""The small tuned models that come with the package."""

import dspy
import pytest
from aspectrag.data.index.retriever import NoPassages
from aspectrag.lms import adapters, load
from aspectrag.lms.local import smollm2
from aspectrag.lms.local.names import WEIGHTS, find
from aspectrag.optimizers.compiling.students import Meter, StageStudent
from aspectrag.optimizers.tuning.skills import stage_of
from aspectrag.programs import HanRag, TypedRag
from aspectrag.programs.registry import method
from aspectrag.programs.steering import SKILLS, steered

SHIPPED = adapters("revelator")


@pytest.mark.parametrize("skill", SHIPPED)
def test_each_is_small_measured_and_belongs_to_the_packages_base(skill):
    found = find(SHIPPED[skill])
    assert found.folder is not None
    assert found.card is not None
    assert skill == found.card.skill
    assert (found.base, found.card.base["sha256"]) == (smollm2.NAME, smollm2.SHA256)
    assert (found.folder / WEIGHTS).stat().st_size < 10_000_000
    assert "dev" in found.card.scores


def test_they_serve_the_stages_that_they_were_taught():
    stages = steered([HanRag(retriever=NoPassages()), TypedRag(retriever=NoPassages())], SHIPPED)
    assert sorted(stages.values()) == sorted(SHIPPED.values())
    assert SHIPPED.keys() <= SKILLS.keys()


@pytest.mark.embedded
def test_they_decide():
    def said(skill, question):
        name, stage = stage_of(skill)
        student = StageStudent(method(name)(None, NoPassages()), [stage], Meter())
        with dspy.context(lm=load(SHIPPED[skill], cache=False)):
            return next(iter(student(question=question).toDict().values()))

    assert said("router", "Who designed the bridge? Also, when was it opened?") == "compound"
    assert said("classifier", "How do I bake bread with a sourdough starter?") == "INSTRUCTION"
