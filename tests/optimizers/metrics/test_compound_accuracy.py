"""Compound Acc: the fraction of the parts that were answered."""

import pytest
from aspectrag.optimizers.metrics.accuracy import accuracy
from aspectrag.optimizers.metrics.compound_accuracy import compound_accuracy, parts_of
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(max_size=12)


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [
        ("He succeeded in 1651.", "1651 && Rachael", 1 / 2),
        ("Rachael, in 1651", "1651 && Rachael", 1),  # in any order
        ("Rachael, in 1651", "1651&&Rachael", 1),
        ("", "1651 && Rachael", 0),
        ("In 1651.", "1651", 1),
        ("Tesla, Plato, Ada", "Plato && Ada && Rachael", 2 / 3),
        ("AT&T", "AT&T && Bell", 1 / 2),  # one sign is part of a name
    ],
)
def test_of_a_joined_answer(prediction, answer, expected):
    assert compound_accuracy(prediction, parts_of(answer)) == pytest.approx(expected)


def test_each_part_may_have_several_answers_and_may_have_none():
    said = "in the nucleus"
    assert compound_accuracy(said, [["chromosomes", "nucleus"], ["Watson"], ["1953"]]) == pytest.approx(1 / 3)
    assert compound_accuracy(said, [["nucleus"], []]) == 0.5
    assert compound_accuracy(said, []) == 0.0


def test_parts_are_stripped_and_keep_their_order():
    assert parts_of(" 1651  &&Rachael && ") == [["1651"], ["Rachael"], [""]]
    assert parts_of("") == [[""]]


@given(TEXTS, st.lists(st.lists(TEXTS, max_size=2), max_size=4))
def test_it_is_between_the_worst_and_the_best_part(prediction, parts):
    each = [accuracy(prediction, part) for part in parts] or [0.0]
    assert 0 <= min(each) <= compound_accuracy(prediction, parts) <= max(each) <= 1


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_of_one_part_it_is_acc(prediction, answers):
    assert compound_accuracy(prediction, [answers]) == accuracy(prediction, answers)
