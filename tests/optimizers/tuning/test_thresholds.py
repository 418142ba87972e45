"""The probability from which a verdict is true."""

from aspectrag.optimizers.tuning.thresholds import best_threshold
from hypothesis import given, settings
from hypothesis import strategies as st


def f1(pairs, threshold):
    right = sum(chance >= threshold and true for chance, true in pairs)
    return 2 * right / max(1, sum(chance >= threshold for chance, _ in pairs) + sum(true for _, true in pairs))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.05, 0.2, 0.4, 0.6, 0.8, 0.95]), st.booleans()), min_size=1, max_size=12))
def test_no_other_threshold_is_better(pairs):
    best = best_threshold([chance for chance, _ in pairs], [true for _, true in pairs])
    assert f1(pairs, best) == max(f1(pairs, cut / 100) for cut in range(1, 101))


def test_it_lies_between_probabilities_that_are_close():
    assert 0.500011 < best_threshold([0.500011, 0.500014], [False, True]) < 0.500014


def test_of_equals_the_nearest_to_one_half():
    assert best_threshold([0.1, 0.9], [False, True]) == 0.5
    assert best_threshold([0.3, 0.2], [False, False]) == 0.5
