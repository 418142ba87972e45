import numpy as np
import pytest
from aspectrag.data.index import EncoderIdentity, IndexSettings, SentenceEncoder, build, open_index
from aspectrag.data.index.vectors import VectorSearch, plan_vectors, write_faiss
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError


def unit(rng, count, dimension=16):
    vectors = rng.normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("method", ["flat", "hnsw", "ivf"])
def test_nearest_equals_numpy(tmp_path, method):
    rng = np.random.default_rng(0)
    vectors, queries = unit(rng, 500), unit(rng, 40)
    write_faiss(vectors, tmp_path / "index", method)
    ranks = rng.permutation(500).astype(np.int32)
    search = VectorSearch(vectors, ranks, method, tmp_path / "index", effort=400)
    expected = np.argsort(-(queries.astype(float) @ vectors.T.astype(float)), axis=1)[:, :10]
    found = search.search(queries, 10)
    overlap = [len(set(hits.rows.tolist()) & set(row.tolist())) for hits, row in zip(found, expected, strict=True)]
    assert np.mean(overlap) == 10 if method == "flat" else np.mean(overlap) > 9
    assert [len(hits.rows) for hits in search.search(queries, 1000)] == [500] * 40


@pytest.mark.parametrize("method", ["flat", "hnsw", "ivf"])
def test_ties_beyond_what_was_fetched_go_by_id(tmp_path, method):
    vectors = np.repeat(unit(np.random.default_rng(0), 2), 100, axis=0)
    write_faiss(vectors, tmp_path / "index", method)
    ranks = np.arange(200, dtype=np.int32)[::-1].copy()
    search = VectorSearch(vectors, ranks, method, tmp_path / "index", effort=64)
    assert search.search(vectors[:1], 3)[0].rows.tolist() == [99, 98, 97]


def test_few_lists_look_further_when_asked_for_more(tmp_path):
    vectors = unit(np.random.default_rng(0), 400)
    write_faiss(vectors, tmp_path / "index", "ivf")
    search = VectorSearch(vectors, np.arange(400, dtype=np.int32), "ivf", tmp_path / "index", effort=1)
    hits = search.search(vectors[:5], 300)
    assert all(len(each.rows) == 300 and each.rows.min() >= 0 for each in hits)


@pytest.mark.parametrize("count", [0, 1, 2, 10, 77])
def test_too_few_for_lists(count):
    plan = plan_vectors("ivf", count)
    assert (plan.used, plan.reason) == ("flat", f"training inverted lists needs 78 vectors, the corpus has {count}")
    assert plan_vectors("ivf", 78).used == "ivf"


@pytest.mark.parametrize("method", ["hnsw", "ivf"])
def test_building_twice_gives_the_same_file(tmp_path, method):
    vectors = unit(np.random.default_rng(0), 2000)
    for name in ("one", "two"):
        write_faiss(vectors, tmp_path / name, method)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_batch_is_encoded_and_searched_at_once(tmp_path, fake_encoder, passages, monkeypatch):
    encoder = fake_encoder()
    index = build(passages, tmp_path / "index", "dense", encoder=encoder, progress=False)
    sizes = []
    original = VectorSearch._nearest
    monkeypatch.setattr(VectorSearch, "_nearest", lambda self, q, w: sizes.append(len(q)) or original(self, q, w))
    index.search([f"query {i}" for i in range(100)], 3)
    assert sizes == [100]


def test_rank_encodes_only_strangers(tmp_path, fake_encoder, passages):
    encoder = fake_encoder()
    index = build(passages, tmp_path / "index", "dense", encoder=encoder, progress=False)
    encoder.calls.clear()
    index.rank("river", [*passages, Passage("new", "", "text"), Passage("newer", "", "text")], 3)
    assert encoder.calls == [["text"]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_must_be_finite(tmp_path, fake_encoder, passages, bad):
    class Broken(fake_encoder):
        broken = True

        def _encode(self, texts):
            return super()._encode(texts) * (bad if self.broken else 1)

    encoder = Broken()
    with pytest.raises(AspectragError, match="not finite"):
        build(passages, tmp_path / "index", "dense", encoder=encoder, progress=False)
    assert not (tmp_path / "index").exists()
    encoder.broken = False
    index = build(passages, tmp_path / "index", "dense", encoder=encoder, progress=False)
    encoder.broken = True
    with pytest.raises(AspectragError, match="not finite"):
        index.search(["x"], 1)


def test_dimension_must_fit(tmp_path, fake_encoder, passages):
    build(passages, tmp_path / "index", "dense", encoder=fake_encoder(8), progress=False)
    index = open_index(tmp_path / "index", fake_encoder(16))
    with pytest.raises(AspectragError, match=r"shape \(1, 16\), not \(1, 8\)"):
        index.search(["x"], 1)


def test_a_transformer_works_like_a_static_model(tmp_path, bert_model, passages):
    index = build(passages, tmp_path / "index", "dense", encoder=bert_model, progress=False)
    assert index.search([passages[3].contents], 1)[0][0].id == "seoul"
    assert SentenceEncoder(bert_model).identity.pooling == "mean"
    assert index.manifest.encoder == SentenceEncoder(bert_model).identity
    assert index.manifest.dimension == 16


def test_nothing_is_loaded_before_it_is_needed(static_model):
    assert SentenceEncoder(static_model)._model is None


def test_prompts_belong_to_the_identity(tmp_path, make_model, static_model):
    folder = make_model(tmp_path / "prompted", prompts={"query": "word1 ", "document": "word2 "})
    own = SentenceEncoder(folder)
    assert (own.identity.query_prompt, own.identity.passage_prompt) == ("word1 ", "word2 ")
    assert own.identity.weights == SentenceEncoder(static_model).identity.weights
    assert not own.identity.same_as(SentenceEncoder(static_model).identity)
    given = SentenceEncoder(static_model, query_prompt="word1 ", passage_prompt="word2 ")
    assert np.allclose(given.encode_queries(["river"]), own.encode_queries(["river"]))
    assert not np.allclose(own.encode_queries(["river"]), own.encode_passages(["river"]))


def test_the_name_does_not_make_the_encoder():
    assert EncoderIdentity("a", "w").same_as(EncoderIdentity("b", "w"))


@pytest.mark.parametrize("source", ["./no/such/folder", "/no/such/folder", "a/b/c"])
def test_missing_folder(source):
    with pytest.raises(AspectragError, match="no folder"):
        SentenceEncoder(source)


def test_missing_hub_model():
    with pytest.raises(AspectragError, match="neither a folder nor in the local cache"):
        SentenceEncoder("nobody/no-such-model")


def test_folder_without_model(tmp_path):
    with pytest.raises(AspectragError, match="no sentence-transformers model"):
        SentenceEncoder(tmp_path)
    (tmp_path / "modules.json").write_text("[]", encoding="utf-8")
    with pytest.raises(AspectragError, match="no weights"):
        SentenceEncoder(tmp_path)


def test_an_encoder_is_needed(tmp_path, passages):
    for kind in ("dense", "hybrid", "reranked"):
        with pytest.raises(AspectragError, match=f"a {kind} index needs an encoder"):
            build(passages, tmp_path / "index", kind, settings=IndexSettings())
