import pytest
from aspectrag.data.sentences import half_words, pieces, sentence_spans
from hypothesis import given
from hypothesis import strategies as st

TRICKY = st.text(
    st.one_of(st.sampled_from("aB.!?。！？ \n\t\u3000\xa0\u2028\"')」と1-#…字가😀\ud800\u0301"), st.characters()),
    max_size=80,
)


def split(text):
    return [text[start:end].strip() for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith met Mr. A. B. Cole.", "They left at 5 p.m. today."],
        ["We use it, e.g. in the U.S. Army and i.e. there.", "He paid 3.5 dollars."],
        ["See Fig. 3 and pp. 3-5 of No. 7.", "It was on Jan. 5 that it rained."],
        ["Is it?", "No.", "He left."],
        ['He said "Stop."', "Then (really!) he left.", "(Why?)", "Yes."],
        ["“Is it?” she asked.", "No… yes.", "Lee et al. (2020) said so!"],
        ["See example.com or v1.2.3 at 10.30.", "Done."],
        ["1. First item.", "2. Second item."],
        ["这是一个句子。", "这是第二句！", "真的吗？", "他说：“好。”", "是的。"],
        ["彼は「行く。」と言った。", "それから帰った。", "「はい。」", "「いいえ。」"],
        ["그는 갔다.", "그녀도 갔다!", "왜?", "네.", "모른다."],
        ["नमस्ते दुनिया।", "यह है।"],
        ["هل أنت هنا؟", "نعم.", "لا."],
        ["A line\nwraps here.", "Another one."],
    ],
)
def test_sentences(sentences):
    joint = "" if any(c in sentences[0] for c in "。」") else " "
    assert split(joint.join(sentences)) == sentences


def test_paragraphs_headings_and_list_items_end_a_sentence():
    assert split("Title without stop\n\nText\n- one\n- two\n# Head\n1) a") == [
        "Title without stop", "Text", "- one", "- two", "# Head", "1) a",
    ]  # fmt: skip


@given(TRICKY)
def test_spans_follow_each_other_and_cover_the_text(text):
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text
    assert all(start < end for start, end in sentence_spans(text))


@given(TRICKY, st.integers(1, 10))
def test_pieces_cover_the_sentence_within_the_limit(text, limit):
    parts = list(pieces(text, (0, len(text)), limit))
    assert "".join(text[start:end] for start, end in parts) == text
    assert all(half_words(text, *part) <= max(limit, 2) for part in parts)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n\u3000", 0),
        ("one two", 4),
        ("他走了。", 4),
        ("서울은 수도다", 6),
        ("ab中cd", 5),
        ("a" * 41, 6),
        ("😀", 2),
    ],
)
def test_half_words(text, count):
    assert half_words(text) == count
