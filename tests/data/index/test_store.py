import pytest
from aspectrag.data.index import corpus_hash
from aspectrag.data.index.store import PassageStore, write_store
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError

ODD = [
    Passage("b c\td", "t\u2028", "line\nbreak 🎉", meta={"page": 3, "nested": {"x": [1, None]}}),
    Passage("", "", ""),
    Passage("z", "\x00", "lone \ud800 surrogate"),
    Passage("a", "Ä", "x" * 100_000),
]


def test_everything_comes_back(tmp_path):
    count, digest = write_store(iter(ODD), tmp_path / "store")
    store = PassageStore(tmp_path / "store")
    assert (count, list(store)) == (4, ODD)
    assert [store.row(passage.id) for passage in ODD] == [0, 1, 2, 3]
    assert store.row("missing") is None
    assert digest == corpus_hash(ODD) == corpus_hash(reversed(ODD))
    assert store.ranks.tolist() == [2, 0, 3, 1]


def test_ids_that_share_a_hash_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("aspectrag.data.index.store._id_hash", lambda _: 7)
    write_store(ODD, tmp_path / "store")
    store = PassageStore(tmp_path / "store")
    assert [store.row(passage.id) for passage in ODD] == [0, 1, 2, 3]
    assert store.row("missing") is None


def test_empty(tmp_path):
    assert write_store([], tmp_path / "store")[0] == 0
    store = PassageStore(tmp_path / "store")
    assert (len(store), list(store), store.row("x")) == (0, [], None)


def test_known_needs_the_same_text(tmp_path):
    write_store(ODD, tmp_path / "store")
    given = [ODD[2], Passage("a", "Ä", "other"), Passage("new", "", "")]
    assert PassageStore(tmp_path / "store").known(given).tolist() == [2, -1, -1]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (
            [Passage("a", "", "1"), Passage("b", "", "2"), Passage("a", "", "3")],
            r"'a' occurs twice \(passages 0 and 2\)",
        ),
        ([Passage(1, "", "")], "1: id, title and text must be strings"),  # pyright: ignore[reportArgumentType]
        ([Passage("a", "", "", meta={"x": object()})], "'a': its meta is not JSON"),
    ],
)
def test_refused(tmp_path, bad, says):
    with pytest.raises(AspectragError, match=says):
        write_store(bad, tmp_path / "store")


def test_corpus_hash_sees_where_a_field_ends():
    assert corpus_hash([Passage("a", "bc", "d")]) != corpus_hash([Passage("a", "b", "cd")])
    assert corpus_hash([Passage("a", "b", "c", score=1.0, meta={"x": 1})]) == corpus_hash([Passage("a", "b", "c")])
