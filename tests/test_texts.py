import pytest
from aspectrag.texts import encodable, printable


@pytest.mark.parametrize("text", ["", "plain", "line\nline\ttab", "团队 🎉 é", "‏עברית"])
def test_ordinary_text_is_left_alone(text):
    assert printable(text) == encodable(text) == text


@pytest.mark.parametrize("text", ["\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "a\rb", "\x00", "\u202eabc", "\x08"])
def test_nothing_reaches_the_terminal_that_moves_it(text):
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 or sign == "\u202e" for sign in printable(text))


def test_lone_surrogates_become_something_that_can_be_sent():
    assert encodable("a\ud83d").encode("utf-8") == b"a?"
