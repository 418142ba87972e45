import pytest
from aspectrag.lms.local.request import options_of, read
from dspy.lm15 import Config, Message, Request
from tiny import tiny_tokenizer


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 2, 10], [["1,", "2,", "10,"], ["1}", "2}", "10}"]]),
        ([1, 2, 3], [["1", "2", "3"]] * 2),
        (["a", "ab"], [['"a"', '"ab"']] * 2),
    ],
)
def test_a_label_that_others_begin_with_is_read_with_what_follows(labels, expected):
    schema = {"type": "object", "properties": {name: {"enum": labels} for name in ("a", "b")}}
    form = {"type": "json_schema", "schema": schema}
    tokenizer = tiny_tokenizer()
    asked = read(
        Request(model="local/x", messages=(Message.user("a?"),), config=Config(response_format=form)), tokenizer, 99
    )
    assert [[tokenizer.decode(ids) for ids in options_of(slot, tokenizer)] for slot in asked.slots] == expected
