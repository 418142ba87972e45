"""answer_hit@k: a passage that holds an answer in whole words."""

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.optimizers.metrics.answer_hit import answer_hit, answer_hit_at


@pytest.mark.parametrize(
    ("texts", "answers", "expected"),
    [
        (["It flows into the Baltic Sea."], ["baltic sea"], 1),
        (["Nothing.", "Into the\nBaltic  Sea, slowly"], ["Oder", "The Baltic Sea"], 1),
        (["Baltic", "Sea"], ["Baltic Sea"], 0),  # in one passage
        (["It was 16510"], ["1651"], 0),  # words, not characters
        (["その山は富士山です。"], ["富士山"], 1),
        (["U.S. Army"], ["us army"], 1),
        (["anything"], ["The", "", "?"], 0),
        ([], ["Baltic"], 0),
        (["Baltic"], [], 0),
    ],
)
def test_values_by_hand(texts, answers, expected):
    assert answer_hit(texts, answers) == expected


def test_of_the_first_passages_titles_are_read_too():
    read = dspy.Prediction(
        passages=[Passage("a", "", "No."), Passage("a", "", "No."), Passage("b", "Vistula", "River")]
    )
    asked = question("q", "Which?", ["Vistula"])
    assert answer_hit_at(1).columns(asked, read) == {"answer_hit@1": 0}
    assert answer_hit_at(2).columns(asked, read) == {"answer_hit@2": 1}
    assert answer_hit_at(2).columns(asked, dspy.Prediction(passages=[])) == {"answer_hit@2": 0}


@pytest.mark.parametrize("answers", [[], ["yes"], ["No."]])
def test_it_does_not_apply_to_verdicts(answers):
    read = dspy.Prediction(passages=[Passage("a", "", "No, yes.")])
    assert answer_hit_at(5).columns(question("q", "Is it?", answers), read) == {}
