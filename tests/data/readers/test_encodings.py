import pytest
from aspectrag.data.readers.encodings import decode, detect, tidy, wide_encoding

TEXTS = {
    "latin-1": ["Café à la crème.", "Où est la bibliothèque ?", "naïve", "Müller grüßt die Straße"],
    "cp1252": ["“Smart” quotes – café’s naïve", "Prix : 10 € pour le café"],
    "cp1250": ["Praha je hlavní město České republiky. Žluťoučký kůň"],
    "cp1251": ["Москва является столицей России."],
    "koi8-r": ["Москва является столицей России."],
    "cp1253": ["Η Αθήνα είναι η πρωτεύουσα της Ελλάδας."],
    "cp1254": ["Türkiye'nin başkenti Ankara'dır. ığüşöç İstanbul"],
    "cp949": ["안녕하세요", "대한민국의 수도는 서울이다. 한강이 흐른다."],
    "euc-jp": ["日本の首都は東京です。人口は多い。"],
    "shift_jis": ["日本の首都は東京です。人口は多い。", "こんにちは"],
    "gbk": ["中国的首都是北京。长江是最长的河流。"],
    "big5": ["台灣的首都是台北。人口很多。"],
}


@pytest.mark.parametrize(("encoding", "text"), [(e, t) for e, texts in TEXTS.items() for t in texts])
@pytest.mark.parametrize("repeats", [1, 20])
def test_legacy_encodings_are_recognised(encoding, text, repeats):
    lead = "The text in plain English goes first. " if repeats > 1 else ""
    whole = f"{lead}{text}\n" * repeats
    assert decode(whole.encode(encoding)) == (whole, False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_unicode_encodings(encoding):
    assert decode("Grüße aus Köln 😀\n".encode(encoding)) == ("Grüße aus Köln 😀\n", False)


def test_utf8_with_a_damaged_byte_stays_utf8_and_says_so():
    assert decode("Grüße, 你好 é".encode() + b"\xff!") == ("Grüße, 你好 é\ufffd!", True)


def test_declared_encoding_comes_after_utf8_and_before_detection():
    assert decode("Ísland þjóð".encode("latin-1"), "iso-8859-1")[0] == "Ísland þjóð"
    assert decode("Ísland".encode(), "iso-8859-1")[0] == "Ísland"
    assert decode("Où est la bibliothèque ?".encode("latin-1"), "no-such-encoding")[0] == "Où est la bibliothèque ?"


def test_binary_is_not_text():
    data = bytes(range(256)) * 40
    assert detect(data) is None
    with pytest.raises(UnicodeError):
        decode(data)


def test_wide_encoding_needs_evidence():
    assert wide_encoding(b"") is None
    assert wide_encoding(b"plain") is None
    assert wide_encoding(b"\x00" * 40) is None


def test_tidy_line_ends_and_surrogates():
    assert tidy(" a\r\nb\rc \n") == "a\nb\nc"
    assert tidy("a\ud83db") == "a\ufffdb"
    assert tidy("a\u2028b 😀") == "a\u2028b 😀"
