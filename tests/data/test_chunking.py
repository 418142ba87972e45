import time
from itertools import pairwise

import pytest
from aspectrag.data.chunking import chunk
from aspectrag.data.passages import Passage
from aspectrag.data.sentences import half_words, sentence_spans
from aspectrag.errors import AspectragError
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.sampled_from(
    ["word", "Dr.", "end.", "why?", "字", "字字。", "「は。」", "가다", "\n", "\n\n", "\u3000", "😀", "x" * 50]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=80).map(" ".join), st.lists(WORDS, max_size=80).map("".join), st.text())


def cut(text, **sizes):
    return list(chunk([Passage("d", "Title", text, meta={"source": "d.txt"})], **sizes))


def test_a_document_that_fits_stays_as_it_is():
    document = Passage("d", "Title", "One. Two.", meta={"x": 1})
    assert list(chunk([document], words=2, overlap=0)) == [document]


def test_chunks_know_where_they_come_from():
    text = "One is here. Two is here. Three is here."
    first, second = cut(text, words=6, overlap=3)
    assert (first.id, second.id) == ("d#0", "d#1")
    assert first.title == second.title == "Title"
    assert second.meta == {"source": "d.txt", "document": "d", "span": [13, 40]}
    assert second.text == text[13:40] == "Two is here. Three is here."


def test_overlap_is_whole_sentences_and_gives_way_to_new_text():
    text = " ".join(f"Sentence number {i} stands here." for i in range(20))
    chunks = cut(text, words=20, overlap=7)
    for before, after in pairwise(chunks):
        shared = text[after.meta["span"][0] : before.meta["span"][1]]
        assert half_words(shared) == 10
    assert all("span" in c.meta and c.text.endswith("here.") and c.text.startswith("Sentence") for c in chunks)
    wide = "A b c. " + "W" + " w" * 8 + " end. " + "Z z z."
    assert [c.text[:1] for c in cut(wide, words=10, overlap=5)] == ["A", "W", "Z"]


def test_no_overlap():
    text = " ".join(f"Sentence number {i}." for i in range(20))
    chunks = cut(text, words=9, overlap=0)
    assert " ".join(c.text for c in chunks) == text


def test_only_a_sentence_longer_than_a_chunk_is_cut():
    text = "Short one. " + "word " * 30 + "end. Last one."
    chunks = cut(text, words=10, overlap=0)
    assert chunks[0].text.startswith("Short one.")
    assert all(half_words(c.text) <= 20 for c in chunks)


def test_a_long_sentence_is_cut_at_its_lines_first():
    text = "\n".join(f"entry {i} of a list" for i in range(10))
    assert {len(c.text.split("\n")[0].split()) for c in cut(text, words=12, overlap=0)} == {5}


@pytest.mark.parametrize(
    "sentence",
    [
        "这是一个很长的中文句子，用来测试分块。",
        "これは文を切るための日本語の文です。",
        "이것은 문장을 자르기 위한 한국어 문장입니다. ",
    ],
)
def test_east_asian_texts(sentence):
    chunks = cut(sentence * 40, words=50, overlap=12)
    assert len(chunks) > 5
    assert all(80 <= half_words(c.text) <= 100 for c in chunks[:-1])
    assert all(c.text.endswith(sentence.strip()) and c.text.startswith(sentence[:3]) for c in chunks)


@given(TEXTS, st.integers(1, 12), st.integers(0, 11))
def test_nothing_is_lost_and_nothing_is_too_long(text, words, overlap):
    overlap = min(overlap, words - 1)
    chunks = cut(text, words=words, overlap=overlap)
    covered = set()
    for number, c in enumerate(chunks):
        if "span" not in c.meta:
            assert (c.text, len(chunks)) == (text, 1)
            return
        start, end = c.meta["span"]
        assert c.id == f"d#{number}"
        assert c.text == text[start:end] == text[start:end].strip()
        assert 0 < half_words(c.text) <= 2 * words
        covered.update(range(start, end))
    assert all(i in covered for i, character in enumerate(text) if not character.isspace())
    ends = [c.meta["span"][1] for c in chunks]
    assert ends == sorted(set(ends))
    for before, after in pairwise(chunks):
        shared = text[after.meta["span"][0] : before.meta["span"][1]]
        assert half_words(shared) <= 2 * overlap


@given(TEXTS)
def test_chunks_begin_and_end_with_sentences_that_fit(text):
    chunks = cut(text, words=10, overlap=3)
    sentences = [(s, e) for s, e in sentence_spans(text) if half_words(text, s, e) <= 20]
    for c in chunks:
        if "span" in c.meta:
            for edge in c.meta["span"]:
                inside = [
                    text[s:e] for s, e in sentences if s < edge < e and text[s:edge].strip() and text[edge:e].strip()
                ]
                assert not inside


def test_whole_spares_documents_up_to_its_size():
    text = " ".join(f"Sentence number {i}." for i in range(20))
    assert len(cut(text, words=10, overlap=0, whole=60)) == 1
    assert len(cut(text, words=10, overlap=0, whole=59)) > 1
    assert len(cut("One two. " * 6, words=100, overlap=0, whole=3)) == 1


@pytest.mark.parametrize(("words", "overlap"), [(0, 0), (-1, 0), (10, 10), (10, -1)])
def test_sizes_that_make_no_sense(words, overlap):
    with pytest.raises(AspectragError):
        cut("text", words=words, overlap=overlap)


@pytest.mark.parametrize(
    "unit", ["The fox met Dr. Smith. ", "word ", "a", "字", "字典里有字。", ". ", "\n a", "。」と", "\n- "]
)
def test_time_is_linear(unit):
    size = 400_000
    started = time.process_time()
    assert sum(1 for _ in chunk([Passage("d", "", unit * (size // len(unit)))])) > 10
    assert time.process_time() - started < 5
