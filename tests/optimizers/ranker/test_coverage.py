"""Coverage: what each further passage is worth, and the list that greedy choice makes of it."""

import numpy as np
import pytest
from aspectrag.optimizers.metrics.rouge import VARIANTS, rouge_recall
from aspectrag.optimizers.ranker.coverage import Coverage, coverage_scores, list_worth, silver_list, utilities_along
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

SCORES = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.7, 0.6]])
# Ends of the range often, so that aspects are covered in full, equally, or not at all.
SHARES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
MATRICES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=SHARES)
TEXTS = st.one_of(
    st.lists(st.sampled_from(["coal", "is", "cheap", "Dirty.", "煤", "很脏", "!"]), max_size=8).map(" ".join),
    st.text(max_size=20),
)


def utilities(*chosen, scores=SCORES):
    state = Coverage(scores)
    for passage in chosen:
        state.add(passage)
    return state.utilities()


def test_utilities_follow_what_is_still_uncovered():
    assert utilities() == pytest.approx([0.5, 0.5, 0.4, 0.4])
    assert utilities(0) == pytest.approx([0.18, 0.26, 0.64, 0.56])
    assert utilities(0, 1) == pytest.approx([1 / 9 * 0.9 + 8 / 9 * 0.1, 24 / 90, 1 / 90 + 56 / 90, 2 / 90 + 48 / 90])


def test_once_all_is_covered_as_well_as_can_be_counting_starts_anew():
    assert utilities(0, 2) == pytest.approx(utilities())
    assert utilities(0, 2, 1) == pytest.approx(utilities(1))
    assert utilities(0, 3) != pytest.approx(utilities())  # passage 2 covers the second better


def test_the_silver_list_and_what_it_is_worth():
    assert silver_list(SCORES, 4) == [0, 2, 1, 3]
    along = utilities_along(SCORES, [0, 2, 1, 3])
    assert [along[step, passage] for step, passage in enumerate([0, 2, 1, 3])] == pytest.approx([0.5, 0.64, 0.5, 0.52])
    assert list_worth(SCORES, [0, 2, 1, 3]) == pytest.approx(2.16)
    assert list_worth(SCORES, [0, 1, 2, 3]) < 2.16
    assert list_worth(SCORES, []) == 0


@pytest.mark.parametrize(("k", "expected"), [(1, [0]), (2, [0, 2]), (10, [0, 2, 1, 3])])
def test_a_list_is_as_long_as_k_or_the_pool(k, expected):
    assert silver_list(SCORES, k) == expected


def test_of_equals_the_first_is_chosen():
    assert silver_list(np.ones((2, 3)), 3) == [0, 1, 2]
    assert silver_list(np.zeros((2, 3)), 5) == [0, 1, 2]


def test_with_a_single_aspect_passages_come_by_their_score():
    scores = np.array([[0.2, 0.9, 0.0, 0.5]])
    assert silver_list(scores, 4) == [1, 3, 0, 2]
    assert list_worth(scores, [1, 3, 0, 2]) == pytest.approx(1.6)


def test_an_aspect_that_no_passage_covers_does_not_hold_up_the_others():
    scores = np.array([[0.9, 0.8], [0.0, 0.0]])
    assert utilities(0, scores=scores) == pytest.approx(utilities(scores=scores))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_nothing_to_cover_or_nothing_to_choose(shape):
    scores = np.zeros(shape)
    assert silver_list(scores, 2) == list(range(min(2, shape[1])))
    assert list_worth(scores, silver_list(scores, 2)) == 0
    assert utilities(scores=scores).shape == shape[1:]


def test_the_scores_are_not_changed():
    scores = SCORES.copy()
    silver_list(scores, 4)
    list_worth(scores, [3, 1])
    assert (scores == SCORES).all()


@given(MATRICES, st.integers(1, 8))
def test_silver_lists_are_distinct_and_begin_with_the_shorter_ones(scores, k):
    chosen = silver_list(scores, k)
    assert len(chosen) == len(set(chosen)) == min(k, scores.shape[1])
    assert all(0 <= place < scores.shape[1] for place in chosen)
    assert silver_list(scores, k + 1)[:k] == chosen


@given(MATRICES, st.randoms(use_true_random=False))
def test_utilities_are_bounded_along_any_list(scores, draw):
    order = list(range(scores.shape[1]))
    draw.shuffle(order)
    along = utilities_along(scores, order)
    assert along.shape == (len(order), scores.shape[1])
    assert ((along >= 0) & (along <= 1 + 1e-9)).all()


@given(MATRICES)
def test_the_first_choice_of_a_silver_list_is_worth_most(scores):
    worth = scores.mean(axis=0)
    assert worth[silver_list(scores, 1)[0]] == pytest.approx(worth.max())


def test_scores_of_texts():
    texts = ["Coal is cheap.", "Cheap coal, it is said.", "", "Wind."]
    scores = coverage_scores(["cheap coal", "wind"], texts)
    assert scores.tolist() == [[1, 1, 0, 0], [0, 0, 0, 1]]
    assert coverage_scores([], texts).shape == (0, 4)
    assert coverage_scores(["coal"], []).shape == (1, 0)
    assert coverage_scores(["", "?"], texts).tolist() == [[0] * 4] * 2


@given(TEXTS, TEXTS)
def test_the_best_of_all_three_recalls_counts(answer, text):
    recall = rouge_recall(text, answer, VARIANTS)
    assert recall["rougeL"] <= recall["rouge1"] + 1e-12
    assert coverage_scores([answer], [text])[0, 0] == pytest.approx(max(recall.values()))
