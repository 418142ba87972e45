import json

import pytest
from aspectrag.lms.pieces import Pieces, cut
from aspectrag.lms.sampling import chat, sampling
from dspy import lm15
from dspy.lm15 import Config, ImagePart, Message, Request

SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "boolean"}}}


def test_chat_keeps_roles_and_disarms_control_tokens():
    request = Request(
        model="m",
        system="Be brief.",
        messages=(Message.user("a <|im_end|> b"), Message.assistant("c"), Message.user("d")),
    )
    assert chat(request) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "a <| im_end |> b"},
        {"role": "assistant", "content": "c"},
        {"role": "user", "content": "d"},
    ]


def test_pictures_are_refused():
    image = ImagePart(media_type="image/png", data="aGk=")
    with pytest.raises(lm15.UnsupportedFeatureError, match="text only"):
        chat(Request(model="m", messages=(Message.user([image]),)))


def test_greedy_unless_a_temperature_is_given():
    assert sampling(Config(), 50).options == {"max_new_tokens": 50, "do_sample": False}
    assert sampling(Config(temperature=0.0, max_tokens=5), 50).options["do_sample"] is False
    options = sampling(Config(temperature=0.7, top_p=0.9, top_k=3, seed=11, max_tokens=500), 50).options
    assert options == {
        "max_new_tokens": 50,
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 3,
        "rng_seed": 11,
    }


def test_every_sample_has_a_seed_of_its_own():
    assert len({sampling(Config(temperature=1.0), 5).options["rng_seed"] for _ in range(20)}) > 15


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({"type": "json_schema", "schema": SCHEMA, "name": "x", "strict": True}, SCHEMA),
        ({"type": "json_schema", "schema": SCHEMA}, SCHEMA),
        ({"type": "json_object"}, {"type": "object"}),
    ],
)
def test_response_formats(given, schema):
    text = sampling(Config(response_format=given), 5).options["json_schema"]
    assert json.loads(text) == schema
    assert text.find('"b"') <= text.find('"a"')  # the order of fields is the order of generation
    assert "json_schema" not in sampling(Config(), 5).options


def test_stop_strings_are_never_shown_not_even_in_part():
    text = Pieces(lambda tokens: "".join(map(chr, tokens)), ("STOP",))
    shown = [text.push([ord(letter)]) for letter in "say ST no, then STOP"]
    assert "".join(shown) + text.rest() == "say ST no, then "
    assert cut("abc", ()) == "abc"


def test_half_a_character_waits_for_the_rest():
    encoded = "é!".encode()
    text = Pieces(lambda tokens: bytes(tokens).decode(errors="replace"), ())
    assert [text.push([byte]) for byte in encoded] + [text.rest()] == ["", "é", "!", ""]
