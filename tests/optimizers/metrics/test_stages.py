"""How single stages are scored."""

from typing import Any

import dspy
import pytest
from aspectrag.data.passages import Passage
from aspectrag.optimizers.metrics.classification import classification
from aspectrag.optimizers.metrics.stages import NOTHING, hit_of, label_of, parts_match, parts_of, ranking_at
from fakes import ListRetriever
from hypothesis import given
from hypothesis import strategies as st

QUESTIONS = st.lists(st.text("abc ?", max_size=8), max_size=5)


def test_label():
    metric: Any = label_of("route")
    example = dspy.Example(route="complex")
    assert metric.score(example, dspy.Prediction(route="complex")) == 1.0
    assert metric.score(example, dspy.Prediction(route="compound")) == 0.0
    assert metric.labels(example, dspy.Prediction(failure="unreadable")) == ("complex", NOTHING)
    assert metric.score(dspy.Example(route=NOTHING), dspy.Prediction()) == 1.0


def test_label_of_a_verdict_compares_values_not_spellings():
    metric: Any = label_of("relevant")
    assert metric.score(dspy.Example(relevant=True), dspy.Prediction(relevant=True)) == 1.0
    assert metric.labels(dspy.Example(relevant=False), dspy.Prediction(relevant=True)) == ("False", "True")
    pairs = [metric.labels(dspy.Example(relevant=r), dspy.Prediction(relevant=True)) for r in (True, False)]
    assert classification(pairs).accuracy == 0.5


@pytest.mark.parametrize(
    ("expected", "given_", "score"),
    [
        (["Who wrote it?", "When?"], ["When?", "Who wrote it?"], 1.0),
        (["Who wrote it?"], ["Who wrote it?", "When?"], 0.5),
        (["Who wrote it?", "When?"], ["Who wrote it?"], 0.5),
        (["Who wrote it?", "When?"], ["Who wrote it?", "Who wrote it?"], 0.5),
        (["Who wrote it?"], [], 0.0),
        ([], [], 1.0),
        (["a b c d"], ["a b x y"], 1 / 3),  # "a" is an article, and no word
    ],
)
def test_parts(expected, given_, score):
    assert parts_match(expected, given_) == pytest.approx(score)


@given(QUESTIONS, QUESTIONS)
def test_parts_are_a_score_and_order_does_not_matter(expected, given_):
    score = parts_match(expected, given_)
    assert 0.0 <= score <= 1.0
    assert parts_match(expected, given_[::-1]) == pytest.approx(score)
    assert parts_match(given_, expected) == pytest.approx(score)
    assert parts_match(expected, expected) == 1.0


def test_parts_of_output_that_could_not_be_read():
    assert parts_of("sub_questions").score(dspy.Example(sub_questions=["a?"]), dspy.Prediction(failure="x")) == 0.0


def test_hit_looks_up_what_the_stage_wrote():
    metric = hit_of("seed_question", ListRetriever(), 1)
    example = dspy.Example(next_ids=["d2"])
    assert metric.score(example, dspy.Prediction(seed_question="What is dysphagia?")) == 1.0
    assert metric.score(example, dspy.Prediction(seed_question="What is odynophagia?")) == 0.0
    assert metric.score(example, dspy.Prediction(seed_question=" ")) == 0.0
    assert metric.score(example, dspy.Prediction()) == 0.0


def test_ranking_is_measured_against_the_whole_pool():
    pool = [Passage(str(n), "", text) for n, text in enumerate(["wind is cheap", "coal is dirty", "nothing here"])]
    example = dspy.Example(sub_answers=["coal is dirty", "wind is cheap"])
    score: Any = ranking_at(2).score
    assert score(example, dspy.Prediction(pool=pool, ranked=pool[:2])) == 1.0
    assert score(example, dspy.Prediction(pool=pool, ranked=[pool[2], pool[1]])) < 1.0
    assert score(example, dspy.Prediction()) == 0.0
