import pytest
from aspectrag.data.index import AddReport, IndexSettings, build, corpus_hash, open_index
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError

QUERIES = ["river in Europe", "mountain", "서울에서", "首都", "word3 word4", "the sea", "🎉"]
MORE = [Passage(f"more{i:03d}", "", f"word{i % 40} word{i % 7} river") for i in range(150)]
KINDS = [
    ("bm25", IndexSettings()),
    ("dense", IndexSettings()),
    ("dense", IndexSettings(vectors="hnsw")),
    ("dense", IndexSettings(vectors="ivf")),
    ("hybrid", IndexSettings()),
    ("reranked", IndexSettings()),
]


@pytest.mark.parametrize(("kind", "settings"), KINDS, ids=lambda value: getattr(value, "vectors", value))
@pytest.mark.parametrize("cut", [0, 1, 12, 100])
def test_append_equals_rebuild(tmp_path, static_model, passages, kind, settings, cut):
    everything = [*passages, *MORE]
    options = {"encoder": static_model, "settings": settings, "progress": False}
    grown = build(everything[:cut], tmp_path / "grown", kind, **options)
    assert str(grown.add(everything[cut : cut + 30], progress=False)) == "30 new, 0 already present"
    grown.add(iter(everything), progress=False)
    whole = build(everything, tmp_path / "whole", kind, **options)
    assert list(grown) == everything
    assert grown.manifest.corpus_hash == whole.manifest.corpus_hash == corpus_hash(everything)
    assert grown.manifest.files == whole.manifest.files
    assert grown.manifest.vectors == whole.manifest.vectors
    expected = whole.search(QUERIES, 20)
    assert grown.search(QUERIES, 20) == expected
    assert open_index(tmp_path / "grown", static_model).search(QUERIES, 20) == expected


def test_present_ones_are_counted_not_written(tmp_path, passages):
    index = build(passages, tmp_path / "index", "bm25")
    before = index.manifest
    assert index.add([passages[0].with_score(2.0), passages[1]]) == AddReport(added=0, present=2, kept=0)
    assert index.manifest == before
    assert index.add([]) == AddReport(0, 0, 0)


def test_conflicts(tmp_path, passages):
    index = build(passages, tmp_path / "index", "bm25")
    changed = Passage("danube", "Danube", "Quite another text.")
    with pytest.raises(AspectragError, match=r"'danube'.*'Danube\\nThe Danube is.*there, 'Danube\\nQuite.*given"):
        index.add([MORE[0], changed])
    assert len(index) == len(open_index(index.folder)) == len(passages)
    report = index.add([MORE[0], changed], on_conflict="keep")
    assert str(report) == "1 new, 0 already present, 1 kept as they were"
    assert index["danube"] == passages[0]
    with pytest.raises(KeyError):
        index["nobody"]
    with pytest.raises(AspectragError, match="occurs twice"):
        index.add([MORE[1], MORE[1]])


def test_only_new_passages_are_encoded(tmp_path, fake_encoder, passages):
    encoder = fake_encoder()
    index = build(passages[:10], tmp_path / "index", "dense", encoder=encoder, progress=False)
    encoder.calls.clear()
    index.add(passages, progress=False)
    assert {text for call in encoder.calls for text in call} == {p.contents for p in passages[10:]}


def test_two_open_indexes_of_one_folder(tmp_path, passages):
    one = build(passages[:5], tmp_path / "index", "bm25")
    two = open_index(tmp_path / "index")
    one.add(passages[5:8])
    assert two.search(["river"], 1)[0][0].id in ("danube", "rhine")  # what it had open still answers
    assert two.add(passages[5:10]) == AddReport(added=2, present=3, kept=0)
    assert len(open_index(tmp_path / "index")) == 10
    assert len([path for path in (tmp_path / "index").iterdir() if path.is_dir()]) == 1


def test_a_failed_add_changes_nothing(tmp_path, fake_encoder, passages):
    class Fails(fake_encoder):
        def encode_passages(self, texts):
            if any("river" in text for text in texts):
                raise KeyboardInterrupt
            return super().encode_passages(texts)

    index = build(passages[2:], tmp_path / "index", "dense", encoder=Fails(), progress=False)
    with pytest.raises(KeyboardInterrupt):
        index.add(passages, progress=False)
    again = open_index(tmp_path / "index", fake_encoder())
    assert len(again) == len(index) == 10
    assert again.add(passages, progress=False).added == 2
