"""Retrieval metrics: equal to trec_eval's, and never above 1."""

import random

import dspy
import ir_measures
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.optimizers.metrics.registry import metric
from aspectrag.optimizers.metrics.retrieval import ndcg, precision, recall, reciprocal_rank
from hypothesis import given
from hypothesis import strategies as st

IDS = [f"d{number}" for number in range(12)]
QRELS = st.dictionaries(st.sampled_from(IDS), st.integers(-1, 3))
RANKINGS = st.lists(st.sampled_from(IDS), max_size=20)
NAMES = ("R@1", "R@5", "P@1", "P@5", "nDCG@3", "nDCG@10", "RR", "RR@2", "RR@10")


def scored(name, ranking, qrels):
    prediction = dspy.Prediction(passages=[Passage(id, "", "") for id in ranking])
    return metric(name).columns(question("q", "Why?", qrels=qrels), prediction)


def test_a_thousand_cases_equal_ir_measures():
    draw, qrels, rankings = random.Random(0), {}, {}
    for case in range(1000):
        judged = draw.sample(IDS, draw.randrange(1, 9))
        qrels[str(case)] = {id: draw.randrange(4) for id in judged} | {judged[0]: draw.randrange(1, 4)}
        rankings[str(case)] = draw.sample(IDS, draw.randrange(1, 13))
    run = {q: {id: 100 - place for place, id in enumerate(ids)} for q, ids in rankings.items()}
    measures = {name: ir_measures.parse_measure(name) for name in NAMES}
    seen = 0
    for result in ir_measures.iter_calc(list(measures.values()), qrels, run):
        name = next(name for name, measure in measures.items() if measure == result.measure)
        ours = scored(name, rankings[result.query_id], qrels[result.query_id])
        assert ours == {name: pytest.approx(result.value, abs=1e-9)}
        seen += 1
    assert seen == 1000 * len(NAMES)


@pytest.mark.parametrize(
    ("name", "ranking", "qrels", "expected"),
    [
        ("R@2", ["a", "b", "c"], {"a": 1, "c": 1}, 1 / 2),
        ("R@2", ["a", "a", "c"], {"a": 1, "c": 1}, 1),  # a passage read twice takes one place
        ("P@5", ["a", "b"], {"a": 1}, 1 / 5),
        ("P@1", [], {"a": 1}, 0),
        ("nDCG@10", ["b"], {"a": 1}, 0),
        ("nDCG@1", ["b", "a"], {"a": 2, "b": 1}, 1 / 2),
        ("nDCG@10", ["a"], {"a": 1, "b": 1}, 1 / (1 + 0.6309297535714575)),  # what was not found counts against it
        ("RR", ["x", "x", "y", "a"], {"a": 3}, 1 / 3),
        ("RR@2", ["x", "y", "a"], {"a": 3}, 0),
        ("RR", ["b", "a"], {"a": 1, "b": 0}, 1 / 2),
    ],
)
def test_values_by_hand(name, ranking, qrels, expected):
    assert scored(name, ranking, qrels) == {name: pytest.approx(expected)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("qrels", [{}, {"a": 0}, {"a": -1}])
def test_they_do_not_apply_where_no_relevant_passage_is_known(name, qrels):
    assert scored(name, ["a"], qrels) == {}


@given(RANKINGS, QRELS, st.integers(1, 15))
def test_they_lie_between_0_and_1_with_duplicates_too(ranking, qrels, k):
    distinct = list(dict.fromkeys(ranking))
    for measure in (recall, precision, ndcg, reciprocal_rank):
        assert 0 <= measure(ranking, qrels, k) <= 1 + 1e-12
        assert measure(ranking, qrels, k) == measure(distinct, qrels, k)
    assert recall(ranking, qrels, k) <= recall(ranking, qrels)
    assert reciprocal_rank(ranking, qrels, k) <= reciprocal_rank(ranking, qrels)


@given(QRELS)
def test_the_best_ranking_has_an_ndcg_of_1(qrels):
    best = sorted(qrels, key=lambda id: -qrels[id])
    assert ndcg(best, qrels) == pytest.approx(float(any(grade > 0 for grade in qrels.values())))
