"""HANRAG: how a question must be looked up, and how a long way to its answer becomes short ones.

Source: HANRAG (arXiv 2509.09713), section 3 and tables 10-16; the definitions of the four routes are its own.
"""

from typing import Literal

import dspy

from .merging import SubAnswer

Complexity = Literal["straightforward", "single-step", "compound", "complex"]


class RouteQuestion(dspy.Signature):
    """Decide how the answer to the question must be looked up."""

    question: str = dspy.InputField()
    route: Complexity = dspy.OutputField(
        desc="straightforward: common knowledge, no look-up; single-step: one look-up; "
        "compound: several separate questions about the same thing; "
        "complex: nested, what is asked for can only be looked up once something else has been found"
    )


class DecomposeCompound(dspy.Signature):
    """Split the question into the separate questions that it asks, each understood on its own."""

    question: str = dspy.InputField()
    sub_questions: list[str] = dspy.OutputField(desc="a question that asks one thing is the only item, unchanged")


class RefineSeedQuestion(dspy.Signature):
    """Write the one simple question to look up next on the way to the answer."""

    question: str = dspy.InputField()
    found: list[SubAnswer] = dspy.InputField(desc="looked up so far")
    seed_question: str = dspy.OutputField(
        desc="self-contained: names what was found instead of describing it; a question that is simple stays unchanged"
    )
