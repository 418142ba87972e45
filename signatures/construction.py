"""Making benchmarks: easy questions, compound ones, and answers of known worth.

Sources: HANRAG (arXiv 2509.09713), its compound benchmark; Typed-RAG (arXiv 2503.15879), section 4.1, on reference
answers.
"""

from typing import Literal

import dspy
from pydantic import BaseModel


class WriteEasyQuestion(dspy.Signature):
    """Write one easy question about the entity whose answer is a few words of the passage."""

    passage: str = dspy.InputField()
    entity: str = dspy.InputField()
    question: str = dspy.OutputField(
        desc="names the entity; understood without the passage, which it does not mention; does not give the answer"
    )
    answer: str = dspy.OutputField(desc="a name, date, number or phrase, copied from the passage")


class JoinQuestions(dspy.Signature):
    """Join the questions about the entity into one fluent question that asks everything they ask, if it can be done."""

    entity: str = dspy.InputField()
    questions: list[str] = dspy.InputField()
    can_be_joined: bool = dspy.OutputField(desc="false where nobody would ask these things at once")
    question: str = dspy.OutputField(desc="keeps the words of the questions; answers none of them; empty if not joined")


class RewriteAnswer(dspy.Signature):
    """Rewrite the answer so that it answers the question better: clear, complete and in whole sentences."""

    question: str = dspy.InputField()
    answer: str = dspy.InputField(desc="right, but perhaps terse")
    better: str = dspy.OutputField(desc="says nothing against the answer")


class WriteGradedAnswers(dspy.Signature):
    """Write three answers to the question that differ in quality, to test judges with."""

    question: str = dspy.InputField()
    answer: str = dspy.InputField(desc="a right answer")
    good: str = dspy.OutputField(desc="right and helpful, in other words than the given answer")
    flawed: str = dspy.OutputField(desc="about the question, but vague, incomplete or wrong in part")
    off_topic: str = dspy.OutputField(desc="does not answer the question at all")


class NumberedAnswer(BaseModel):
    """An answer as a judge sees it: graded under its number."""

    number: int
    text: str


class GradeAnswers(dspy.Signature):
    """Grade all the answers to the question beside one another, by the right answer; equal ones get the same grade."""

    question: str = dspy.InputField()
    right_answer: str = dspy.InputField()
    answers: list[NumberedAnswer] = dspy.InputField(desc="each is one answer, also where it lists several things")
    grades: list[Literal[0, 1, 2, 3]] = dspy.OutputField(
        desc="one for each answer, in their order: 3 accurate and comprehensive; 2 accurate but shallow; 1 relevant in "
        "part, vague or inaccurate; 0 wrong or off the topic"
    )
