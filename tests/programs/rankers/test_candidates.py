"""The pool: each passage once, with the aspects that found it, the best ranked first."""

from aspectrag.data.passages import Passage
from aspectrag.programs.rankers.candidates import QUESTION, Candidate, pool_of
from hypothesis import given
from hypothesis import strategies as st

A, B, C, D = (Passage(id, id.upper(), f"Text {id}.", 4.0 - n) for n, id in enumerate("abcd"))
# Few ids, titles and texts, so that all kinds of twins come up.
PASSAGES = st.builds(
    Passage, st.sampled_from("abcde"), st.sampled_from(["", "T"]), st.sampled_from(["", "T", "x", "y", "z"])
)
FOUND = st.lists(st.lists(PASSAGES, max_size=6), max_size=4)


def ids(pool):
    return [candidate.passage.id for candidate in pool]


def test_each_passage_lists_the_aspects_that_found_it_and_where():
    pool = pool_of([QUESTION, "cost", "safety"], [[A, B], [B, C], [C, A, D]], 10)
    assert {c.passage.id: dict(c.ranks) for c in pool} == {
        "a": {QUESTION: 1, "safety": 2},
        "b": {QUESTION: 2, "cost": 1},
        "c": {"cost": 2, "safety": 1},
        "d": {"safety": 3},
    }
    assert {c.passage.id: set(c.aspects) for c in pool} == {
        "a": {"safety"}, "b": {"cost"}, "c": {"cost", "safety"}, "d": {"safety"},
    }  # fmt: skip


def test_the_best_rank_in_any_list_decides_then_the_query():
    assert ids(pool_of(["cost", "safety"], [[A, B], [C, D]], 10)) == ["a", "c", "b", "d"]
    assert ids(pool_of(["cost", "safety"], [[A, B], [B, A, D]], 10)) == ["a", "b", "d"]
    # What a retriever scored decides nothing: scores of different queries do not compare.
    assert ids(pool_of(["cost", "safety"], [[D], [A]], 10)) == ["d", "a"]


def test_beyond_the_largest_pool_those_go_that_no_query_ranked_well():
    found = [[A, B, C], [D, C, B]]
    assert ids(pool_of(["cost", "safety"], found, 3)) == ["a", "d", "b"]
    # What is kept still knows all that found it.
    (first,) = pool_of(["cost", "safety"], [[A, B], [B, A]], 1)
    assert dict(first.ranks) == {"cost": 1, "safety": 2}


def test_a_passage_found_twice_by_a_query_has_its_better_place():
    (candidate,) = pool_of(["cost"], [[A, A, Passage("x", "", A.text)]], 10)
    assert candidate == Candidate(A, {"cost": 1})


def test_one_text_under_several_ids_is_one_passage():
    twin = Passage("x", "Twin", A.text)
    pool = pool_of(["cost", "safety"], [[A, B], [twin, B]], 10)
    assert ids(pool) == ["a", "b"]
    assert pool[0].aspects == ("cost", "safety")


def test_one_id_with_several_texts_is_one_passage():
    changed = Passage("a", "A", "Another text.")
    pool = pool_of(["cost", "safety"], [[A, B], [changed, C]], 10)
    assert ids(pool) == ["a", "b", "c"]
    assert pool[0] == Candidate(A, {"cost": 1, "safety": 1})
    assert ids(pool_of(["cost"], [[Passage("a", "", ""), Passage("a", "", "x")]], 10)) == ["a"]


def test_without_a_text_the_title_tells_passages_apart():
    titles = [Passage("a", "Danube", ""), Passage("b", "Rhine", ""), Passage("c", "Rhine", "")]
    assert ids(pool_of(["length"], [titles], 10)) == ["a", "b"]


def test_it_keeps_the_score_of_the_query_that_ranked_it_best():
    found = [[B, A.with_score(0.1)], [A.with_score(0.9)]]
    assert {c.passage.id: c.passage.score for c in pool_of(["cost", "safety"], found, 10)} == {"a": 0.9, "b": 3.0}


def test_nothing_found_is_an_empty_pool():
    assert pool_of([], [], 10) == pool_of(["cost", "safety"], [[], []], 10) == []


def test_to_dict_is_the_passage_with_what_found_it():
    record = Candidate(A, {QUESTION: 3, "cost": 1}).to_dict()
    assert record == {**A.to_dict(), "aspects": ["cost"], "ranks": {QUESTION: 3, "cost": 1}}


@given(FOUND, st.integers(1, 12))
def test_ids_and_texts_are_unique_and_every_place_is_true(found, most):
    aspects = [f"aspect {n}" for n in range(len(found))]
    pool = pool_of(aspects, found, most)
    assert len(pool) <= most
    assert len(set(ids(pool))) == len(pool)
    assert len({c.passage.text or c.passage.title for c in pool}) == len(pool)
    best = [min(c.ranks.values()) for c in pool]
    assert best == sorted(best)
    for candidate in pool:
        for aspect, rank in candidate.ranks.items():
            assert 1 <= rank <= len(found[aspects.index(aspect)])
    given_ids = {p.id for passages in found for p in passages}
    assert set(ids(pool)) <= given_ids
    assert pool == pool_of(aspects, found, 99)[:most]


@given(FOUND)
def test_the_first_of_every_query_is_at_the_front(found):
    aspects = [f"aspect {n}" for n in range(len(found))]
    firsts = [aspect for aspect, passages in zip(aspects, found, strict=True) if passages]
    front = pool_of(aspects, found, max(len(firsts), 1))
    assert all(any(candidate.ranks.get(aspect) == 1 for candidate in front) for aspect in firsts)
