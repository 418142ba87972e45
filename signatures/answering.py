"""Answers, in full or as short as can be: from numbered passages, for a comparison, or from the model alone."""

from typing import Literal

import dspy
from pydantic import BaseModel

IN_YOUR_WORDS = "in your own words, each statement followed by the number of its passage in square brackets"
BRIEFLY = "as short as can be: a name, a date, a number, yes or no; all of them where several things are asked"
# How sure, how good, how well known; 5 is the most.
Grade = Literal[1, 2, 3, 4, 5]
RESTS_ON = "numbers of the passages that the answer rests on"


class NumberedPassage(BaseModel):
    """A passage as the model sees it: cited by its number."""

    number: int
    title: str
    text: str


class AnswerFromPassages(dspy.Signature):
    """Answer the question from the passages, in the language of the question."""

    passages: list[NumberedPassage] = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc=IN_YOUR_WORDS)
    citations: list[int] = dspy.OutputField(default=[], desc=RESTS_ON)


class AnswerComparison(dspy.Signature):
    """Compare the things that the keywords name, from the passages, so that the question is answered."""

    passages: list[NumberedPassage] = dspy.InputField()
    compare_type: str = dspy.InputField(desc="what the comparison is after")
    keywords: list[str] = dspy.InputField(desc="the things compared")
    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc=IN_YOUR_WORDS)
    citations: list[int] = dspy.OutputField(default=[], desc=RESTS_ON)


class AnswerDirectly(dspy.Signature):
    """Answer the question from what you know, in the language of the question."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


class BriefAnswerFromPassages(dspy.Signature):
    """Answer the question from the passages, in as few words as can be."""

    passages: list[NumberedPassage] = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc=BRIEFLY)
    citations: list[int] = dspy.OutputField(default=[], desc=RESTS_ON)


class BriefAnswerDirectly(dspy.Signature):
    """Answer the question from what you know, in as few words as can be."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc=BRIEFLY)


class AnswerWithConfidence(dspy.Signature):
    """Answer the question from what you know, in as few words as can be, and say how sure you are."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc=BRIEFLY)
    confidence: Grade = dspy.OutputField(desc="5: certain; 1: a guess")
