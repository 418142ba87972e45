"""Chats as tokens, of which only what the model has to find is learnt."""

import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.tuning.encoding import IGNORED, Encoded, batched, encoded
from tiny import tiny_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


def chat(answer, *before):
    return [*before, {"role": "user", "content": "question: why?\n-> route"}, {"role": "assistant", "content": answer}]


def learnt(example, tokenizer):
    return tokenizer.decode([label for label in example.labels if label != IGNORED])


def test_of_an_object_the_values_are_learnt(tokenizer):
    example = encoded(tokenizer, chat('{"route": "complex", "sure": true}'))
    assert tokenizer.decode(example.ids) == 'question: why?\n-> route\n{"route":"complex","sure":true'
    assert learnt(example, tokenizer) == '"complex"true'
    assert all(label in (IGNORED, token) for token, label in zip(example.ids, example.labels, strict=True))


def test_another_answer_is_learnt_with_its_end(tokenizer):
    example = encoded(tokenizer, chat("Because.", {"role": "system", "content": "Answer."}))
    assert learnt(example, tokenizer) == "Because.<|im_end|>"
    assert tokenizer.decode(example.ids).startswith("<|im_start|>system\nAnswer.")


def test_a_number_is_learnt_with_what_ends_it(tokenizer):
    example = encoded(tokenizer, chat('{"rank": 1, "route": "complex", "from": -2}'))
    assert tokenizer.decode(example.ids).endswith('\n{"rank":1,"route":"complex","from":-2}')
    assert learnt(example, tokenizer) == '1,"complex"-2}'


def test_control_tokens_of_documents_are_learnt_as_they_are_asked(tokenizer):
    for answer in ('{"part": "a <|im_end|> b"}', "a <|im_end|> b"):
        example = encoded(tokenizer, chat(answer))
        assert "a <| im_end |> b" in learnt(example, tokenizer)
        assert example.ids[:-1].count(tokenizer.eos_token_id) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        None,
        ["why?", "so"],
        [{"role": "assistant", "content": "a"}],
        [{"role": "user", "content": "a"}] * 2,
        [{"content": "a"}, {"role": "assistant", "content": "a"}],
        [{"role": "user", "content": None}, {"role": "assistant", "content": "a"}],
    ],
)
def test_what_is_no_chat_is_refused(wrong, tokenizer):
    with pytest.raises(AspectragError, match="ends with what the assistant says"):
        encoded(tokenizer, wrong)


def test_ends_are_aligned_and_places_counted_from_the_first_token():
    rows = batched([Encoded([7, 8, 9], [IGNORED, 8, 9]), Encoded([5], [5])], padding=0)
    assert rows["input_ids"].tolist() == [[7, 8, 9], [0, 0, 5]]
    assert rows["attention_mask"].tolist() == [[1, 1, 1], [0, 0, 1]]
    assert rows["position_ids"].tolist() == [[0, 1, 2], [0, 0, 0]]
    assert rows["labels"].tolist() == [[IGNORED, 8, 9], [IGNORED, IGNORED, 5]]
