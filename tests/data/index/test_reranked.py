import numpy as np
import pytest
from aspectrag.data.index import IndexSettings, SentenceEncoder, build, open_index
from aspectrag.data.index.reranked import RerankedIndex
from aspectrag.data.index.scorers import BiEncoderScorer, CrossEncoderScorer, rank_by
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError


class ByLength:
    def __init__(self):
        self.seen = []

    def score(self, queries, candidates):
        self.seen.append([len(each) for each in candidates])
        return [np.array([float(len(p.text)) for p in each]) for each in candidates]


def test_wraps_any_index(tmp_path, passages):
    base = build(passages, tmp_path / "index", "bm25")
    scorer = ByLength()
    index = RerankedIndex(base, scorer, depth=2)
    found = index.search(["river sea", "mountain", "zzzz"], 1)
    assert [len(each) for each in found] == [1, 1, 0]
    assert found[0][0].id == "danube"
    assert scorer.seen == [[2, 1, 0]]  # one call for the whole batch, depth candidates each
    index.search(["river sea"], 3)
    assert scorer.seen[-1] == [2]


def test_bi_encoder_by_default(tmp_path, static_model, passages):
    index = build(passages, tmp_path / "index", "reranked", encoder=static_model, progress=False)
    dense = build(passages, tmp_path / "dense", "dense", encoder=static_model, progress=False)
    lexical = build(passages, tmp_path / "bm25", "bm25")
    query = "the river that rises in the Alps"
    candidates = lexical.search([query], 50)[0]
    assert index.search([query], 5)[0] == dense.rank(query, candidates, 5)


def test_vectors_are_encoded_where_none_are_stored(tmp_path, static_model, passages):
    base = build(passages, tmp_path / "index", "bm25")
    index = RerankedIndex(base, BiEncoderScorer(SentenceEncoder(static_model)))
    stored = build(passages, tmp_path / "dense", "dense", encoder=static_model, progress=False)
    query = "river in Europe"
    assert [(p.id, p.score) for p in index.rank(query, passages, 5)] == [
        (p.id, pytest.approx(p.score, abs=2e-6)) for p in stored.rank(query, passages, 5)
    ]


def test_cross_encoder_by_name(tmp_path, cross_model, passages):
    index = build(passages, tmp_path / "index", "reranked", cross_encoder=cross_model)
    assert index.manifest.encoder is None  # BM25 candidates and a cross-encoder need no vectors
    found = open_index(tmp_path / "index").search(["river sea", "zzzz"], 5)
    assert found == index.search(["river sea", "zzzz"], 5)
    assert {p.id for p in found[0]} == {"danube", "rhine"}
    assert found[1] == []
    assert index.rank("lone \ud800", [Passage("odd", "", "\ud800")], 1)[0].id == "odd"
    model = CrossEncoderScorer(cross_model)
    assert model.score(["river sea"], [found[0]])[0].tolist() == [p.score for p in found[0]]


def test_cross_encoder_over_hybrid(tmp_path, cross_model, static_model, passages):
    settings = IndexSettings(rerank_base="hybrid", rerank_depth=4)
    index = build(
        passages, tmp_path / "index", "reranked",
        encoder=static_model, cross_encoder=cross_model, settings=settings, progress=False,
    )  # fmt: skip
    assert len(index.search(["river"], 10)[0]) == 10
    assert len(index.search(["river"], 2)[0]) == 2


def test_scores_must_be_finite():
    class Broken:
        def score(self, queries, candidates):
            return [np.full(len(each), np.nan) for each in candidates]

    with pytest.raises(AspectragError, match="not finite"):
        rank_by(Broken(), ["x"], [[Passage("a", "", "b")]], 1)


def test_only_reranked_takes_a_cross_encoder(tmp_path, cross_model, passages):
    with pytest.raises(AspectragError, match="no use for a cross-encoder"):
        build(passages, tmp_path / "index", "bm25", cross_encoder=cross_model)
