import gzip
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from aspectrag.data.readers import read
from aspectrag.data.readers.formats import FORMATS, Format
from aspectrag.errors import AspectragError

from .pdfs import encrypted_pdf, text_pdf


@pytest.fixture
def folder(tmp_path):
    """Files of every format and every kind of trouble."""
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / ".hidden").mkdir()
    (root / ".hidden" / "x.txt").write_text("hidden", encoding="utf-8")
    (root / ".x.txt").write_text("hidden", encoding="utf-8")
    (root / "b.txt").write_bytes("Café au lait, déjà bu.".encode("latin-1"))
    (root / "a.md").write_bytes(b"\xef\xbb\xbf# A\r\n\r\nText of a.")
    (root / "sub" / "page.HTML").write_text("<html><body><p>Page text here.</p></body></html>", encoding="utf-16")
    (root / "sub" / "r.pdf").write_bytes(text_pdf("One.", "Two."))
    (root / "sub" / "locked.pdf").write_bytes(encrypted_pdf("Hidden.", "secret"))
    (root / "sub" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (root / "sub" / "blank.txt").write_text(" \n", encoding="utf-8")
    (root / "c.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "text": "one"}\n{broken\n'))
    (root / "photo.png").write_bytes(b"\x89PNG")
    (root / "letter.docx").write_bytes(b"PK")
    (root / "other.docx").write_bytes(b"PK")
    (root / "Makefile").write_text("all:", encoding="utf-8")
    return root


def test_folder(folder):
    reading = read(folder)
    documents = list(reading)
    assert [document.id for document in documents] == [
        "a.md", "b.txt", "1", "sub/page.HTML", "sub/r.pdf#page=1", "sub/r.pdf#page=2",
    ]  # fmt: skip
    report = reading.report
    assert (report.files, report.documents) == (5, 6)
    assert report.skipped == {".png": 1, ".docx": 2, "": 1}
    assert sorted((Path(p.path).name, p.line) for p in report.problems) == [
        ("blank.txt", None), ("broken.pdf", None), ("c.jsonl.gz", 2), ("locked.pdf", None),
    ]  # fmt: skip
    summary = report.summary()
    assert "\n" not in summary
    for part in ("6 documents from 5 files", "4 problems", "4 files of unknown kind skipped", ".docx 2"):
        assert part in summary


def test_reading_twice_gives_the_same(folder):
    reading = read(folder)
    assert list(reading) == list(reading)
    assert reading.report.documents == 6


def test_order_of_paths_is_kept_and_a_file_is_read_once(folder):
    ids = [document.id for document in read([folder / "b.txt", str(folder), folder / "sub"])]
    assert ids[0] == "b.txt"
    assert len(ids) == len(set(ids)) == 6


def test_same_name_in_two_folders(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "readme.md").write_text(f"Text of {name}", encoding="utf-8")
    assert [d.id for d in read([tmp_path / "one", tmp_path / "two"])] == ["readme.md", "two/readme.md"]
    assert [d.id for d in read([tmp_path / "one" / "readme.md", tmp_path / "two" / "readme.md"])] == [
        "readme.md", "two/readme.md",
    ]  # fmt: skip
    assert [d.id for d in read(tmp_path)] == ["one/readme.md", "two/readme.md"]


def test_links_to_folders_are_not_followed(tmp_path):
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "dangling.txt").symlink_to(tmp_path / "nowhere.txt")
    assert [document.id for document in read(tmp_path)] == ["a.txt"]


def test_missing_path_is_said_at_once(tmp_path):
    with pytest.raises(AspectragError, match=r"no such file or folder: .*nowhere") as info:
        read([tmp_path, tmp_path / "nowhere"])
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("names", [[], ["photo.png"], ["blank.txt"], ["photo.png", "blank.txt", "empty.jsonl"]])
def test_nothing_to_read_is_one_error_that_says_why(tmp_path, names):
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(AspectragError) as info:
        list(read(tmp_path))
    message = str(info.value)
    assert "\n" not in message
    assert str(tmp_path) in message
    assert ".jsonl.gz" in message
    assert ("empty file" in message) == any(name != "photo.png" for name in names)


def test_no_paths_at_all():
    with pytest.raises(AspectragError):
        list(read([]))


def test_file_of_unknown_kind_given_by_name(folder):
    reading = read([folder / "letter.docx", folder / "b.txt"])
    assert len(list(reading)) == 1
    assert "no reader" in reading.report.problems[0].reason


def test_unreadable_file_does_not_stop_the_rest(folder, monkeypatch):
    def refuse(source, ledger):
        raise PermissionError(13, "Permission denied")
        yield

    monkeypatch.setitem(FORMATS, ".md", Format(refuse))
    reading = read(folder)
    assert len(list(reading)) == 5
    assert "Permission denied" in reading.report.summary()


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def doubles(tmp_path):
    write(
        tmp_path / "c.jsonl",
        {"id": "1", "text": "one"},
        {"id": 1, "text": "one"},
        {"id": "1", "text": "other"},
        {"id": "2", "text": "one"},
        {"id": "3", "title": "T", "text": "one"},
    )
    return tmp_path / "c.jsonl"


def test_first_of_each_id_is_kept(doubles):
    reading = read(doubles)
    assert [document.id for document in reading] == ["1", "2", "3"]
    report = reading.report
    assert (report.repeated, report.clashing, report.twins) == (1, 1, 1)
    assert [problem.line for problem in report.problems] == [3]
    assert "1 repeated; 1 with an id already taken; 1 with the text of another id" in report.summary()


def test_distinct_leaves_out_twins_too(doubles):
    assert [document.id for document in read(doubles, duplicates="distinct")] == ["1", "3"]


def test_error_names_id_and_place(doubles):
    with pytest.raises(AspectragError, match=r"duplicate id '1' in .*c\.jsonl, line 2"):
        list(read(doubles, duplicates="error"))


def test_unknown_policy(doubles):
    with pytest.raises(AspectragError, match="first, distinct, error"):
        read(doubles, duplicates="newest")  # pyright: ignore[reportArgumentType]


SCRIPT = textwrap.dedent("""
    import json, sys
    from aspectrag.data.corpus import load_corpus
    corpus = load_corpus(sys.argv[1])
    sys.stdout.write(json.dumps([passage.to_dict() for passage in corpus]))
    sys.stderr.write(corpus.summary())
""")


@pytest.mark.parametrize("utf8", ["0", "1"])
def test_locale_has_no_say(folder, utf8):
    (folder / "größe €.txt").write_text("Größe in € 😀", encoding="utf-8")
    (folder / "한국.txt").write_bytes("대한민국의 수도는 서울이다.".encode("cp949"))
    (folder / "bad €.jsonl").write_text("{broken", encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": utf8, "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, os.fsencode(folder)], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    passages = {passage["id"]: passage["text"] for passage in json.loads(done.stdout)}
    assert passages == {document.id: document.text for document in read(folder)}
    assert passages["größe €.txt"] == "Größe in € 😀"
    assert passages["한국.txt"] == "대한민국의 수도는 서울이다."
    assert list(passages) == [document.id for document in read(folder)]
