import json
import shutil
from typing import Any

import pytest
from aspectrag.data.index import Analyzer, IndexSettings, build, corpus_hash, manifest, open_index
from aspectrag.data.index.workshop import open_workshop
from aspectrag.data.passages import Passage
from aspectrag.errors import AspectragError


@pytest.fixture
def folder(tmp_path, passages, static_model):
    build(passages, tmp_path / "index", "hybrid", encoder=static_model, progress=False)
    return tmp_path / "index"


def change(folder, **values):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


def refused(folder, *words, **options):
    with pytest.raises(AspectragError) as error:
        open_index(folder, **options)
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message
    return message


def test_says_what_it_is_made_of(folder, static_model, passages):
    info = open_index(folder, static_model).info()
    json.dumps(info)
    assert info["kind"] == "hybrid"
    assert info["count"] == len(passages)
    assert info["corpus_hash"] == corpus_hash(passages)
    assert info["encoder"]["name"] == "static"
    assert len(info["encoder"]["weights"]) == 64
    assert info["dimension"] == 24
    assert info["settings"]["analyzer"] == {"language": "english", "stop_words": True}
    assert {"bm25s", "PyStemmer", "faiss-cpu", "sentence-transformers"} <= set(info["libraries"])
    assert info["bytes"] > 1000


def test_the_encoder_is_found_again_where_it_was(folder):
    assert open_index(folder).search(["river"], 1)


def test_another_encoder(folder, other_model):
    refused(folder, "encoder static (weights", "given is other (weights", "build the index again", encoder=other_model)


def test_the_encoder_moved_away(folder, tmp_path, make_model, passages):
    model = make_model(tmp_path / "gone")
    build(passages, tmp_path / "second", "dense", encoder=model, progress=False)
    shutil.move(model, tmp_path / "moved")
    refused(tmp_path / "second", "encoder gone", "not in", "give that encoder")
    assert open_index(tmp_path / "second", tmp_path / "moved").search(["river"], 1)


def test_an_encoder_object_must_be_given_again(tmp_path, fake_encoder, passages):
    build(passages, tmp_path / "index", "dense", encoder=fake_encoder(), progress=False)
    refused(tmp_path / "index", "encoder fake", "none is given")


def test_another_cross_encoder(tmp_path, folder, cross_model, static_model, passages):
    build(passages, tmp_path / "reranked", "reranked", cross_encoder=cross_model)
    copy = tmp_path / "changed-cross"
    shutil.copytree(cross_model, copy)
    with (copy / "model.safetensors").open("ab") as file:
        file.write(b"x")
    refused(tmp_path / "reranked", "cross-encoder tiny-cross", "given is changed-cross", cross_encoder=copy)
    refused(folder, "without a cross-encoder", encoder=static_model, cross_encoder=cross_model)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (IndexSettings(analyzer=Analyzer("german")), ("language='english'", "language='german'")),
        (IndexSettings(k1=1.2), ("k1 1.5", "1.2")),
        (IndexSettings(vectors="hnsw"), ("vectors flat", "hnsw")),
    ],
)
def test_other_settings(folder, settings, words):
    refused(folder, *words, "build it again", settings=settings)
    assert open_index(folder, settings=IndexSettings())


def test_another_corpus(folder, passages):
    other = [*passages[1:], Passage("new", "", "x")]
    refused(folder, corpus_hash(passages)[:12], corpus_hash(other)[:12], "build it again", corpus=other)
    refused(folder, corpus_hash(passages)[:12], "0" * 12, corpus="0" * 64)
    assert open_index(folder, corpus=reversed(passages))


@pytest.mark.parametrize(
    ("library", "version"), [("bm25s", "0.2.14"), ("PyStemmer", "2.0.1"), ("faiss-cpu", "0.9"), ("bm25s", "1.0")]
)
def test_another_library(tmp_path, passages, fake_encoder, library, version):
    texts = [Passage(str(i), "", f"text {i}") for i in range(100)]
    settings = IndexSettings(vectors="ivf")
    folder = tmp_path / "index"
    build(texts, folder, "hybrid", encoder=fake_encoder(), settings=settings, progress=False)
    here = manifest.library_versions()
    change(folder, libraries={**here, library: version})
    refused(folder, f"{library} {version}", f"installed is {here[library]}", encoder=fake_encoder())


