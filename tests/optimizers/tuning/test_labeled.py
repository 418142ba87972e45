"""Weights tuned on labelled examples, and by DSPy's own weight optimizers."""

from typing import Literal

import dspy
import pytest
from aspectrag.errors import AspectragError
from aspectrag.lms import load, scripted_lm
from aspectrag.lms.local.card import read_card
from aspectrag.optimizers.tuning.labeled import LabeledFinetune
from aspectrag.optimizers.tuning.provider import LoraProvider, tunable
from aspectrag.programs.blocks.bare import BareAdapter
from tiny import tiny_base


class Route(dspy.Signature):
    """Decide."""

    question: str = dspy.InputField()
    route: Literal["single", "compound"] = dspy.OutputField()


PREDICT = dspy.Predict(Route)


def example(n, word):
    route = "compound" if word == "and" else "single"
    return dspy.Example(question=f"{n} {word}", route=route).with_inputs("question")


EXAMPLES = [example(n, word) for n in range(40) for word in ("and", "or")]
UNSEEN = [example(n, word) for n in range(50, 56) for word in ("and", "or")]
QUICK = {"epochs": 6.0, "learning_rate": 2e-2, "rank": 4, "evaluations": 2, "progress": False}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return str(tiny_base(tmp_path_factory.mktemp("base")))


def score(predictor, **context):
    with dspy.context(adapter=BareAdapter(), **context):
        return sum(predictor(question=each.question).route == each.route for each in UNSEEN) / len(UNSEEN)


def same(gold, pred, trace=None):
    return gold.route == pred.route


def test_a_predictor_gets_the_model_that_was_taught(base, tmp_path):
    predictor = dspy.Predict(Route)
    tuner = LabeledFinetune(load(f"local/{base}"), out=tmp_path / "a", skill="route", **QUICK)
    better = tuner.compile(predictor, trainset=EXAMPLES, valset=UNSEEN[:4])
    assert better.lm.prompt == "bare"
    assert score(better) == 1.0
    assert predictor.lm is None
    assert read_card(tmp_path / "a").skill == "route"
    # The folder is all that another process needs.
    assert score(predictor, lm=load(f"local/{tmp_path / 'a'}")) == 1.0


def test_examples_teach_those_predictors_whose_fields_they_have(base, tmp_path):
    class Two(dspy.Module):
        def __init__(self):
            super().__init__()
            self.route = dspy.Predict(Route)
            self.write = dspy.Predict("question, route -> answer")

    tuner = LabeledFinetune(load(f"local/{base}"), out=tmp_path, **{**QUICK, "epochs": 1.0})
    better = tuner.compile(Two(), trainset=EXAMPLES[:8])
    assert better.route.lm is not None
    assert better.write.lm is None
    with pytest.raises(AspectragError, match="each needs the fields question, route, answer"):
        tuner.compile(dspy.Predict("question, route -> answer"), trainset=EXAMPLES[:8])


def test_bootstrap_finetune_learns_what_a_teacher_says(base, tmp_path):
    class Program(dspy.Module):
        def __init__(self):
            super().__init__()
            self.route = dspy.Predict(Route)

        def forward(self, question):
            return self.route(question=question)

    knows = scripted_lm(lambda call: {"route": "compound" if "and" in call.inputs["question"] else "single"})
    student, teacher = Program(), Program()
    student.set_lm(tunable(load(f"local/{base}")))
    teacher.set_lm(knows)
    settings = {**QUICK, "out": str(tmp_path / "b")}
    optimizer = dspy.BootstrapFinetune(metric=same, adapter=BareAdapter(), train_kwargs=settings, num_threads=1)
    better = optimizer.compile(student, trainset=EXAMPLES, teacher=teacher)
    assert score(better.route) == 1.0


def test_better_together_tunes_prompts_and_weights(base, tmp_path):
    class Program(dspy.Module):
        def __init__(self):
            super().__init__()
            self.route = dspy.Predict(Route)

        def forward(self, question):
            return self.route(question=question)

    student = Program()
    student.set_lm(tunable(load(f"local/{base}")))
    settings = {**QUICK, "out": str(tmp_path / "c")}
    weights = dspy.BootstrapFinetune(metric=same, adapter=BareAdapter(), train_kwargs=settings, num_threads=1)
    prompts = dspy.BootstrapFewShotWithRandomSearch(metric=same, num_candidate_programs=1, num_threads=1)
    both = dspy.BetterTogether(metric=same, p=prompts, w=weights)
    with dspy.context(adapter=BareAdapter()):
        better = both.compile(student, trainset=EXAMPLES, valset=UNSEEN, strategy="w")
    assert better.candidate_programs
    # A student that is half wrong teaches itself only what it knew; it must not have got worse.
    assert score(better.route) >= 0.5


def test_each_adapter_of_an_optimizer_has_a_folder_of_its_own(base, tmp_path):
    given = {**QUICK, "epochs": 0.1, "out": tmp_path}
    chats = [
        {"messages": chat["messages"]} for chat in LabeledFinetune(load(f"local/{base}"))._chats(PREDICT, EXAMPLES)
    ]
    for data, more in ((chats, {}), (chats[:40], {}), (chats, {"held_out": 0.3}), (chats, {})):
        LoraProvider.finetune(None, f"local/{base}", data, "chat", {**given, **more})
    assert len(list(tmp_path.glob("*/card.json"))) == 3


def test_a_model_that_was_tuned_is_named_by_its_whole_path(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tuner = LabeledFinetune(load(f"local/{base}"), out="a", **{**QUICK, "epochs": 0.1})
    assert tuner.compile(PREDICT, trainset=EXAMPLES).lm.model.startswith(f"local/{tmp_path}/a@")


def test_what_cannot_be_answered_is_not_learnt(base):
    wrong = dspy.Example(question="1 and", route="compund").with_inputs("question")
    tuner = LabeledFinetune(load(f"local/{base}"), **QUICK)
    with pytest.raises(AspectragError, match="example 3 cannot be learnt from: route 'compund' can be no answer"):
        tuner.compile(PREDICT, trainset=[*EXAMPLES[:2], wrong])


def test_what_is_learnt_is_said_as_it_can_be_answered(base):
    tuner = LabeledFinetune(load(f"local/{base}"), **QUICK)
    example = dspy.Example(question="1", helps="yes").with_inputs("question")
    (chat,) = tuner._chats(dspy.Predict("question -> helps: bool"), [example])
    assert chat["messages"][-1]["content"] == '{"helps":true}'


@pytest.mark.parametrize("wrong", [{}, {"messages": [{"content": "a"}]}, "a"])
def test_an_example_that_is_no_chat_is_named(wrong, base):
    right = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    with pytest.raises(AspectragError, match="example 2 cannot be learnt from: it needs messages"):
        LoraProvider.finetune(None, f"local/{base}", [right, wrong], "chat")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epoch": 1}, "tuning takes no 'epoch': did you mean 'epochs'"),
        ({"held_out": 1.5}, "held_out is a share"),
        ({"rank": 0}, "rank must be above 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, message, base, tmp_path):
    tuner = LabeledFinetune(load(f"local/{base}"), out=tmp_path, progress=False, **given)
    with pytest.raises(AspectragError, match=message):
        tuner.compile(dspy.Predict(Route), trainset=EXAMPLES)


def test_only_local_models_are_tuned_and_only_on_chats():
    with pytest.raises(AspectragError, match="cannot be tuned here"):
        tunable(dspy.LM("openai/gpt-4o-mini"))
    with pytest.raises(AspectragError, match="are tuned on chats"):
        LoraProvider.finetune(None, "local/smollm2", [], "completion")
