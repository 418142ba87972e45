"""Scores of a classifier: by hand, and labels that are absent on one side or both."""

import json

import pytest
from aspectrag.errors import AspectragError
from aspectrag.optimizers.metrics.classification import ClassScore, classification

PAIRS = [("b", "b"), ("b", "b"), ("b", "a"), ("a", "a"), ("a", "c"), ("d", "b")]


def test_values_by_hand():
    scores = classification(PAIRS)
    assert scores.accuracy == pytest.approx(3 / 6)
    assert list(scores.classes) == ["a", "b", "c", "d"]
    assert scores.classes["a"] == ClassScore(0.5, 0.5, 0.5, 2)
    assert scores.classes["b"] == ClassScore(pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(2 / 3), 3)
    assert scores.classes["c"] == ClassScore(0, 0, 0, 0)  # predicted, never expected
    assert scores.classes["d"] == ClassScore(0, 0, 0, 1)  # expected, never predicted
    assert scores.macro_f1 == pytest.approx((1 / 2 + 2 / 3) / 4)
    assert scores.confusion == ((1, 0, 1, 0), (1, 2, 0, 0), (0, 0, 0, 0), (0, 1, 0, 0))


def test_the_order_of_questions_does_not_count():
    assert classification(PAIRS) == classification(reversed(PAIRS))


def test_all_right_and_all_of_one_class():
    scores = classification([("a", "a")] * 3)
    assert (scores.accuracy, scores.macro_f1, scores.confusion) == (1, 1, ((3,),))


def test_it_is_ready_for_json():
    record = json.loads(json.dumps(classification(PAIRS).to_dict()))
    assert record["classes"]["a"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "support": 2}
    assert record["confusion"][0] == [1, 0, 1, 0]


def test_nothing_to_compare_is_an_error():
    with pytest.raises(AspectragError, match="no question has a label"):
        classification([])
