"""Acc: one of the answers is contained in the prediction."""

import pytest
from aspectrag.optimizers.metrics.accuracy import accuracy


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("It flows into the Baltic Sea.", ["Baltic Sea"], 1.0),
        ("It flows into the sea.", ["Baltic Sea"], 0.0),
        ("Baltic", ["Baltic Sea"], 0.0),  # the other way round does not count
        ("Wisła, the river", ["Vistula", "wisła"], 1.0),
        ("In the U.S. Army", ["us army"], 1.0),
        ("It is the Sea", ["the sea"], 1.0),
        ("16510", ["1651"], 1.0),  # of characters, as published, not of words
        ("yes it is", ["yes"], 1.0),
        ("その山は富士山です。", ["富士山"], 1.0),
        ("", ["Vistula"], 0.0),
        ("Vistula", ["The"], 0.0),  # what normalises to nothing is not contained in everything
        ("Vistula", [""], 0.0),
        ("the", ["The"], 1.0),
        ("Vistula", [], 0.0),
        ("", [], 0.0),
    ],
)
def test_values_by_hand(prediction, answers, expected):
    score = accuracy(prediction, answers)
    assert (score, type(score)) == (expected, float)
