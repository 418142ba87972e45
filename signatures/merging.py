"""Merging: one answer out of the answers to parts of a question."""

import dspy
from pydantic import BaseModel

from .answering import BRIEFLY

KEEP_CITATIONS = "keeps the numbers in square brackets of the statements it uses"


class SubAnswer(BaseModel):
    """A sub-question and the answer it got."""

    question: str
    answer: str


class PerspectiveAnswer(BaseModel):
    """What was found for one side of a debate."""

    perspective: str
    answer: str


class AggregateAnswers(dspy.Signature):
    """Combine the answers to the sub-questions into one clear and brief answer to the question."""

    question: str = dspy.InputField()
    sub_answers: list[SubAnswer] = dspy.InputField()
    answer: str = dspy.OutputField(desc=KEEP_CITATIONS)


class BriefAggregateAnswers(dspy.Signature):
    """Answer the question from the answers to its sub-questions, in as few words as can be."""

    question: str = dspy.InputField()
    sub_answers: list[SubAnswer] = dspy.InputField()
    answer: str = dspy.OutputField(desc=BRIEFLY)


class MediateDebate(dspy.Signature):
    """Sum up the topic for someone who asked, giving each perspective its due, briefly and directly."""

    topic: str = dspy.InputField()
    responses: list[PerspectiveAnswer] = dspy.InputField()
    answer: str = dspy.OutputField(desc="balanced, without mention of a debate or its participants; " + KEEP_CITATIONS)
