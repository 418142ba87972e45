"""DIV: a list's worth beside the silver list's."""

import numpy as np
import pytest
from aspectrag.optimizers.metrics.div import div
from aspectrag.optimizers.ranker.coverage import silver_list
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

SCORES = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.7, 0.6]])
MATRICES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 1))


def test_the_silver_list_is_what_others_are_measured_by():
    assert div(SCORES, [0, 2, 1, 3]) == 1
    assert div(SCORES, [0, 2], k=2) == 1


@pytest.mark.parametrize(
    ("order", "k", "expected"),
    [
        ([0, 1], 2, (0.5 + 0.26) / (0.5 + 0.64)),  # a second witness first
        ([1, 3], 2, (0.5 + 0.2 * 0.2 + 0.8 * 0.6) / (0.5 + 0.64)),
        ([0, 2, 1, 3], 2, 1),  # only the first k count
        ([0, 2], 4, (0.5 + 0.64) / 2.16),  # a short list is worth less
        ([], 4, 0),
    ],
)
def test_values_by_hand(order, k, expected):
    assert div(SCORES, order, k) == pytest.approx(expected)


def test_a_list_that_beats_the_greedy_one_exceeds_1():
    # Greedy takes the passage that holds half of everything; together the two others hold all.
    scores = np.array([[0.6, 1.0, 0.0], [0.6, 0.0, 1.0]])
    assert silver_list(scores, 2)[0] == 0
    assert div(scores, [1, 2], 2) == pytest.approx(1.5 / (0.6 + 0.5))
    assert div(scores, [1, 2], 2) > 1


def test_where_nothing_is_covered_every_order_is_as_good_as_any():
    for scores in (np.zeros((2, 3)), np.zeros((0, 3)), np.zeros((2, 0))):
        assert div(scores, []) == div(scores, list(range(scores.shape[1]))[::-1]) == 1


@given(MATRICES, st.integers(1, 8))
def test_of_the_silver_list_it_is_1(scores, k):
    assert div(scores, silver_list(scores, k), k) == 1


@given(MATRICES, st.integers(1, 8), st.randoms(use_true_random=False))
def test_it_is_never_negative_and_finite(scores, k, draw):
    order = list(range(scores.shape[1]))
    draw.shuffle(order)
    value = div(scores, order, k)
    assert np.isfinite(value)
    assert value >= 0
