import json

import pytest
from aspectrag.programs.blocks.bare import BareAdapter
from aspectrag.signatures import DecomposeCompound, JudgeRelevance, RefineSeedQuestion, RouteQuestion
from aspectrag.signatures.merging import SubAnswer
from dspy.utils.exceptions import AdapterParseError

ADAPTER = BareAdapter()


def content(signature, **inputs):
    (message,) = ADAPTER.format(signature, [{"question": "demo", "route": "complex"}], inputs)
    assert message["role"] == "user"
    return message["content"]


def test_values_alone_are_said():
    assert content(RouteQuestion, question="Why?") == "question: Why?\n-> route"
    assert content(JudgeRelevance, question="Why?", title="Sky", passage="It is\nblue.") == (
        "question: Why?\ntitle: Sky\npassage: It is\nblue.\n-> relevant"
    )


def test_objects_are_compact():
    name, answer = list(SubAnswer.model_fields)[:2]
    found = [SubAnswer(**dict.fromkeys(SubAnswer.model_fields, "Où?"))]
    said = content(RefineSeedQuestion, question="Why?", found=found)
    assert said.startswith(f'question: Why?\nfound: [{{"{name}":"Où?","{answer}":"Où?"')
    assert said.endswith("\n-> seed_question")
    assert content(RefineSeedQuestion, question="Why?", found=[]) == "question: Why?\nfound: []\n-> seed_question"


def test_what_cannot_be_sent_is_mended():
    assert content(RouteQuestion, question="half \ud83d") == "question: half ?\n-> route"


def test_an_example_to_learn_from():
    data = ADAPTER.format_finetune_data(
        DecomposeCompound, [], {"question": "Who? Où?"}, {"sub_questions": ["Who?", "Où?"], "other": 1}
    )
    assert data["messages"] == [
        {"role": "user", "content": "question: Who? Où?\n-> sub_questions"},
        {"role": "assistant", "content": '{"sub_questions":["Who?","Où?"]}'},
    ]


@pytest.mark.parametrize(
    ("signature", "outputs"),
    [(RouteQuestion, {"route": "complex"}), (JudgeRelevance, {"relevant": False}),
     (DecomposeCompound, {"sub_questions": ["a", "b"]})],
)  # fmt: skip
def test_what_is_learnt_is_what_is_read(signature, outputs):
    inputs = dict.fromkeys(signature.input_fields, "x")
    said = ADAPTER.format_finetune_data(signature, [], inputs, outputs)["messages"][-1]["content"]
    assert ADAPTER.parse(signature, said) == outputs == json.loads(said)


@pytest.mark.parametrize(
    ("signature", "said"),
    [(RouteQuestion, '{"route":'), (DecomposeCompound, '{"sub_questions":["Who?","Wh'),
     (RefineSeedQuestion, '{"seed_question":"Who')],
)  # fmt: skip
def test_half_an_answer_is_none(signature, said):
    with pytest.raises(AdapterParseError):
        ADAPTER.parse(signature, said)
