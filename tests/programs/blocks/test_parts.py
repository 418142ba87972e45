"""Parts of a question: distinct, enough of them, and not too many."""

import dspy
import pytest
from aspectrag.programs.blocks.parts import at_least, at_most
from aspectrag.programs.blocks.stage import RejectedOutputError


def test_blanks_and_repetitions_are_left_out_and_the_first_spelling_stays():
    assert at_least(2, [" Who? ", "", "WHO?", "  ", "Where?", "who?"], "questions") == ["Who?", "Where?"]


def test_too_few_are_refused_with_their_number():
    with pytest.raises(RejectedOutputError, match="1 questions where at least 2 are needed"):
        at_least(2, ["Who?", "who?"], "questions")


@pytest.mark.parametrize(("most", "kept", "flags"), [(2, ["a", "b"], 1), (3, ["a", "b", "c"], 0)])
def test_too_many_are_cut_and_said(most, kept, flags):
    with dspy.context(fallbacks=[]):
        assert at_most(most, ["a", "b", "c"], "plan") == kept
        assert [(f.stage, f.reason) for f in dspy.settings.fallbacks] == [
            ("plan", "3 parts, the first 2 are used")
        ] * flags
