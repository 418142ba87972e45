"""The profile of small models: the stages of every method that one was tuned for."""

import pytest
from aspectrag.data.index.retriever import NoPassages
from aspectrag.errors import AspectragError
from aspectrag.lms.local import names
from aspectrag.optimizers.tuning import skills
from aspectrag.programs.han_rag import HanRagConfig
from aspectrag.programs.registry import METHODS, method
from aspectrag.programs.steering import SKILLS, steered


def program(name, config=None):
    return method(name)(config, NoPassages())


@pytest.fixture
def folder(tmp_path):
    """Adapters for all skills, as far as their names are read."""
    for skill in SKILLS:
        (tmp_path / skill).mkdir()
        for file in ("card.json", "adapter_config.json"):
            (tmp_path / skill / file).touch()
    return tmp_path


def test_a_skill_promises_what_its_stage_does():
    assert list(SKILLS) == list(skills.SKILLS)
    for skill, signature in SKILLS.items():
        assert skills.predictor_of(skill).signature is signature


def test_the_stages_of_the_methods(folder):
    found = {name: sorted(steered([program(name)], str(folder))) for name in METHODS}
    assert found == {
        "typed": ["classify"],
        "han": ["decompose", "judge_ending", "judge_relevance", "refine", "route"],
        "self-rag": ["judge_relevance"],
        **{name: [] for name in ("rich", "rag", "direct", "ircot", "adaptive", "adaptive-retrieval")},
    }
    assert steered([program("han")], str(folder))["judge_ending"] == f"local/{folder / 'ending'}"


def test_a_stage_that_promises_something_else_is_left_alone(folder):
    together = program("han", HanRagConfig(judge="together"))
    assert "judge_relevance" not in steered([together], str(folder))
    reworded = program("han")
    reworded.route.signature = reworded.route.signature.with_instructions("Say how it is looked up.")
    assert "route" in steered([reworded], str(folder))
    redescribed = program("han")
    redescribed.route.signature = redescribed.route.signature.with_updated_fields("route", desc="north or south")
    assert "route" not in steered([redescribed], str(folder))


def test_a_name_is_given_a_model_where_it_means_the_same_to_all(folder):
    assert sorted(steered([program("typed"), program("rag")], str(folder))) == ["classify"]
    assert steered([program("typed"), program("adaptive")], str(folder)) == {}


def test_only_what_was_trained(folder):
    (folder / "refiner" / "card.json").unlink()
    assert "refine" not in steered([program("han")], str(folder))


def test_those_of_the_package_are_named_alike_on_every_machine(folder, monkeypatch):
    monkeypatch.setattr(names, "SHIPPED", folder.parent)
    folder.rename(folder.parent / "revelator")
    assert steered([program("typed")]) == {"classify": "local/revelator:classifier"}


@pytest.mark.parametrize("profile", ["revelater", "/nowhere", "", "\0"])
def test_what_is_no_profile_is_refused(profile, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AspectragError, match="there is no profile"):
        steered([program("han")], profile)
