"""Com-ROUGE: how much of each sub-answer is covered, the longer ones counting more."""

import pytest
from aspectrag.optimizers.metrics.com_rouge import com_rouge
from aspectrag.optimizers.metrics.rouge import VARIANTS, rouge_recall
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.lists(st.sampled_from(["coal", "is", "Cheap.", "dirty", "!", "煤很脏"]), max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("prediction", "variant", "expected"),
    [
        ("It is cheap", "rouge1", 0.75),
        ("dirty", "rouge1", 0.25),
        ("Dirty! And: it is CHEAP...", "rouge1", 1),
        ("Dirty! And: it is CHEAP...", "rouge2", 0.75),  # one word has no pair, and weighs all the same
        ("cheap, is it? dirty", "rougeL", 0.25 / 1 + 0.75 / 3),
        ("cheap", "rouge1", 0.75 / 3),
    ],
)
def test_sub_answers_of_three_words_and_of_one_weigh_three_to_one(prediction, variant, expected):
    assert com_rouge(prediction, ["It is -- cheap.", "dirty"], variant) == pytest.approx(expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_is_of_recall_more_words_cost_nothing(variant):
    said = "Coal is cheap. Wind is clean."
    parts = ["Coal is cheap.", "Wind is clean."]
    assert com_rouge(said, parts, variant) == com_rouge(said + " And much else can be said. " * 50, parts, variant) == 1


def test_scripts_without_blanks_weigh_by_character():
    assert com_rouge("煤", ["煤很脏", "wind"], "rouge1") == pytest.approx(3 / 4 * 1 / 3)


@pytest.mark.parametrize("variant", VARIANTS)
def test_without_a_word_on_either_side_it_is_0(variant):
    for prediction in ("", "  ", "?!"):
        assert com_rouge(prediction, ["It is cheap", "dirty"], variant) == 0
    for sub_answers in ([], [""], ["", "?!"]):
        assert com_rouge("It is cheap", sub_answers, variant) == 0


def test_a_sub_answer_without_a_word_weighs_nothing():
    assert com_rouge("cheap", ["cheap", "", "!"], "rouge1") == 1


@given(TEXTS, st.lists(TEXTS, max_size=4), st.sampled_from(VARIANTS))
def test_it_is_between_the_worst_and_the_best_covered(prediction, sub_answers, variant):
    shares = [rouge_recall(prediction, answer, [variant])[variant] for answer in sub_answers] or [0.0]
    score = com_rouge(prediction, sub_answers, variant)
    assert 0 <= score <= max(shares) + 1e-9
    assert score >= min(shares) - 1e-9
