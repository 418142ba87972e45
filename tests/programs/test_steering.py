"""The profile of small models: the stages of every method that one was tuned for."""

from typing import Any

from aspectrag.data.index.retriever import NoPassages
from aspectrag.optimizers.tuning import skills
from aspectrag.programs.han_rag import HanRagConfig
from aspectrag.programs.registry import METHODS, method
from aspectrag.programs.steering import SKILLS, steered

MODELS = {skill: f"local/{skill}" for skill in SKILLS}


def program(name, config=None) -> Any:
    return method(name)(config, NoPassages())


def test_a_skill_promises_what_its_stage_does():
    assert list(SKILLS) == list(skills.SKILLS)
    for skill, signature in SKILLS.items():
        assert skills.predictor_of(skill).signature is signature


def test_the_stages_of_the_methods():
    found = {name: sorted(steered([program(name)], MODELS)) for name in METHODS}
    assert found == {
        "typed": ["classify"],
        "han": ["decompose", "judge_ending", "judge_relevance", "refine", "route"],
        "self-rag": ["judge_relevance"],
        **{name: [] for name in ("rich", "rag", "direct", "ircot", "adaptive", "adaptive-retrieval")},
    }
    assert steered([program("han")], MODELS)["judge_ending"] == "local/ending"


def test_a_stage_that_promises_something_else_is_left_alone():
    together = program("han", HanRagConfig(judge="together"))
    assert "judge_relevance" not in steered([together], MODELS)
    reworded = program("han")
    reworded.route.signature = reworded.route.signature.with_instructions("Say how it is looked up.")
    assert "route" in steered([reworded], MODELS)
    redescribed = program("han")
    redescribed.route.signature = redescribed.route.signature.with_updated_fields("route", desc="north or south")
    assert "route" not in steered([redescribed], MODELS)


def test_a_name_is_given_a_model_where_it_means_the_same_to_all():
    assert sorted(steered([program("typed"), program("rag")], MODELS)) == ["classify"]
    assert steered([program("typed"), program("adaptive")], MODELS) == {}


def test_only_what_was_trained_and_is_known():
    assert steered([program("han")], {"router": "local/a", "cooking": "local/b"}) == {"route": "local/a"}
