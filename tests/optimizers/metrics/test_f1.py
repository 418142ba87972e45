"""F1: the words in common with the best of the answers, and what must hold between it, EM and Acc."""

import string
from collections.abc import Sequence

import pytest
from aspectrag.optimizers.metrics.accuracy import accuracy
from aspectrag.optimizers.metrics.exact_match import exact_match
from aspectrag.optimizers.metrics.f1 import f1
from hypothesis import given, settings
from hypothesis import strategies as st

# Words that often meet, so that equal, overlapping and contained texts all come up.
WORDS = ["the", "The", "a", "An", "yes", "No.", "noanswer", "Baltic", "baltic", "Sea!", "1651", "?", "富士山", "富"]
TEXTS = st.one_of(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), st.text(max_size=20))
# The words above that are ASCII, and any other ASCII, line ends and control characters included.
ASCII = st.one_of(
    st.lists(st.sampled_from([word for word in WORDS if word.isascii()]), max_size=6).map(" ".join),
    st.text(st.characters(codec="ascii"), max_size=20),
)


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("Vistula", ["Vistula"], 1),
        ("the vistula!", ["Wisła", "Vistula"], 1),
        ("King George VI", ["George VI"], 4 / 5),  # 2 in common, 3 said, 2 wanted
        ("King George VI", ["Albert", "George", "George VI"], 4 / 5),  # the best answer counts
        ("George", ["King George VI"], 1 / 2),
        ("to be or be", ["be be be"], 4 / 7),  # a word counts as often as both sides have it
        ("Sea Baltic", ["Baltic Sea"], 1),  # order does not count
        ("Oder", ["Vistula"], 0),
        ("富士", ["富士山"], 4 / 5),
        ("東京 タワー", ["東京タワー"], 1),
        ("", ["Vistula"], 0),
        ("Vistula", ["The"], 0),
        ("", ["The"], 1),  # nothing is left of either side: equal
        ("", [""], 1),
        ("Vistula", [], 0),
        ("", [], 0),
    ],
)
def test_values_by_hand(prediction, answers, expected):
    assert f1(prediction, answers) == pytest.approx(expected)


@pytest.mark.parametrize("verdict", ["yes", "no", "noanswer"])
def test_a_verdict_is_right_or_wrong_and_never_half(verdict):
    assert f1(f"{verdict.upper()}.", [verdict]) == 1
    assert f1(f"{verdict} it is", [verdict]) == 0
    assert f1(verdict, [f"{verdict} man"]) == 0
    # Among other words it is a word; and only the answer that it stands alone in is judged so.
    assert f1(f"{verdict} man", [f"{verdict} woman"]) == pytest.approx(1 / 2)
    assert f1(f"{verdict} man", [verdict, "man"]) == pytest.approx(2 / 3)


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_em_is_never_above_f1_or_acc(prediction, answers):
    em, overlap, acc = exact_match(prediction, answers), f1(prediction, answers), accuracy(prediction, answers)
    assert 0 <= em <= overlap <= 1
    assert em <= acc <= 1
    assert {em, acc} <= {0.0, 1.0}


@given(TEXTS, st.lists(TEXTS, max_size=3), TEXTS)
def test_another_answer_never_lowers_a_score(prediction, answers, another):
    for metric in (exact_match, f1, accuracy):
        apart = metric(prediction, answers), metric(prediction, [another])
        assert metric(prediction, [another, *answers]) == max(apart)


def squad_words(text: str) -> list[str]:
    """What SQuAD leaves of an ASCII text, character by character and not by a pattern."""
    kept = [char for char in text.lower() if char not in string.punctuation]
    return [word for word in "".join(kept).split() if word not in ("a", "an", "the")]


def squad(prediction: str, answers: Sequence[str]) -> tuple[float, float]:
    """EM and F1 as published: SQuAD's for words, HotpotQA's for verdicts."""
    best = (0.0, 0.0)
    for answer in answers:
        said, gold = squad_words(prediction), squad_words(answer)
        em = float(said == gold)
        left, common = list(gold), 0
        for word in said:
            if word in left:
                left.remove(word)
                common += 1
        verdicts = (["yes"], ["no"], ["noanswer"])
        if not said or not gold or said in verdicts or gold in verdicts:
            overlap = em
        elif not common:
            overlap = 0.0
        else:
            precision, recall = common / len(said), common / len(gold)
            overlap = 2 * precision * recall / (precision + recall)
        best = (max(best[0], em), max(best[1], overlap))
    return best


@settings(max_examples=1000)
@given(ASCII, st.lists(ASCII, max_size=3))
def test_ascii_scores_are_those_published(prediction, answers):
    em, overlap = squad(prediction, answers)
    assert exact_match(prediction, answers) == em
    assert f1(prediction, answers) == pytest.approx(overlap, abs=1e-9)


@pytest.mark.parametrize("answer", ["A", "The", "a.", "", "?"])
def test_an_answer_that_normalises_to_nothing_is_no_answer_that_everything_matches(answer):
    for metric in (exact_match, f1, accuracy):
        assert metric("Vistula", [answer]) == 0
        assert metric("Vistula", [answer, "Vistula"]) == 1
        assert metric("the", [answer]) == 1  # nothing is left of either side
