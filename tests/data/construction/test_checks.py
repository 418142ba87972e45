"""Which questions of a model are kept, and which are refused for what."""

import pytest
from aspectrag.data.construction.checks import QuestionError, check_easy, check_joined

PASSAGE = "The Moldau bridge of Ruhla was opened in 1869 by the engineer Anna Weiss. It has nine arches."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the bridge of Ruhla opened?", "1869"),
        ("Who opened the Ruhla bridge in 1869?", "anna weiss"),
        ("How many arches span the river at Ruhla?", "nine"),
        ("Which engineer did the Moldau get in 1869?", "Anna Weiss"),  # stands alone, without the entity
    ],
)
def test_good_questions(question, answer):
    check_easy(question, answer, PASSAGE, "Ruhla bridge")


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("  ", "1869", "the question is blank"),
        ("When was Ruhla\nopened?", "1869", "more than one line"),
        ("Tell me about Ruhla.", "1869", "does not end as a question"),
        ("When did the passage say Ruhla was opened?", "1869", "speaks of 'the passage'"),
        ("When was the Ruhla bridge opened?", " . ", "the answer is blank"),
        ("When was the Ruhla bridge opened?", "1870", "the answer '1870' is not in the passage"),
        ("How was Ruhla opened?", "opened in 1869 by the engineer Anna", "has more than 6 words"),
        ("Was Ruhla opened in 1869?", "1869", "contains its answer '1869'"),
        ("How many arches does it have?", "nine", "does not say what it is about"),
        ("Who did this in 1870 at Prague?", "Anna Weiss", "does not say what it is about"),
        ("Ruhla " + "very " * 30 + "old?", "nine", "has more than 30 words"),
    ],
)
def test_bad_questions(question, answer, reason):
    with pytest.raises(QuestionError) as caught:
        check_easy(question, answer, PASSAGE, "Ruhla bridge")
    assert reason in str(caught.value)


def test_part_of_a_word_is_no_answer():
    with pytest.raises(QuestionError, match="'arch' is not in the passage"):
        check_easy("What shape has Ruhla?", "arch", PASSAGE, "Ruhla bridge")


def test_other_scripts():
    check_easy("乌尔姆位于哪条河？", "多瑙河", "乌尔姆位于多瑙河畔。", "乌尔姆")


PARTS = ["When was the Ruhla bridge opened?", "How many arches does the Ruhla bridge have?"]
ANSWERS = ["1869", "nine"]


@pytest.mark.parametrize(
    "text",
    [
        "When was the Ruhla bridge opened, and how many arches does it have?",
        "How many arches has the bridge at Ruhla, and in what year was it opened?",
        " ".join(PARTS),
    ],
)
def test_joined_questions_that_lose_nothing(text):
    check_joined(text, PARTS, ANSWERS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("When was the Ruhla bridge opened?", "'many' of 'How many arches"),
        ("When was the Ruhla bridge opened, and how many bows are there, many?", "'arches' of"),
        ("Opened in 1869, how many arches does the Ruhla bridge have and when?", "tells the answer '1869'"),
        ("When was the Ruhla bridge opened. How many arches does it have.", "does not end as a question"),
        ("", "blank"),
        ("When was the Ruhla bridge opened " + "and so on " * 9 + "how many arches?", "12 words beyond"),
    ],
)
def test_joined_questions_that_lose_or_tell_something(text, reason):
    with pytest.raises(QuestionError) as caught:
        check_joined(text, PARTS, ANSWERS)
    assert reason in str(caught.value)


def test_an_answer_that_the_parts_mention_may_stand():
    parts = ["Did Ruhla or Gotha win?", "Who won in Ruhla?"]
    check_joined("Did Ruhla or Gotha win, and who won in Ruhla?", parts, ["Ruhla", "Ruhla"])
