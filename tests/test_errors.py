import pytest
from aspectrag.errors import is_secret_name, nearest, redact


@pytest.mark.parametrize("name", ["api_key", "OPENAI_API_KEY", "apikey", "HF_TOKEN", "Authorization", "db_password"])
def test_names_of_secrets(name):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "prompt_tokens", "keywords", "key", "question", "monkey"])
def test_names_of_other_things(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-AbC_123456789.",
        "key sk-ab***********xyz is wrong",
        "Authorization: Bearer abc.def-ghi",
        "hf_AbCdEfG0hIjKl",
        "cannot reach http://me:xyz@host:8000/v1",
        "postgresql+psycopg://:xyz@db",
    ],
)
def test_keys_are_masked_by_their_shape(text):
    assert "***" in redact(text, {})
    for part in ("AbC_123456789", "abc.def-ghi", "AbCdEfG0hIjKl", "xyz"):
        assert part not in redact(text, {})


@pytest.mark.parametrize("text", ["http://host:8000/a@b", "https://me@host/x", "see http://a:b or write to c@d"])
def test_addresses_without_a_password_stay(text):
    assert redact(text, {}) == text


def test_secrets_of_the_environment_are_masked_and_short_ones_left():
    environ = {"MY_API_KEY": "longenough", "OTHER_TOKEN": "abc", "HOME": "longenough2"}
    assert redact("longenough abc bG9uZ2Vub3VnaA==", environ) == "*** abc ***=="


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("RTE", ": did you mean 'rte'?"),
        ("ndcg@01", ": did you mean 'nDCG@10'?"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_offered_however_it_is_cased(name, hint):
    assert nearest(name, iter(["rte", "nDCG@10"])) == hint


def test_no_name_is_near_where_there_is_none():
    assert nearest("anything", []) == ""


def test_a_long_text_of_beginnings_is_gone_through_once():
    assert redact("sk-" * 300_000, {}) == "sk-" * 300_000
