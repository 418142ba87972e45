"""ROUGE: the values of its usual implementation for ASCII, and the same idea in every other script."""

import random

import pytest
from aspectrag.optimizers.metrics.rouge import VARIANTS, rouge, rouge_lsum, rouge_recall, rouge_tokens
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

# Words that meet, in a different case and with signs around them, and such as hold no word at all.
WORDS = ["the", "The", "cat", "cats", "running", "it's", "co-op", "1,000", "U.S.", "x_y", "--", "?", "A", "sat.", "42"]
SENTENCES = {
    "Latin": "Crème brûlée is a dessert from France.",
    "Chinese": "人工智能改变了世界。",
    "Arabic": "القاهرة عاصمة مصر وأكبر مدينة فيها.",
    "Korean": "서울은 대한민국의 수도이다.",
    "Hindi": "दिल्ली भारत की राजधानी है।",
    "Japanese": "東京都は日本の首都である。",
    "Thai": "กรุงเทพ เป็นเมืองหลวง",
}
TEXTS = st.one_of(st.lists(st.sampled_from([*WORDS, "猫", "坐", "मेल"]), max_size=8).map(" ".join), st.text(max_size=20))


def ascii_texts(count):
    draw = random.Random(0)
    signs = [chr(code) for code in range(128)]
    for _ in range(count):
        words = draw.choices(WORDS, k=draw.randrange(12))
        yield " ".join(words) + "".join(draw.choices(signs, k=draw.randrange(6)))


def test_for_ascii_it_equals_the_usual_implementation():
    scorer = RougeScorer(list(VARIANTS), use_stemmer=False)
    texts = iter(ascii_texts(2000))
    scored = 0
    for prediction, reference in zip(texts, texts, strict=True):
        expected = scorer.score(reference, prediction)
        recall = rouge_recall(prediction, reference)
        for variant in VARIANTS:
            assert rouge(prediction, [reference], variant) == pytest.approx(expected[variant].fmeasure, abs=1e-9)
            assert recall[variant] == pytest.approx(expected[variant].recall, abs=1e-9)
        scored += 0 < expected["rougeL"].fmeasure < 1
    assert scored > 500  # the cases do compare something


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("the cat sat", "the cat lay down", (4 / 7, 2 / 5, 4 / 7)),
        ("down lay the cat", "the cat lay down", (1, 1 / 3, 1 / 2)),
        ("cat cat cat", "the cat", (2 / 5, 0, 2 / 5)),  # a word counts as often as both sides have it
        ("Running", "run", (0, 0, 0)),  # no stemming
        ("cat", "cat", (1, 0, 1)),  # one word has no pair
        ("他走了", "她走了", (2 / 3, 1 / 2, 2 / 3)),
        ("東京タワー", "東京 タワー", (1, 1, 1)),
        ("학교에 간다", "학교에 왔다", (1 / 2, 0, 1 / 2)),
        ("भारत की राजधानी", "भारत का नक्शा", (1 / 3, 0, 1 / 3)),
        ("ＡＢＣ ﬁve", "abc five", (1, 1, 1)),
        ("nai\u0308ve art", "na\u00efve art", (1, 1, 1)),
    ],
)
def test_values_by_hand(prediction, reference, expected):
    assert tuple(rouge(prediction, [reference], variant) for variant in VARIANTS) == pytest.approx(expected)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("text", SENTENCES.values(), ids=SENTENCES)
def test_a_text_equals_itself_in_every_script(text, variant):
    assert rouge(text, [text], variant) == 1
    assert rouge(text.upper(), [f"  «{text}» "], variant) == 1
    assert rouge_recall(f"{text} {text}", text, [variant]) == {variant: 1}


def test_scripts_without_blanks_are_compared_by_character():
    assert rouge_tokens("我爱猫,I love 猫!") == ("我", "爱", "猫", "i", "love", "猫")
    assert rouge_tokens("राजधानी है।") == ("राजधानी", "है")  # vowel signs belong to their words


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("blank", ["", " \n", "?!", "。", "—", "🎉"])
def test_where_one_side_has_no_word_nothing_is_shared(blank, variant):
    assert rouge(blank, ["the cat"], variant) == 0
    assert rouge("the cat", [blank], variant) == 0
    assert rouge(blank, [blank], variant) == 0
    assert rouge_recall(blank, "the cat", [variant]) == rouge_recall("the cat", blank, [variant]) == {variant: 0}


def test_the_best_reference_counts():
    assert rouge("the cat sat", ["a dog", "the cat sat", "cat"], "rouge2") == 1
    assert rouge("the cat sat", [], "rouge1") == 0


def test_recall_is_of_the_reference_however_much_else_is_said():
    assert rouge_recall("the cat sat on a mat all day", "cat on mat") == pytest.approx(
        {"rouge1": 1, "rouge2": 0, "rougeL": 1}
    )
    assert rouge_recall("cat", "cat on mat", ["rougeL"]) == pytest.approx({"rougeL": 1 / 3})


@given(TEXTS, TEXTS, st.sampled_from(VARIANTS))
def test_f1_is_symmetrical_and_bounded(one, other, variant):
    score = rouge(one, [other], variant)
    assert score == rouge(other, [one], variant)
    assert 0 <= score <= 1
    assert rouge(one, [other, one], variant) >= score
    assert rouge(one, [one], variant) == (len(rouge_tokens(one)) >= (2 if variant == "rouge2" else 1))


def test_summaries_equal_the_usual_implementation_where_each_line_is_a_sentence():
    scorer, draw, scored = RougeScorer(["rougeLsum"], use_stemmer=False), random.Random(1), 0
    plain = [word for word in WORDS if not word.endswith((".", "?"))]

    def text():
        return "\n".join(" ".join(draw.choices(plain, k=draw.randrange(7))) for _ in range(draw.randrange(1, 5)))

    for _ in range(1000):
        prediction, reference = text(), text()
        expected = scorer.score(reference, prediction)["rougeLsum"].fmeasure
        assert rouge_lsum(prediction, [reference]) == pytest.approx(expected, abs=1e-9)
        scored += 0 < expected < 1
    assert scored > 500


@pytest.mark.parametrize("text", SENTENCES.values(), ids=SENTENCES)
def test_of_summaries_the_order_of_sentences_does_not_count(text):
    other = "2 4 6 8. "
    assert rouge_lsum(text, [text]) == 1
    assert rouge_lsum(f"{other}{text}", [f"{text} {other}"]) == 1


def test_summaries_by_hand():
    # Each sentence of the reference takes the words of it that any sentence of the prediction has in that order.
    said, reference = "Coal is cheap. Wind is clean.", "Wind is cheap."
    assert rouge_lsum(said, [reference]) == pytest.approx(2 * (3 / 6) * (3 / 3) / (3 / 6 + 1))
    assert rouge_lsum("", ["Wind."]) == rouge_lsum("Wind.", []) == rouge_lsum("?!", ["?!"]) == 0
    assert rouge_lsum("Wind.", ["Coal.", "Wind."]) == 1
