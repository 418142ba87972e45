"""What metrics read of questions and answers, whole ones and ones that lack things."""

import dspy
import pytest
from aspectrag.data.benchmarks.benchmark import question
from aspectrag.data.passages import Passage
from aspectrag.optimizers.metrics.reading import (
    against,
    answers_of,
    parts_answers,
    passages_of,
    references_of,
    said,
    sub_answers_of,
)

PARTS = [
    {"question": "Why?", "answers": [" ", "cheap", "low in price"]},
    {"question": "What else?", "answers": []},
    {"question": "And?"},
    {"question": "So?", "answers": ["dirty"]},
]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1651 [1][2].", "1651."),
        ("In 1651 [1], or so [2; 3]", "In 1651, or so"),
        ("half \ud83d [1]", "half ?"),
        ("", ""),
        (None, ""),
    ],
)
def test_citations_are_no_words_of_an_answer(answer, expected):
    assert said(dspy.Prediction(answer=answer)) == expected


def test_parts_without_an_answer_are_left_out():
    example = question("q", "Why?", ["It is cheap."], sub_questions=PARTS)
    assert parts_answers(example) == [["cheap", "low in price"], ["dirty"]]
    assert sub_answers_of(example) == ["cheap", "dirty"]
    assert references_of(example) == answers_of(example) == ["It is cheap."]
    assert references_of(question("q", "Why?", sub_questions=PARTS)) == ["cheap dirty"]


def test_an_example_that_lacks_everything_has_nothing():
    bare = dspy.Example(question="Why?")
    assert answers_of(bare) == sub_answers_of(bare) == references_of(bare) == []
    assert references_of(question("q", "Why?", sub_questions=PARTS[1:3])) == []
    assert said(dspy.Prediction()) == ""
    assert passages_of(dspy.Prediction()) == []


def test_passages_count_once_where_they_first_stand():
    a, b, again = Passage("a", "", "first"), Passage("b", "", "second"), Passage("a", "", "third")
    assert passages_of(dspy.Prediction(passages=[a, b, again])) == [a, b]


def test_where_nothing_is_expected_there_is_no_score():
    score = against(answers_of, lambda text, answers: float(text in answers))
    assert score(question("q", "Why?", ["so"]), dspy.Prediction(answer="so [1]")) == 1
    assert score(question("q", "Why?"), dspy.Prediction(answer="so")) is None
