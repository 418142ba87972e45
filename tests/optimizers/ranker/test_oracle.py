"""The ranker that knows the sub-answers: its lists are the silver lists."""

import pytest
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError
from aspectrag.optimizers.ranker.coverage import coverage_scores, silver_list
from aspectrag.optimizers.ranker.oracle import CoverageRanker
from aspectrag.programs.rankers.candidates import Candidate
from aspectrag.programs.rankers.ranker import ListwiseRanker

QUESTION = "Should nuclear power replace coal?"
SUB_ANSWERS = ["coal is cheap and dirty", "reactors are costly"]
TEXTS = ["Coal is cheap.", "Wind needs space.", "Coal is cheap and dirty.", "Reactors are costly."]


def pool(*texts):
    return [Candidate(Passage(f"p{n}", "", text), {"cost": n}) for n, text in enumerate(texts, 1)]


@pytest.fixture
def ranker():
    return CoverageRanker({QUESTION: SUB_ANSWERS})


def test_it_covers_each_sub_answer_before_it_says_anything_twice(ranker):
    assert isinstance(ranker, ListwiseRanker)
    assert ranker.rank(QUESTION, [], pool(*TEXTS), 2) == ["p3", "p4"]
    assert ranker.rank(QUESTION, [], pool(*TEXTS), 4) == ["p3", "p4", "p1", "p2"]


def test_its_lists_are_the_silver_lists(ranker):
    silver = silver_list(coverage_scores(SUB_ANSWERS, TEXTS), 3)
    assert ranker.rank(QUESTION, ["whatever"], pool(*TEXTS), 3) == [f"p{place + 1}" for place in silver]


def test_titles_count_as_what_a_passage_says(ranker):
    given = [Candidate(Passage("a", "", "Wind."), {}), Candidate(Passage("b", "Reactors", "They are costly."), {})]
    assert ranker.rank(QUESTION, [], given, 1) == ["b"]


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_small_pool_gives_all_of_it(ranker, size):
    ids = ranker.rank(QUESTION, [], pool(*TEXTS[:size]), 10)
    assert sorted(ids) == [f"p{n}" for n in range(1, size + 1)]


def test_a_question_without_sub_answers_keeps_the_order_of_the_pool():
    assert CoverageRanker({QUESTION: []}).rank(QUESTION, [], pool(*TEXTS), 3) == ["p1", "p2", "p3"]


def test_an_unknown_question_is_refused(ranker):
    with pytest.raises(AspectragError, match=r"'Why\?' are not known"):
        ranker.rank("Why?", [], pool(*TEXTS), 2)


def test_later_changes_of_what_it_was_given_do_not_reach_it():
    given = {QUESTION: SUB_ANSWERS}
    ranker = CoverageRanker(given)
    given.clear()
    assert ranker.rank(QUESTION, [], pool(*TEXTS), 1) == ["p3"]
