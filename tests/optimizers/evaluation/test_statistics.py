"""Intervals and p values: against each other, against a library, and where they must be exact."""

import numpy as np
import pytest
from aspectrag.optimizers.evaluation.statistics import difference_of, mean_of
from scipy import stats


def test_the_interval_of_a_constant_is_the_constant():
    seen = mean_of([0.5] * 7)
    assert (seen.mean, seen.low, seen.high, seen.n) == (0.5, 0.5, 0.5, 7)
    assert str(seen) == "0.500 [0.500, 0.500]"


def test_one_value_and_none():
    assert mean_of([3.0]).low == 3.0
    with pytest.raises(ValueError, match="no value"):
        mean_of([])
    with pytest.raises(ValueError, match="1 values do not pair up with 2"):
        difference_of([1.0], [1.0, 2.0])


def test_it_agrees_with_a_library():
    values = np.random.default_rng(1).normal(2, 1, 200)
    ours = mean_of(values.tolist())
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=2).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.high, abs=0.01)


def test_equal_runs_do_not_differ_and_unequal_ones_do():
    same = difference_of([0.0, 1.0, 1.0], [0.0, 1.0, 1.0])
    assert (same.mean, same.low, same.high, same.p) == (0.0, 0.0, 0.0, 1.0)
    rng = np.random.default_rng(0)
    base = rng.random(100)
    better = difference_of((base + 0.2 + 0.05 * rng.normal(size=100)).tolist(), base.tolist())
    assert better.low > 0.15
    assert better.p < 0.001


def test_the_p_value_is_that_of_a_paired_test():
    rng = np.random.default_rng(3)
    ours, theirs = rng.normal(0.1, 1, 150), rng.normal(0, 1, 150)
    assert difference_of(ours.tolist(), theirs.tolist()).p == pytest.approx(
        stats.ttest_rel(ours, theirs).pvalue, abs=0.03
    )


@pytest.mark.parametrize(
    ("ours", "p"), [([1.0], 1.0), ([1.0] * 3, 0.25), ([1.0] * 6, 2 / 64), ([0.0] * 5, 1.0), ([1.0, 0.0], 1.0)]
)
def test_few_questions_prove_little(ours, p):
    assert difference_of(ours, [0.0] * len(ours)).p == pytest.approx(p)


def test_counting_all_ways_and_drawing_some_agree(monkeypatch):
    from aspectrag.optimizers.evaluation import statistics

    rng = np.random.default_rng(5)
    ours, theirs = rng.random(12).tolist(), (rng.random(12) * 0.7).tolist()
    counted = difference_of(ours, theirs).p
    monkeypatch.setattr(statistics, "_ALL_WAYS", 0)
    assert difference_of(ours, theirs).p == pytest.approx(counted, abs=0.03)


def test_seeded():
    values = np.random.default_rng(0).random(50).tolist()
    assert mean_of(values, seed=1) == mean_of(values, seed=1)
    assert mean_of(values, seed=1) != mean_of(values, seed=2)


def test_large_samples_are_drawn_in_blocks(monkeypatch):
    from aspectrag.optimizers.evaluation import statistics

    values = np.random.default_rng(0).random(100).tolist()
    whole = mean_of(values)
    monkeypatch.setattr(statistics, "_BLOCK", 1000)
    assert mean_of(values) == whole
