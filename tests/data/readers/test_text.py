import pytest
from aspectrag.data.readers.markdown import read_markdown
from aspectrag.data.readers.report import Ledger, UnreadableError
from aspectrag.data.readers.source import Source
from aspectrag.data.readers.text import read_text


@pytest.fixture
def source(tmp_path):
    def make(data, name="notes.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return Source(path, f"folder/{name}")

    return make


def test_text_is_one_document(source):
    [document] = read_text(source(b"One.\r\nTwo.\r\n"), Ledger())
    assert (document.id, document.title, document.text) == ("folder/notes.txt", "notes", "One.\nTwo.")
    assert document.meta == {"source": "folder/notes.txt"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_encodings(source, encoding):
    text = "Où est la bibliothèque ? Elle a été fermée."
    [document] = read_text(source(text.encode(encoding)), Ledger())
    assert document.text == text


@pytest.mark.parametrize("data", [b"", b" \r\n\t", b"\xef\xbb\xbf", " \n".encode("utf-16")])
def test_blank_files(source, data):
    with pytest.raises(UnreadableError):
        list(read_text(source(data), Ledger()))


def test_binary_under_a_text_name(source):
    with pytest.raises(UnreadableError, match="not a text file"):
        list(read_text(source(bytes(range(256)) * 40), Ledger()))


def test_damaged_utf8_is_noted(source):
    ledger = Ledger()
    [document] = read_text(source("Grüße 你好".encode() + b"\xff"), ledger)
    assert document.text.endswith("\ufffd")
    assert len(ledger.problems) == 1


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Danube\n\nA river.", "Danube"),
        ("Intro.\r\n\r\n#  The Danube #\r\nA river.", "The Danube"),
        ("## Only second level\nA river.", "notes"),
        ("#hashtag\nA river.", "notes"),
    ],
)
def test_markdown_title(source, text, title):
    [document] = read_markdown(source(text.encode(), "notes.md"), Ledger())
    assert document.title == title
    assert document.text == text.replace("\r\n", "\n")
