"""EM: equal once normalised, to any of the answers."""

import pytest
from aspectrag.optimizers.metrics.exact_match import exact_match


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("Vistula", ["Vistula"], 1.0),
        ("the vistula!", ["Wisła", "Vistula"], 1.0),
        ("«wisła»", ["Wisła", "Vistula"], 1.0),
        ("富士山。", ["富士山"], 1.0),
        ("富士", ["富士山"], 0.0),
        ("It is the Vistula.", ["Vistula"], 0.0),  # containment is not enough
        ("Sea Baltic", ["Baltic Sea"], 0.0),
        ("No.", ["no"], 1.0),
        ("no", ["yes"], 0.0),
        ("", ["Vistula"], 0.0),
        ("", [""], 1.0),
        ("", ["The"], 1.0),  # nothing is left of either side
        ("The Who", ["The The"], 0.0),
        ("Vistula", [], 0.0),
        ("", [], 0.0),
    ],
)
def test_values_by_hand(prediction, answers, expected):
    score = exact_match(prediction, answers)
    assert (score, type(score)) == (expected, float)
