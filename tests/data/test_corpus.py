import io
import json
import sys

import pytest
from aspectrag.data.corpus import load_corpus, stream_corpus
from aspectrag.errors import AspectragError

LONG = " ".join(f"Sentence number {i} stands in this text." for i in range(100))


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_documents_are_cut_and_records_are_not(tmp_path):
    (tmp_path / "a.txt").write_text(LONG, encoding="utf-8")
    write(tmp_path / "b.jsonl", {"id": "r", "title": "T", "text": " ".join(LONG.split()[:300])})
    corpus = load_corpus(tmp_path)
    ids = [passage.id for passage in corpus]
    assert ids[0] == "a.txt#0"
    assert ids[-1] == "r"
    assert len(corpus) == len(ids) == len(set(ids)) > 7
    assert corpus.passages[0].meta == {
        "source": "a.txt",
        "document": "a.txt",
        "span": [0, len(corpus.passages[0].text)],
    }
    assert corpus.summary().startswith(f"{len(corpus)} passages; 2 documents from 2 files")


def test_long_records_are_cut_unless_forbidden(tmp_path):
    write(tmp_path / "b.jsonl", {"id": "r", "text": LONG})
    assert load_corpus(tmp_path).passages[0].id == "r#0"
    assert load_corpus(tmp_path, record_words=700).passages[0].id == "r"
    assert load_corpus(tmp_path, record_words=None).passages[0].id == "r"


def test_stream_gives_the_same_passages(tmp_path):
    (tmp_path / "a.txt").write_text(LONG, encoding="utf-8")
    stream = stream_corpus(tmp_path, chunk_words=50, overlap_words=10)
    assert tuple(stream) == load_corpus(tmp_path, chunk_words=50, overlap_words=10).passages
    assert stream.report.documents == 1


def test_passages_beside_the_document_they_were_cut_from(tmp_path):
    (tmp_path / "doc.txt").write_text(LONG, encoding="utf-8")
    cut = load_corpus(tmp_path)
    write(tmp_path / "exported.jsonl", *(passage.to_dict() for passage in cut), {"id": "doc.txt#1", "text": "other"})
    again = load_corpus(tmp_path)
    assert [passage.id for passage in again] == [passage.id for passage in cut]
    assert again.report.repeated == len(cut)
    assert again.report.clashing == 1
    with pytest.raises(AspectragError, match="duplicate id"):
        load_corpus(tmp_path, duplicates="error")


def test_sizes_are_checked_before_reading(tmp_path):
    with pytest.raises(AspectragError, match="overlap"):
        stream_corpus(tmp_path, chunk_words=10, overlap_words=10)


def test_no_bar_where_stderr_is_no_terminal(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    load_corpus(tmp_path)
    assert stream.getvalue() == ""


def test_bar_only_after_a_second_and_only_if_wanted(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for progress in (True, False):
        monkeypatch.setattr(sys, "stderr", stream := Terminal())
        load_corpus(tmp_path, progress=progress)
        assert stream.getvalue().strip() == ""
