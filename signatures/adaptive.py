"""Adaptive baselines: how much retrieval a question needs, and reasoning that is interleaved with it.

Sources: Adaptive-RAG (Jeong et al., NAACL 2024), section 3.2, its classes A, B and C; Adaptive Retrieval (Mallen et
al., ACL 2023), section 6; IRCoT (Trivedi et al., ACL 2023), section 3.
"""

from typing import Literal

import dspy

from .answering import Grade, NumberedPassage

RetrievalNeed = Literal["none", "single", "multiple"]


class ClassifyComplexity(dspy.Signature):
    """Decide how many look-ups the question needs."""

    question: str = dspy.InputField()
    look_ups: RetrievalNeed = dspy.OutputField(
        desc="none: common knowledge; single: one fact to find; multiple: several facts to connect or compare"
    )


class RatePopularity(dspy.Signature):
    """Name the thing that the question is about, and rate how widely known it is."""

    question: str = dspy.InputField()
    entity: str = dspy.OutputField()
    popularity: Grade = dspy.OutputField(desc="5: nearly everybody has heard of it; 1: hardly anyone")


class NextThought(dspy.Signature):
    """Write the next sentence of a chain of thought that leads from the passages to the answer of the question."""

    passages: list[NumberedPassage] = dspy.InputField()
    question: str = dspy.InputField()
    thoughts: list[str] = dspy.InputField(desc="the chain so far")
    thought: str = dspy.OutputField(desc="one sentence that adds a fact; the last one gives the answer")
    answered: bool = dspy.OutputField(desc="whether this sentence gives the answer")
