"""Parts of a question: distinct, enough of them, and not too many."""

import dspy
import pytest
from aspectrag.programs.blocks.parts import at_least, at_most
from aspectrag.programs.blocks.stage import RejectedOutputError


@pytest.mark.parametrize(
    ("texts", "distinct"),
    [
        ([" Who? ", "", "WHO?", "  ", "Where?", "who?"], ["Who?", "Where?"]),  # the first spelling stays
        (["b", "a", "c", "a"], ["b", "a", "c"]),
        (["Straße", "STRASSE", "x"], ["Straße", "x"]),
        (["谁？", "谁？\n", "哪里？"], ["谁？", "哪里？"]),
        (iter(["a", "b"]), ["a", "b"]),
    ],
)
def test_blanks_and_repetitions_are_left_out(texts, distinct):
    assert at_least(2, texts, "questions") == distinct


@pytest.mark.parametrize(
    ("least", "texts", "left"), [(2, ["Who?", "who?"], 1), (1, ["", " \n"], 0), (1, [], 0), (3, ["a", "b"], 2)]
)
def test_too_few_are_refused_with_their_number(least, texts, left):
    with pytest.raises(RejectedOutputError, match=f"^{left} questions where at least {least} are needed$"):
        at_least(least, texts, "questions")


def test_none_may_be_enough():
    assert at_least(0, [" "], "questions") == []


@pytest.mark.parametrize(
    ("most", "kept", "flags"), [(1, ["a"], 1), (2, ["a", "b"], 1), (3, ["a", "b", "c"], 0), (9, ["a", "b", "c"], 0)]
)
def test_too_many_are_cut_and_said(most, kept, flags):
    parts = ["a", "b", "c"]
    with dspy.context(fallbacks=[]):
        assert at_most(most, parts, "plan") == kept
        said = [(flag.stage, flag.reason) for flag in dspy.settings.fallbacks]
    assert said == [("plan", f"3 parts, the first {most} are used")] * flags
    assert parts == ["a", "b", "c"]
