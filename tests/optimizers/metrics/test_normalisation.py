"""Normalisation: SQuAD's rules to the letter for ASCII, and the same idea in every other script."""

import re
import string

import pytest
from aspectrag.optimizers.metrics.normalisation import normalise, tokens
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \t\n", ""),
        ("The Baltic  Sea.", "baltic sea"),
        ("An answer, a", "answer"),
        ("THE", ""),
        ("the a an", ""),
        ("?!", ""),
        ("theatre and another", "theatre and another"),  # articles are whole words
        ("U.S.A.", "usa"),
        ("it's", "its"),
        ("rock-and-roll", "rockandroll"),  # punctuation leaves no blank behind
        ("the-end", "theend"),  # and goes before the articles do
        ("t.h.e end", "end"),
        ("$1,000.50", "100050"),
        ("C++ & C#", "c c"),
        ("snake_case", "snakecase"),
        (string.punctuation, ""),
    ],
)
def test_the_rules_of_squad_by_hand(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("‘the’ “End”…", "end"),
        ("«Żubr» – „Wisła‟", "żubr wisła"),
        ("¿Qué?", "qué"),
        ("مرحبا؟", "مرحبا"),
        ("क्षत्रिय।", "क्षत्रिय"),  # vowel signs are no punctuation
        ("「富士山」。", "富士山"),
        ("€5 → £4", "5 4"),
        ("37 °C", "37 °c"),
        ("37 ℃", "37 °c"),
        ("１９８９", "1989"),
        ("Ｔｈｅ Ｋyiv", "kyiv"),  # articles are found once the text is composed
        ("ﬁve Ⅻ", "five xii"),
        ("ｶﾞ", "ガ"),
        ("nai\u0308ve", "na\u00efve"),
        ("no\u00a0break\u3000space", "no break space"),
        ("ÉCOLE ΟΔΟΣ", "école οδος"),
    ],
)
def test_other_scripts(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize("mark", ["'", "’", "‘", "`", "´", "＇", "′"])
def test_whatever_stands_for_an_apostrophe_goes_without_a_trace(mark):
    assert normalise(f"O{mark}Brien") == "obrien"


def test_a_fraction_does_not_run_into_the_number_before_it():
    assert normalise("3½ km") != normalise("312 km")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("The", []),
        ("The U.S. Army!", ["us", "army"]),
        ("東京タワー 333m", ["東", "京", "タ", "ワ", "ー", "333m"]),
        ("東京・大阪", ["東", "京", "大", "阪"]),
        ("a𠮷b", ["a", "𠮷", "b"]),  # outside of the first plane; an article is a word and not a letter
        ("서울 한강", ["서울", "한강"]),  # hangul has spaces
        ("Lake 洞庭 in Hunan", ["lake", "洞", "庭", "in", "hunan"]),
    ],
)
def test_tokens_are_words_and_single_ideographs(text, expected):
    assert tokens(text) == expected


def official(text):
    """SQuAD's ``normalize_answer``, in its four steps."""
    text = "".join(char for char in text.lower() if char not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_ascii_is_normalised_as_squad_does(text):
    assert normalise(text) == official(text)
    assert tokens(text) == official(text).split()


@given(st.text(max_size=40))
def test_any_text_can_be_normalised_and_has_only_single_blanks(text):
    assert normalise(text) == " ".join(normalise(text).split())
    assert "".join(tokens(text)) == normalise(text).replace(" ", "")
