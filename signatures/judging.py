"""Judges: whether to look up, what helps, whether an answer holds, and whether enough has been found.

Sources: HANRAG (arXiv 2509.09713), section 3, for relevance and ending; its ending prompt is unpublished, this one is
ours. Self-RAG (Asai et al., ICLR 2024), table 1, for the four judgements that its reflection tokens make.
"""

from typing import Literal

import dspy

from .answering import Grade, NumberedPassage
from .merging import SubAnswer

Support = Literal["fully supported", "partially supported", "no support"]


class JudgeRelevance(dspy.Signature):
    """Decide whether the passage is about something that the question asks about."""

    question: str = dspy.InputField()
    title: str = dspy.InputField()
    passage: str = dspy.InputField()
    relevant: bool = dspy.OutputField(
        desc="true where it answers the question or a part of it, or tells about a thing that the question names"
    )


class SelectRelevant(dspy.Signature):
    """Pick the passages with which the question can be answered."""

    passages: list[NumberedPassage] = dspy.InputField()
    question: str = dspy.InputField()
    relevant: list[int] = dspy.OutputField(desc="numbers of those that tell something about what the question asks")


class JudgeEnding(dspy.Signature):
    """Decide whether what has been looked up is enough to answer the question."""

    question: str = dspy.InputField()
    found: list[SubAnswer] = dspy.InputField(desc="looked up so far")
    verdict: Literal["continue", "end"] = dspy.OutputField(
        desc="end: the question can be answered now; continue: something still has to be looked up"
    )


class JudgeRetrieval(dspy.Signature):
    """Decide whether looking things up would help to answer the question."""

    question: str = dspy.InputField()
    retrieve: bool = dspy.OutputField()


class JudgeSupport(dspy.Signature):
    """Decide how far the passage bears out what the answer says."""

    question: str = dspy.InputField()
    passage: str = dspy.InputField()
    answer: str = dspy.InputField()
    support: Support = dspy.OutputField()


class JudgeUsefulness(dspy.Signature):
    """Grade how well the answer serves someone who asked the question."""

    question: str = dspy.InputField()
    answer: str = dspy.InputField()
    usefulness: Grade = dspy.OutputField(desc="5 is the best")
