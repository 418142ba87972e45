"""EM, F1, Acc and compound Acc: the published rules, worked by hand, and what must hold for every pair of answers."""

import re
import string
from collections import Counter

import pytest
from aspectrag.optimizers.metrics.accuracy import accuracy
from aspectrag.optimizers.metrics.compound_accuracy import compound_accuracy, parts_of
from aspectrag.optimizers.metrics.exact_match import exact_match
from aspectrag.optimizers.metrics.f1 import f1
from aspectrag.optimizers.metrics.normalisation import normalise, tokens
from hypothesis import given
from hypothesis import strategies as st

TEXT = st.one_of(st.text(max_size=30), st.sampled_from(["The", "a", "yes", "No.", "", "Baltic Sea", "富士山", "U.S."]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Baltic  Sea.", "baltic sea"),
        ("An answer, a", "answer"),
        ("U.S.A.", "usa"),
        ("theatre and another", "theatre and another"),  # articles are whole words
        ("it's", "its"),
        ("«Żubr»", "żubr"),
        ("１９８９", "1989"),
        ("富士山。", "富士山"),
        ("The", ""),
    ],
)
def test_normalised(text, expected):
    assert normalise(text) == expected


def test_ideographs_and_kana_are_tokens_of_their_own():
    assert tokens("東京タワー 333m") == ["東", "京", "タ", "ワ", "ー", "333m"]


@pytest.mark.parametrize(
    ("prediction", "answers", "em", "overlap", "acc"),
    [
        ("Vistula", ["Vistula"], 1, 1, 1),
        ("the vistula!", ["Wisła", "Vistula"], 1, 1, 1),
        ("King George VI", ["George VI"], 0, 0.8, 1),
        ("George", ["King George VI"], 0, 0.5, 0),
        ("to be or be", ["be be be"], 0, 4 / 7, 0),  # a word counts as often as both sides have it
        ("yes", ["yes"], 1, 1, 1),
        ("yes it is", ["yes"], 0, 0, 1),  # HotpotQA: a verdict is right or wrong
        ("no", ["no man"], 0, 0, 0),
        ("富士", ["富士山"], 0, 0.8, 0),
        ("", ["Vistula"], 0, 0, 0),
        ("", ["The"], 1, 1, 1),  # nothing is left of either side
        ("Vistula", ["The"], 0, 0, 0),
        ("Vistula", [], 0, 0, 0),
    ],
)
def test_values_worked_by_hand(prediction, answers, em, overlap, acc):
    assert exact_match(prediction, answers) == em
    assert f1(prediction, answers) == pytest.approx(overlap)
    assert accuracy(prediction, answers) == acc


def test_compound_accuracy_is_the_fraction_of_parts_answered():
    assert compound_accuracy("He succeeded in 1651.", parts_of("1651 && Rachael")) == 0.5
    assert compound_accuracy("Rachael, 1651", parts_of("1651 && Rachael")) == 1.0
    assert compound_accuracy("in the nucleus", [["chromosomes", "nucleus"], ["Watson"], ["1953"]]) == pytest.approx(
        1 / 3
    )
    assert compound_accuracy("", parts_of("1651 && Rachael")) == 0.0
    assert compound_accuracy("x", []) == 0.0


@given(TEXT, st.lists(TEXT, max_size=3))
def test_em_is_never_above_f1_or_acc(prediction, answers):
    em, overlap, acc = exact_match(prediction, answers), f1(prediction, answers), accuracy(prediction, answers)
    assert 0 <= em <= overlap <= 1
    assert em <= acc <= 1


def squad(text):
    """SQuAD's rules, said again in another way: for ASCII both must agree."""
    kept = "".join(char for char in text.lower() if char not in string.punctuation)
    return [word for word in re.split(r"\s+", kept) if word not in ("", "a", "an", "the")]


@given(*[st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=20)] * 2)
def test_ascii_scores_are_those_of_squad(prediction, answer):
    said, gold = squad(prediction), squad(answer)
    assert exact_match(prediction, [answer]) == float(said == gold)
    if {"yes", "no", "noanswer"} & {" ".join(said), " ".join(gold)}:
        return
    common = sum((Counter(said) & Counter(gold)).values())
    expected = float(said == gold) if not common else 2 * common / (len(said) + len(gold))
    assert f1(prediction, [answer]) == pytest.approx(expected)
