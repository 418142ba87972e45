"""Which lists make a pair: one side is the anchor, and the difference is significant."""

import pytest
from aspectrag.optimizers.ranker.us3 import preference_pairs
from hypothesis import given
from hypothesis import strategies as st

REWARDS = st.lists(st.one_of(st.sampled_from([0.1, 0.2, 0.25]), st.floats(0, 2)), min_size=1, max_size=8)
TAUS = st.floats(1e-6, 1)
STRATEGIES = st.sampled_from(["us3", "best-vs-worst", "all-pairs"])


def test_the_best_list_beats_the_anchor_and_the_anchor_the_worst():
    assert preference_pairs([0.30, 0.36, 0.29, 0.22], tau=0.05) == [(1, 0), (0, 3)]


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0.30, 0.33, 0.29, 0.26], []),  # nothing is significant
        ([0.30, 0.36, 0.29], [(1, 0)]),
        ([0.30, 0.32, 0.20], [(0, 2)]),
        ([0.30, 0.20, 0.10], [(0, 2)]),  # the anchor is the best
        ([0.10, 0.20, 0.30], [(2, 0)]),  # the anchor is the worst
        ([0.30, 0.36, 0.36, 0.22, 0.22], [(1, 0), (0, 3)]),  # the first of equals
        ([0.30, 0.33, 0.27], []),  # .06 apart, but neither side from the anchor
        ([0.30], []),
        ([0.30, 0.30, 0.30], []),
    ],
)
def test_one_side_is_always_the_anchor(rewards, expected):
    assert preference_pairs(rewards, tau=0.05) == expected


def test_a_difference_of_exactly_tau_counts():
    assert 0.35 - 0.30 < 0.05  # as floats
    assert preference_pairs([0.30, 0.35], tau=0.05) == [(1, 0)]
    assert preference_pairs([0.35, 0.30], tau=0.05) == [(0, 1)]


def test_the_other_strategies():
    rewards = [0.30, 0.36, 0.29, 0.22]
    assert preference_pairs(rewards, 0.05, "best-vs-worst") == [(1, 3)]
    assert preference_pairs(rewards, 0.05, "all-pairs") == [(1, 0), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert preference_pairs(rewards, 0.2, "best-vs-worst") == preference_pairs(rewards, 0.2, "all-pairs") == []
    # These need no anchor: here it is neither side.
    assert preference_pairs([0.30, 0.33, 0.27], 0.05, "best-vs-worst") == [(1, 2)]


@given(REWARDS, TAUS, STRATEGIES)
def test_the_chosen_list_earned_more_by_tau_and_is_another_one(rewards, tau, strategy):
    pairs = preference_pairs(rewards, tau, strategy)
    assert len(set(pairs)) == len(pairs)
    for chosen, rejected in pairs:
        assert chosen != rejected
        assert rewards[chosen] - rewards[rejected] >= tau - 1e-8
        assert strategy != "us3" or 0 in (chosen, rejected)


@given(REWARDS, TAUS)
def test_of_all_pairs_the_other_strategies_take_a_few(rewards, tau):
    every = preference_pairs(rewards, tau, "all-pairs")
    assert len(preference_pairs(rewards, tau)) <= 2
    assert set(preference_pairs(rewards, tau)) <= set(every)
    assert set(preference_pairs(rewards, tau, "best-vs-worst")) <= set(every)
    assert bool(preference_pairs(rewards, tau, "best-vs-worst")) == bool(every)
