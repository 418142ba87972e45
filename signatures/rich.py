"""RichRAG: which sub-aspects a question has, which passages cover them, and the long answer that says it all.

Source: RichRAG (arXiv 2406.12566), sections 3.2 to 3.4 and 4.1 (annotation).
"""

from typing import Annotated, Any

import dspy
from pydantic import BaseModel, BeforeValidator, ConfigDict

from .answering import NumberedPassage


class ExploreAspects(dspy.Signature):
    """List the general sub-aspects that a complete answer to the question should cover, without answering it."""

    question: str = dspy.InputField()
    aspects: list[str] = dspy.OutputField(
        desc="2 to 7 short, distinct search phrases in the language of the question; none states a fact"
    )


class RankPassages(dspy.Signature):
    """Order the passages so that the first ones together cover as many aspects of the question as can be."""

    passages: list[NumberedPassage] = dspy.InputField()
    question: str = dspy.InputField()
    aspects: list[str] = dspy.InputField()
    ranking: list[int] = dspy.OutputField(desc="numbers of the passages, the most useful one first, each once")


def _numbers(given: Any) -> Any:
    """Numbers as models write them: one alone, or in brackets."""
    given = given if isinstance(given, list) else [given]
    return [each.strip("[] ") if isinstance(each, str) else each for each in given if each is not None]


class CitedSentence(BaseModel):
    """A sentence of an answer, and the passages that it rests on."""

    # Asked for always; a reply that was cut off before them is still of use.
    model_config = ConfigDict(json_schema_extra={"required": ["sentence", "passages"]})

    sentence: str
    passages: Annotated[list[int], BeforeValidator(_numbers)] = []


class WriteRichAnswer(dspy.Signature):
    """Write a long, well-ordered answer from the passages that covers every aspect, in the language of the question."""

    passages: list[NumberedPassage] = dspy.InputField()
    question: str = dspy.InputField()
    aspects: list[str] = dspy.InputField(desc="what the answer should cover, as far as the passages say something")
    sentences: list[CitedSentence] = dspy.OutputField(
        desc="sentence by sentence, each with the numbers of its passages"
    )


class NumberedSentence(BaseModel):
    """A sentence of a long answer."""

    number: int
    text: str


class Facet(BaseModel):
    """A general facet of a question, and the sentence of the answer with which its part begins."""

    facet: str
    first_sentence: int


class SplitByFacet(dspy.Signature):
    """Cut the answer into consecutive parts, each of which answers one general facet of the question."""

    question: str = dspy.InputField()
    sentences: list[NumberedSentence] = dspy.InputField(desc="the whole answer")
    facets: list[Facet] = dspy.OutputField(
        desc="2 to 7, in the order of the answer, the first from sentence 1; a facet is a short phrase that follows "
        "from the question alone and holds nothing that only the answer tells"
    )
