import pytest
from aspectrag.data.index import IndexSettings, build
from aspectrag.data.index.hybrid import reciprocal_rank_fusion


def test_by_hand():
    fused = reciprocal_rank_fusion([["a", "b", "c"], ["c", "d"]])
    assert fused == {"a": 1 / 61, "b": 1 / 62, "c": 1 / 63 + 1 / 61, "d": 1 / 62}
    assert reciprocal_rank_fusion([["a"]], constant=1) == {"a": 0.5}
    assert reciprocal_rank_fusion([[], []]) == {}


@pytest.fixture(scope="module")
def index(tmp_path_factory, passages, static_model):
    folder = tmp_path_factory.mktemp("hybrid") / "index"
    return build(passages, folder, "hybrid", encoder=static_model, progress=False)


def test_search_fuses_both_sides(index, passages):
    query = "river sea mountain"
    lexical = [p.id for p in index.engine._lexical.search([query], 100)[0]]
    dense = [p.id for p in index.engine._dense.search([query], 100)[0]]
    assert len(lexical) < len(dense)
    expected = reciprocal_rank_fusion([lexical, dense])
    found = index.search([query], 100)[0]
    assert {p.id: p.score for p in found} == expected
    assert [p.id for p in found] == sorted(expected, key=lambda key: (-expected[key], key))


def test_rank_of_all_equals_search(index, passages):
    query = "river sea mountain"
    assert index.rank(query, passages, 100) == index.search([query], 100)[0]


def test_ties_are_repeatable(tmp_path, fake_encoder, passages):
    """Two passages that swap places on the two sides have equal scores: the id decides, every time."""
    fused = reciprocal_rank_fusion([["b", "a"], ["a", "b"]])
    assert fused["a"] == fused["b"]
    index = build(passages, tmp_path / "index", "hybrid", encoder=fake_encoder(), progress=False)
    first = index.search(["river"], 12)
    assert all(index.search(["river"], 12) == first for _ in range(5))


def test_depth_grows_with_k(tmp_path, static_model, passages):
    settings = IndexSettings(fusion_depth=1)
    index = build(passages, tmp_path / "index", "hybrid", encoder=static_model, settings=settings, progress=False)
    assert len(index.search(["river"], 10)[0]) >= 10