def test_a_small_change_of_a_library_is_fine(folder):
    here = manifest.library_versions()
    change(folder, libraries={**here, "PyStemmer": here["PyStemmer"] + ".99", "numpy": "1.0"})
    assert open_index(folder)


def test_no_folder(tmp_path):
    refused(tmp_path / "nowhere", "nowhere", "no such folder", "build it first")


def test_foreign_folder(tmp_path):
    (tmp_path / "file.txt").write_text("x", encoding="utf-8")
    refused(tmp_path, "not an index", "build it again")
    with pytest.raises(AspectragError, match="files that are no index"):
        build([], tmp_path, "bm25", overwrite=True)
    for text, says in (("{", "not readable"), ("[]", "something else"), ('{"format": "other"}', "something else")):
        (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
        refused(tmp_path, says)


def test_other_format_version(folder):
    change(folder, version=99)
    refused(folder, "format version 99", f"this program reads {manifest.FORMAT_VERSION}")


def test_incomplete_manifest(folder):
    path = folder / "manifest.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["generation"]
    path.write_text(json.dumps(data), encoding="utf-8")
    refused(folder, "incomplete", "generation")


@pytest.mark.parametrize("name", ["passages/passages.utf8", "dense/vectors.npy", "bm25/vocab.index.json"])
def test_damaged(folder, name):
    file = next(folder.rglob(name))
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[:-1])
    refused(folder, name, f"{size - 1} bytes long, not {size}")
    file.unlink()
    refused(folder, name, "missing", "build it again")


def test_an_index_is_not_overwritten_unasked(folder, passages):
    with pytest.raises(AspectragError, match="holds an index of 12 passages"):
        build(passages, folder, "bm25")
    assert open_index(folder).manifest.kind == "hybrid"
    assert build(passages[:3], folder, "bm25", overwrite=True).manifest.kind == "bm25"
    assert len(open_index(folder)) == 3


def test_a_build_that_fails_leaves_nothing(tmp_path, passages):
    def broken():
        yield passages[0]
        raise OSError("disk on fire")

    with pytest.raises(OSError, match="fire"):
        build(broken(), tmp_path / "index", "bm25")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(AspectragError, match="occurs twice"):
        build([passages[0], passages[0]], tmp_path / "index", "bm25")
    (tmp_path / "index").mkdir()
    assert len(build(passages, tmp_path / "index", "bm25")) == len(passages)  # an empty folder is welcome


def test_two_builds_at_once(tmp_path, passages):
    with (
        open_workshop(tmp_path / "index"),
        pytest.raises(AspectragError, match="another build"),
    ):
        build(passages, tmp_path / "index", "bm25")


def test_a_file_in_the_way(tmp_path, passages):
    (tmp_path / "index").write_text("x", encoding="utf-8")
    with pytest.raises(AspectragError, match="is a file"):
        build(passages, tmp_path / "index", "bm25")


def test_out_of_range():
    wrong: list[dict[str, Any]] = [{"k1": -1}, {"b": 2}, {"vectors": "pq"}, {"rerank_base": "x"}, {"nprobe": 0}]
    for values in wrong:
        with pytest.raises(AspectragError):
            IndexSettings(**values)
    with pytest.raises(AspectragError, match="no index kind 'x'"):
        build([], "unused", "x")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("values", [{"files": None}, {"files": {}}, {"generation": None}, {"generation": "../other"}])
def test_a_manifest_edited_by_hand_is_refused(folder, values):
    change(folder, **values)
    refused(folder, "build")


@pytest.mark.parametrize(
    "name", ["bm25/vocab.index.json", "bm25/params.index.json", "passages/bounds.npy", "passages/passages.utf8"]
)
def test_files_overwritten_with_as_many_other_bytes_are_refused(folder, name):
    generation = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["generation"]
    file = folder / generation / name
    file.write_bytes(b"\xff" * file.stat().st_size)
    with pytest.raises(AspectragError, match=r"is damaged .*: build it again"):
        open_index(folder).search(["river", "danube", "mountain", "tower"], 5)
