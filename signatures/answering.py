"""Answers: from numbered passages, from passages with a comparison in mind, or from the model alone."""

import dspy

CITED = "cites the passages it rests on by their number in square brackets, such as [1]"


class AnswerFromPassages(dspy.Signature):
    """Answer the question from the numbered passages, in the language of the question."""

    passages: list[str] = dspy.InputField(desc="numbered passages")
    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc=CITED)


class AnswerComparison(dspy.Signature):
    """Compare the things that the keywords name, from the numbered passages, so that the question is answered."""

    passages: list[str] = dspy.InputField(desc="numbered passages")
    compare_type: str = dspy.InputField(desc="what the comparison is after")
    keywords: list[str] = dspy.InputField(desc="the things compared")
    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc=CITED)


class AnswerDirectly(dspy.Signature):
    """Answer the question from what you know, in the language of the question."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()
