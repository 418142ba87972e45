"""What a ranker promises, made true whatever it gives; and the orders that need no learning."""

import pytest
from aspectrag.data.passages import Passage
from aspectrag.programs.rankers.candidates import Candidate
from aspectrag.programs.rankers.ranker import ListwiseRanker, RetrievalOrder, Similarity, completed
from aspectrag.programs.trace import record
from fakes import PASSAGES, ListRetriever
from hypothesis import given
from hypothesis import strategies as st

POOL = [Candidate(Passage(id, "", f"Text {id}."), {}) for id in "abcde"]


@pytest.mark.parametrize(
    ("given_ids", "k", "expected", "faults"),
    [
        (["c", "a"], 2, ["c", "a"], []),
        (["c", "x", "a"], 2, ["c", "a"], ["1 unknown"]),
        (["c", "c", "a", "c"], 2, ["c", "a"], ["2 repeated"]),
        (["c"], 3, ["c", "a", "b"], ["2 missing"]),
        (["e", "x", "e", "y"], 4, ["e", "a", "b", "c"], ["2 unknown", "1 repeated", "3 missing"]),
        ([], 2, ["a", "b"], ["2 missing"]),
        (["d", "c", "b", "a"], 2, ["d", "c"], []),  # more than were asked for
        (["e", "d", "c", "b", "a"], 10, ["e", "d", "c", "b", "a"], []),
        (["x", "x"], 10, ["a", "b", "c", "d", "e"], ["2 unknown", "5 missing"]),
    ],
)
def test_unknown_and_repeated_ids_go_and_missing_ones_follow_in_pool_order(given_ids, k, expected, faults):
    assert completed(given_ids, POOL, k) == (expected, faults)
    assert completed(iter(given_ids), POOL, k) == (expected, faults)


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("given_ids", [[], ["x"], ["b", "b", "a", "a"]])
def test_a_small_pool_is_given_whole_and_nothing_twice(size, given_ids):
    pool = POOL[:size]
    ids, _ = completed(given_ids, pool, 10)
    assert sorted(ids) == [candidate.passage.id for candidate in pool]


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "x", ""]), max_size=12), st.integers(0, 5), st.integers(1, 8))
def test_whatever_is_given_becomes_a_ranking(given_ids, size, k):
    pool = POOL[:size]
    known = [candidate.passage.id for candidate in pool]
    ids, faults = completed(given_ids, pool, k)
    assert len(ids) == len(set(ids)) == min(k, size)
    assert set(ids) <= set(known)
    kept = [id for id in dict.fromkeys(given_ids) if id in known]
    assert ids[: len(kept)] == kept[:k]
    filled = ids[len(kept) :]
    assert filled == [id for id in known if id not in kept][: len(filled)]
    assert completed(ids, pool, k) == (ids, [])
    if given_ids == ids:
        assert faults == []


def test_the_order_of_the_pool():
    ranker = RetrievalOrder()
    assert isinstance(ranker, ListwiseRanker)
    assert ranker.rank("Why?", ["cost"], POOL, 2) == ["a", "b"]
    assert ranker.rank("Why?", [], POOL, 10) == ["a", "b", "c", "d", "e"]
    assert ranker.rank("Why?", [], [], 10) == []


def test_similarity_is_the_retrievers_to_the_bare_question():
    retriever = ListRetriever()
    pool = [Candidate(passage, {"cost": n}) for n, passage in enumerate(PASSAGES, 1)]
    ranker = Similarity(retriever)
    assert isinstance(ranker, ListwiseRanker)
    assert ranker.rank("Is coal cheap and dirty?", ["pain in swallowing"], pool, 2) == ["d8", "d9"]
    assert retriever.ranks == ["Is coal cheap and dirty?"]
    assert len(ranker.rank("coal", [], pool, 50)) == len(pool)
    assert ranker.rank("coal", [], [], 5) == []


def test_a_retriever_that_cannot_compare_keeps_the_order_of_the_pool_with_a_warning():
    class Searcher:
        def search(self, queries, k):
            return [[] for _ in queries]

    with record() as trace:
        assert Similarity(Searcher()).rank("Why?", [], POOL, 2) == ["a", "b"]
    assert [(note.kind, note.name) for note in trace.steps] == [("warning", "rerank")]


def test_what_a_retrievers_ranking_makes_up_does_not_get_in():
    class Careless(ListRetriever):
        def rank(self, query, passages, k):
            return [Passage("x", "", "made up"), passages[1], passages[1]]

    assert Similarity(Careless()).rank("Why?", [], POOL, 3) == ["b", "a", "c"]
