import time

import pytest
from aspectrag.data.passages import Passage
from aspectrag.programs.blocks.citations import Citation, citations, cited, renumber, unmarked

A, B, C = (Passage(x, x.upper(), f"text {x}") for x in "abc")


def test_numbers_follow_their_passage_into_the_pool():
    assert renumber("Yes [1], no [2].", [C, A], [A, B, C]) == "Yes [3], no [1]."


def test_numbers_that_point_nowhere_are_taken_out():
    assert renumber("Yes [0] no [4] maybe [1, 9].", [A], [A]) == "Yes no maybe [1]."
    assert renumber("[7]", [], []) == ""


def test_several_numbers_in_one_bracket_are_kept_apart():
    assert renumber("So [1, 2; 2].", [A, B], [B, A]) == "So [2][1]."


def test_text_in_brackets_is_left_alone():
    assert renumber("An [sic] array[i] of [1].", [A], [A]) == "An [sic] array[i] of [1]."


def test_each_cited_passage_once_in_order():
    assert citations("b [2], a [1], b [2], none [9]", [A, B]) == [Citation(1, "a", "A"), Citation(2, "b", "B")]
    assert citations("", [A]) == []


def test_numbers_beside_the_answer_are_used_where_it_cites_nothing():
    assert cited("So.", [3, 1, 3]) == "So. [1][3]"
    assert cited("So [2].", [1]) == "So [2]."
    assert cited("So.", []) == "So."
    assert unmarked(" [1] [2, 3]") == ""


@pytest.mark.parametrize(
    "text",
    [
        "x" + " " * 200_000 + "y",
        "[" + "1," * 100_000,
        "[1" + " " * 200_000 + "x",
        "[" * 200_000,
        "[" + "9" * 5000 + "]",
    ],
    ids=["blanks", "open list", "open mark", "brackets", "huge number"],
)
def test_what_a_model_may_write_is_read_in_no_time(text):
    started = time.perf_counter()
    assert renumber(text, [A], [A]) == text.strip()
    assert citations(text, [A]) == []
    assert time.perf_counter() - started < 5
