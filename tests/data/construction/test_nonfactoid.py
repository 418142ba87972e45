"""Which questions ask for more than a fact, by their words; golds as text; grades."""

import pytest
from aspectrag.data.construction.nonfactoid import as_text, asks_for_more, kept
from aspectrag.data.construction.references import Draft, GradeError, distinct, graded


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Why does the sky show red at dusk?", "REASON"),
        ("The line was drawn for what reason?", "REASON"),
        ("How does one show respect in Ruhla?", "INSTRUCTION"),
        ("Should we count the votes of people who pay?", "DEBATE"),
        ("Who should be told of a leak?", "DEBATE"),
        ("Which framework is best?", "DEBATE"),
        ("Which of both is larger?", "COMPARISON"),
        ("Difference between jam and jelly", "COMPARISON"),
        ("What is the use of yeast?", "EVIDENCE-BASED"),
    ],
)
def test_what_may_pass(question, label):
    assert asks_for_more(question, label)


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Why is it so?", "FACTOID"),
        ("Why is it so?", "NOT-A-QUESTION"),
        ("Why though", "REASON"),
        ("Who wrote the song?", "REASON"),
        ("In the show, which actor fell?", "EVIDENCE-BASED"),
        ("how much aid was given", "REASON"),
        ("What French city was it?", "EXPERIENCE"),
        ("where is the town", "INSTRUCTION"),
    ],
)
def test_what_asks_for_a_fact(question, label):
    assert not asks_for_more(question, label)


def test_letters_are_no_words():
    # "how" is in show, "who" in whole, "when" in whenever.
    assert asks_for_more("Describe the whole show", "EVIDENCE-BASED")


def test_questions_without_a_label_are_left_out():
    assert kept({"a": "Why is it so?", "b": "Why is it not?"}, {"b": "REASON"}) == ["b"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("['x', 'y z']", "x, y z"),
        ('["it\'s"]', "it's"),
        ("[1, 'b']", "1, b"),
        ("[]", "[]"),
        ("[sic]", "[sic]"),
        ("['x', __import__('os')]", "['x', __import__('os')]"),
        ("[" * 300 + "]" * 300, "[" * 300 + "]" * 300),
        (" plain ", "plain"),
    ],
)
def test_lists_that_were_written_out_are_text_again(written, text):
    assert as_text(written) == text


DRAFTS = [Draft("Rain.", "gold", "gold"), Draft("Snow", "a", "good"), Draft("snow!", "b", "good")]


def test_references_are_graded_in_their_order_and_ties_are_allowed():
    assert [draft.source for draft in distinct(DRAFTS)] == ["gold", "a"]
    assert [one["label"] for one in graded(DRAFTS, [2, 0, 2])] == [2, 0, 2]


@pytest.mark.parametrize(
    ("grades", "reason"),
    [([1, 2], "2 grades for 3 answers"), ([1, 2, 4], "the grade 4 is not one of 0 to 3"), ([1, 1, 1], "the grade 1")],
)
def test_grades_that_rank_nothing_are_refused(grades, reason):
    with pytest.raises(GradeError, match=reason):
        graded(DRAFTS, grades)
