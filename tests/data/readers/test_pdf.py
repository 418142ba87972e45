import pytest
from aspectrag.data.readers.pdf import read_pdf
from aspectrag.data.readers.report import Ledger, UnreadableError
from aspectrag.data.readers.source import Source
from pypdf import PageObject

from .pdfs import encrypted_pdf, text_pdf


@pytest.fixture
def read(tmp_path):
    def run(data):
        path = tmp_path / "report.pdf"
        path.write_bytes(data)
        ledger = Ledger()
        return list(read_pdf(Source(path, "folder/report.pdf"), ledger)), ledger.report().problems

    return run


def test_pages_are_documents_that_know_their_number(read):
    documents, problems = read(text_pdf("First page.", "Second page.", title="Annual report"))
    assert [(d.id, d.text, d.meta["page"]) for d in documents] == [
        ("folder/report.pdf#page=1", "First page.", 1),
        ("folder/report.pdf#page=2", "Second page.", 2),
    ]
    assert {d.title for d in documents} == {"Annual report"}
    assert documents[0].meta["source"] == "folder/report.pdf"
    assert not problems


def test_title_falls_back_to_the_name(read):
    [document], _ = read(text_pdf("Text."))
    assert document.title == "report"


def test_page_without_text_is_named(read):
    documents, [problem] = read(text_pdf("First.", None, "Third."))
    assert [d.meta["page"] for d in documents] == [1, 3]
    assert problem.page == 2


def test_pdf_without_any_text(read):
    with pytest.raises(UnreadableError, match="no text on its 2 pages"):
        read(text_pdf(None, None))


def test_encrypted(read):
    with pytest.raises(UnreadableError, match="password"):
        read(encrypted_pdf("Hidden.", "secret"))


def test_encrypted_with_the_empty_password_opens(read):
    [document], _ = read(encrypted_pdf("Not hidden.", ""))
    assert document.text == "Not hidden."


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4\n", b"plain text", text_pdf("A.")[:100], b"%PDF-1.4\n\x00\xff" * 50])
def test_broken(read, data):
    with pytest.raises(UnreadableError):
        read(data)


def test_a_damaged_page_does_not_cost_the_others(read, monkeypatch):
    extract = PageObject.extract_text

    def fail_on_first(page, *args, **kwargs):
        text = extract(page, *args, **kwargs)
        if "First" in text:
            raise KeyError("/Font")
        return text

    monkeypatch.setattr(PageObject, "extract_text", fail_on_first)
    [document], [problem] = read(text_pdf("First.", "Second."))
    assert document.meta["page"] == 2
    assert problem.page == 1
    assert "unreadable page" in problem.reason
