import pytest
from aspectrag.data.readers.html import read_html
from aspectrag.data.readers.report import Ledger, UnreadableError
from aspectrag.data.readers.source import Source


@pytest.fixture
def read(tmp_path):
    def run(page, encoding="utf-8", name="page.html"):
        path = tmp_path / name
        path.write_bytes(page.encode(encoding) if isinstance(page, str) else page)
        [document] = read_html(Source(path, name), Ledger())
        return document

    return run


PARAGRAPHS = [
    "The Danube is the second longest river in Europe, and it flows through ten countries.",
    "It rises in the Black Forest in Germany and runs for 2,850 kilometres to the Black Sea.",
    "Four capitals lie on its banks: Vienna, Bratislava, Budapest and Belgrade, which is more than on any river.",
]
ARTICLE = (
    "<html><head><title>The Danube &amp;\n its banks</title><script>var secret = 1;</script></head><body>"
    "<nav><a href='/'>Home</a> <a href='/m'>Menu</a></nav><article><h1>Danube</h1>"
    + "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
    + "</article><footer>All rights reserved</footer></body></html>"
)


def test_main_text_and_title(read):
    document = read(ARTICLE)
    assert document.title == "The Danube & its banks"
    assert all(paragraph in document.text for paragraph in PARAGRAPHS)
    assert "secret" not in document.text
    assert "rights reserved" not in document.text


def test_fallback_shows_what_a_browser_shows(read, monkeypatch):
    monkeypatch.setattr("trafilatura.extract", lambda *_, **__: None)
    document = read("<html><head><title>T</title></head><body><script>evil()</script>tail<div>a <b>b</b></div></body>")
    assert document.text.split() == ["tail", "a", "b"]


def test_extractor_that_fails_costs_nothing(read, monkeypatch):
    def fail(*_, **__):
        raise ValueError("boom")

    monkeypatch.setattr("trafilatura.extract", fail)
    assert "Black Forest" in read(ARTICLE).text


def test_short_page_and_missing_title(read):
    document = read("<html><body><p>日本の首都は東京です。</p></body></html>")
    assert (document.title, document.text) == ("page", "日本の首都は東京です。")


def test_declared_encoding(read):
    page = "<html><head><meta charset='iso-8859-9'><title>Ğ</title></head><body><p>Dağ ışığı ve şarkı.</p></body>"
    assert read(page, "iso-8859-9").text == "Dağ ışığı ve şarkı."
    assert read(page.replace("iso-8859-9", "utf-16"), "utf-16").title == "Ğ"


def test_xml_declaration_and_external_entities(read, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("TOPSECRET", encoding="utf-8")
    document = read(
        f'<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Café</title></head>'
        "<body><p>Before &x; after, which is long enough.</p></body></html>",
        "latin-1",
    )
    assert document.title == "Café"
    assert "after" in document.text
    assert "TOPSECRET" not in document.text


@pytest.mark.parametrize("page", ["", " ", "<html></html>", "<html><body><script>x()</script></body></html>"])
def test_pages_without_text(read, page):
    with pytest.raises(UnreadableError):
        read(page)


def test_script_in_text_is_text(read):
    assert "<script>" in read("<html><body><p>Write &lt;script&gt; to run code in a page.</p></body></html>").text
