"""Samples: even over classes, topped up or not, and the same each time."""

from collections import Counter

from aspectrag.data.construction.entities import entities
from aspectrag.data.construction.sampling import balanced, even, some
from aspectrag.data.passages import Passage

ITEMS = [f"{kind}{n}" for kind, many in (("a", 50), ("b", 10), ("c", 2)) for n in range(many)]


def kinds(sample):
    return Counter(item[0] for item in sample)


def test_classes_get_their_quota_and_the_rest_is_made_up_for():
    assert kinds(balanced(ITEMS, lambda i: i[0], 18)) == {"a": 6, "b": 6, "c": 2}
    filled = balanced(ITEMS, lambda i: i[0], 18, fill=True)
    assert len(filled) == 18
    assert kinds(filled)["c"] == 2
    assert kinds(filled)["b"] >= 6
    assert filled == [item for item in ITEMS if item in set(filled)]
    assert len(balanced(ITEMS, lambda i: i[0], 500, fill=True)) == len(ITEMS)
    assert balanced([], str, 5) == []


def test_even_samples_follow_the_smallest_class():
    assert kinds(even(ITEMS, lambda i: i[0])) == {"a": 2, "b": 2, "c": 2}
    assert kinds(even(ITEMS[:60], lambda i: i[0], most=4)) == {"a": 4, "b": 4}


def test_the_seed_decides():
    assert balanced(ITEMS, lambda i: i[0], 9, seed=1) == balanced(ITEMS, lambda i: i[0], 9, seed=1)
    assert balanced(ITEMS, lambda i: i[0], 9, seed=1) != balanced(ITEMS, lambda i: i[0], 9, seed=2)
    assert some(ITEMS, 5, 1) != some(ITEMS, 5, 2)
    assert some(ITEMS, -1) == []


def test_entities_are_titles_with_enough_passages():
    corpus = [Passage(f"{title}{n}", title, f"Text {n}.") for title in ("A", "B  ", "", "C") for n in range(4)]
    corpus += [Passage("d", "D", "Alone."), Passage("a4", "A", "  ")]
    found = entities(corpus, most=3)
    assert [(one.title, len(one.passages)) for one in found] == [("A", 3), ("B", 3), ("C", 3)]
    assert found == entities(corpus, most=3)
    sample = entities(corpus, most=3, limit=2)
    assert len(sample) == 2
    assert all(one in found for one in sample)
    assert all(one in sample for one in entities(corpus, most=3, limit=1))
