"""The vectors that an index keeps, for whoever needs them again."""

import numpy as np
import pytest
from aspectrag.data.index import EncoderIdentity, IndexSettings, build, open_index
from aspectrag.data.index.retriever import VectorSource
from aspectrag.data.passages import Passage

WITH_VECTORS = [("dense", IndexSettings()), ("dense", IndexSettings(vectors="hnsw")), ("hybrid", IndexSettings()),
                ("reranked", IndexSettings())]  # fmt: skip


def unit(encoder, passages):
    vectors = encoder.encode_passages([passage.contents for passage in passages])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize(("kind", "settings"), WITH_VECTORS, ids=["flat", "hnsw", "hybrid", "reranked"])
def test_they_are_unit_vectors_of_the_passages_in_their_places(tmp_path, fake_encoder, passages, kind, settings):
    encoder = fake_encoder()
    built = build(passages, tmp_path / "index", kind, encoder=encoder, settings=settings, progress=False)
    asked = [passages[5], Passage("new", "", "A stranger."), passages[0], passages[5].with_score(0.5)]
    expected = unit(encoder, asked)
    encoder.calls.clear()
    for index in (built, open_index(tmp_path / "index", encoder)):
        assert isinstance(index, VectorSource)
        found = index.stored_vectors(asked, encoder.identity)
        assert sorted(found) == [0, 2, 3]
        for place, vector in found.items():
            assert vector.dtype == np.float32
            assert vector == pytest.approx(expected[place], abs=1e-6)
        assert index.stored_vectors([], encoder.identity) == {}
    assert encoder.calls == []


def test_they_are_copies(tmp_path, fake_encoder, passages):
    encoder = fake_encoder()
    index = build(passages, tmp_path / "index", "dense", encoder=encoder, progress=False)
    index.stored_vectors(passages, encoder.identity)[0][:] = 0
    assert np.linalg.norm(index.stored_vectors(passages, encoder.identity)[0]) == pytest.approx(1)


@pytest.mark.parametrize(
    "other",
    [
        EncoderIdentity("fake", "other weights"),
        EncoderIdentity("fake", "fake", pooling="cls"),
        EncoderIdentity("fake", "fake", passage_prompt="passage: "),
    ],
)
def test_those_of_another_encoder_are_not_given(tmp_path, fake_encoder, passages, other):
    index = build(passages, tmp_path / "index", "dense", encoder=fake_encoder(), progress=False)
    assert index.stored_vectors(passages, other) == {}
    # The name is for people.
    assert len(index.stored_vectors(passages, EncoderIdentity("moved", "fake"))) == len(passages)


def test_an_index_without_vectors_or_passages_has_none(tmp_path, fake_encoder, cross_model, passages):
    identity = fake_encoder().identity
    assert build(passages, tmp_path / "bm25", "bm25").stored_vectors(passages, identity) == {}
    reranked = build(passages, tmp_path / "cross", "reranked", cross_encoder=cross_model)
    assert reranked.stored_vectors(passages, identity) == {}
    empty = build([], tmp_path / "empty", "dense", encoder=fake_encoder(), progress=False)
    assert empty.stored_vectors(passages, identity) == {}


def test_a_passage_whose_text_or_title_changed_has_none(tmp_path, fake_encoder, passages):
    encoder = fake_encoder()
    index = build(passages, tmp_path / "index", "dense", encoder=encoder, progress=False)
    first, second, third = passages[:3]
    changed = [
        Passage(first.id, first.title, first.text + " And more."),
        Passage(second.id, "Another title", second.text),
        Passage("another id", third.title, third.text),
        third,
    ]
    assert list(index.stored_vectors(changed, encoder.identity)) == [3]


def test_they_grow_with_the_index(tmp_path, fake_encoder, passages):
    encoder = fake_encoder()
    index = build(passages[:4], tmp_path / "index", "dense", encoder=encoder, progress=False)
    assert list(index.stored_vectors(passages[2:6], encoder.identity)) == [0, 1]
    index.add(passages[4:], progress=False)
    found = index.stored_vectors(passages, encoder.identity)
    assert np.stack([found[place] for place in range(len(passages))]) == pytest.approx(
        unit(encoder, passages), abs=1e-6
    )


def test_while_another_opened_index_grows_this_one_goes_on(tmp_path, fake_encoder, passages):
    encoder = fake_encoder()
    index = build(passages[:4], tmp_path / "index", "dense", encoder=encoder, progress=False)
    open_index(tmp_path / "index", encoder).add(passages[4:], progress=False)
    assert len(index.search(["river"], 10)[0]) == 4
    expected = unit(encoder, passages[:4])
    for place, vector in index.stored_vectors(passages, encoder.identity).items():
        assert vector == pytest.approx(expected[place], abs=1e-6)
