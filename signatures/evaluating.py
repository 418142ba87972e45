"""Judges of finished answers: against references of known worth, aspect by aspect, and by what is cited.

Sources: LINKAGE (Yang et al., 2024, list-wise ranking of a candidate among graded references), as Typed-RAG (arXiv
2503.15879), section 4, uses it; ALCE (Gao et al., EMNLP 2023), section 3, for citations. The wording is ours.
"""

from typing import Literal

import dspy
from pydantic import BaseModel

from .answering import NumberedPassage
from .judging import Support

Coverage = Literal["fully covered", "partly covered", "not covered"]


class NumberedReference(BaseModel):
    """An answer of known worth."""

    number: int
    text: str


class RankAgainstReferences(dspy.Signature):
    """Find the place of the answer among the references, which are ordered from the best to the worst."""

    question: str = dspy.InputField()
    references: list[NumberedReference] = dspy.InputField()
    answer: str = dspy.InputField()
    worst: int = dspy.InputField(desc="the rank of an answer that is worse than every reference")
    rank: int = dspy.OutputField(
        desc="the number of the first reference that the answer is at least as good as; otherwise the worst rank"
    )


class JudgeCoverage(dspy.Signature):
    """Decide how far the answer to the question covers one aspect of it."""

    question: str = dspy.InputField()
    answer: str = dspy.InputField()
    aspect: str = dspy.InputField()
    expected: str = dspy.InputField(desc="what a complete answer says about the aspect")
    coverage: Coverage = dspy.OutputField(desc="by meaning, not by words")


class JudgeCitation(dspy.Signature):
    """Decide how far the passages, taken together, bear out what the sentence of an answer says."""

    question: str = dspy.InputField()
    passages: list[NumberedPassage] = dspy.InputField()
    sentence: str = dspy.InputField()
    support: Support = dspy.OutputField()
