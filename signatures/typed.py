"""Typed-RAG: what kind of question it is, and how a question of that kind is taken apart.

Source: Typed-RAG (arXiv 2503.15879), section 3; the categories are those of NF-CATS (Bolotova et al., SIGIR 2022).
"""

from typing import Literal

import dspy
from pydantic import BaseModel, Field

QuestionType = Literal[
    "NOT-A-QUESTION", "FACTOID", "DEBATE", "EVIDENCE-BASED", "INSTRUCTION", "REASON", "EXPERIENCE", "COMPARISON"
]
CompareType = Literal["difference", "similarity", "superiority"]


class ClassifyQuestion(dspy.Signature):
    """Decide what kind of answer the question asks for."""

    question: str = dspy.InputField()
    type: QuestionType = dspy.OutputField(
        desc="DEBATE asks for opinions: should, is it right, is it a good idea; REASON asks why; "
        "INSTRUCTION asks how to do something; EXPERIENCE asks for advice or recommendations; "
        "COMPARISON asks for differences or which is better; EVIDENCE-BASED asks what something is or how it works; "
        "FACTOID asks who, when, where, how many; NOT-A-QUESTION asks nothing"
    )


class ExtractComparison(dspy.Signature):
    """Find what the question compares, and what it wants to know of them."""

    question: str = dspy.InputField()
    is_compare: bool = dspy.OutputField(desc="whether the question compares two or more things")
    compare_type: CompareType = dspy.OutputField()
    keywords: list[str] = dspy.OutputField(desc="a specific search phrase for each thing compared")


class ExtractExperienceKeywords(dspy.Signature):
    """Name the topic and the key entities about which the question wants people's experience."""

    question: str = dspy.InputField()
    keywords: list[str] = dspy.OutputField(desc="topic and key entities, the most important first")


class GenerateReasonQueries(dspy.Signature):
    """Write distinct search questions, one for each kind of reason that could answer the question."""

    question: str = dspy.InputField()
    queries: list[str] = dspy.OutputField(desc="2 to 5 self-contained questions with the same intent")


class GenerateInstructionQueries(dspy.Signature):
    """Write distinct search questions, one for each part of the instructions that the question asks for."""

    question: str = dspy.InputField()
    queries: list[str] = dspy.OutputField(desc="2 to 5 self-contained questions with the same intent")


class Perspective(BaseModel):
    """One side of a debate, and a search question that takes that side."""

    opinion: str = Field(min_length=1)
    query: str = Field(min_length=1)


class PlanDebate(dspy.Signature):
    """Name the topic under debate and the distinct opinions on it, each with a search question that favours it."""

    question: str = dspy.InputField()
    topic: str = dspy.OutputField()
    perspectives: list[Perspective] = dspy.OutputField(desc="2 to 5")
