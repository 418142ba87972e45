import subprocess
import sys

import pytest
from aspectrag.data.index import Analyzer, analyzer
from aspectrag.errors import AspectragError

ENGLISH = Analyzer()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rivers flowing", "river FLOWS"),
        ("ＦＵＬＬ", "full"),
        ("Pekar’s", "pekar's"),
        ("soft\u00adhyphen", "softhyphen"),
        ("STRASSE", "straße"),
        ("ΟΔΟΣ", "οδος"),
        ("ｶﾞ", "ガ"),
        ("cafe\u0301", "café"),
    ],
)
def test_forms_of_one_word_are_one_term(one, other):
    assert ENGLISH.tokens(one) == ENGLISH.tokens(other) != []


def test_stop_words_and_stems_follow_the_language():
    assert ENGLISH.tokens("the of and Italy") == ["itali"]
    assert Analyzer(stop_words=False).tokens("the Italy") == ["the", "itali"]
    assert Analyzer("none").tokens("The rivers") == ["the", "rivers"]
    assert Analyzer("russian").tokens("столицей") == Analyzer("russian").tokens("столица")
    with pytest.raises(AspectragError, match=r"klingon.*english"):
        Analyzer("klingon")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("東京都", ["東京", "京都"]),
        ("京", ["京"]),
        ("서울에서 왔다", ["서울", "울에", "에서", "왔다"]),
        ("iPhone手机壳2", ["iphon", "手机", "机壳", "2"]),
        ("สวัสดี", ["สวั", "วัส", "สดี"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مُحَمَّد في", ["مُحَمَّد", "في"]),
        ("Привет, мир", ["привет", "мир"]),
        ("go 🎉!", ["go", "🎉"]),
    ],
)
def test_scripts(text, terms):
    assert ENGLISH.tokens(text) == terms


@pytest.mark.parametrize("text", ["", "  \n", "?!…", "\ud800", "\ufe0f"])
def test_nothing_to_say(text):
    assert ENGLISH.tokens(text) == []


def test_numbers_agree_with_tokens_and_count_up():
    texts = ["The Danube river", "", "rivers of 東京都"]
    numbers, vocabulary = ENGLISH.number(texts)
    names = {number: term for term, number in vocabulary.items()}
    assert [[names[n] for n in row] for row in numbers] == [ENGLISH.tokens(text) for text in texts]
    assert list(vocabulary.values()) == list(range(len(vocabulary)))


def test_memory_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(analyzer, "_MAX_CACHED_WORDS", 10)
    fresh = Analyzer()
    for i in range(35):
        fresh.tokens(f"word{i}")
    assert len(fresh._terms) <= 10


def test_bm25_imports_no_torch():
    code = (
        "import sys, tempfile; from aspectrag.data.index import build; from aspectrag.data.passages import Passage;"
        "build([Passage('1', '', 'x y')], tempfile.mkdtemp(), 'bm25').search(['x'], 1);"
        "print([m for m in ('torch', 'faiss', 'transformers', 'sentence_transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
