"""Long answers cut by the facets of their questions: what RichRAG's explorer and ranker learn from."""

from itertools import pairwise
from typing import Any

import dspy

from ..data.construction.facets import FacetError, FacetPart, check_facets
from ..data.sentences import sentence_spans
from ..errors import AspectragError
from ..signatures.rich import NumberedSentence, SplitByFacet
from ..texts import encodable
from .blocks.stage import RejectedOutputError, StageError, call_stage


class FacetAnnotator(dspy.Module):
    """Names the general facets of a question and cuts its long answer into one part for each.

    The model only says with which sentence each part begins. Parts are then exact pieces of the answer, which a model
    that copies a long text does not give reliably, and which would cost as many tokens again.

    Source: RichRAG (arXiv 2406.12566), section 4.1 and its annotation seed prompt, whose model copies the parts.

    Args:
        max_attempts: Calls per question before it is given up.

    Example:
        >>> from aspectrag.lms import scripted_lm
        >>> facets = [{"facet": "causes", "first_sentence": 1}, {"facet": "effects", "first_sentence": 2}]
        >>> with dspy.context(lm=scripted_lm({"facets": facets})):
        ...     out = FacetAnnotator()(question="Why did it end?", answer="Trade had collapsed. Prices rose.")
        >>> [(part.facet, part.sub_answer) for part in out.parts]
        [('causes', 'Trade had collapsed.'), ('effects', 'Prices rose.')]
    """

    def __init__(self, max_attempts: int = 3) -> None:
        super().__init__()
        self.max_attempts = max_attempts
        self.split = dspy.Predict(SplitByFacet)

    def forward(self, question: str, answer: str) -> dspy.Prediction:
        """Annotate a question.

        Args:
            question: The question.
            answer: Its long answer, of two sentences at least.

        Returns:
            A prediction whose ``parts`` are :class:`FacetPart` that pass :func:`check_facets`.

        Raises:
            AspectragError: The question is blank, the answer has less than two sentences, or no attempt was good; says
                what was wrong with the last.
            dspy.LMError: The language model cannot be reached or refuses to answer.
        """
        question, answer = encodable(question).strip(), encodable(answer).strip()
        if not question:
            raise AspectragError("the question is empty")
        spans = list(sentence_spans(answer))
        if len(spans) < 2:
            raise AspectragError(f"the answer has {'one sentence' if answer else 'no text'}: nothing to split")
        sentences = [
            NumberedSentence(number=number, text=answer[start:end].strip())
            for number, (start, end) in enumerate(spans, 1)
        ]

        def accept(out: dspy.Prediction) -> list[FacetPart]:
            return _parts(question, answer, [start for start, _ in spans], out.facets)

        try:
            parts = call_stage("split", self.split, accept, self.max_attempts, question=question, sentences=sentences)
        except StageError as error:
            raise AspectragError(f"not split into facets: {error.reason}") from error
        return dspy.Prediction(parts=parts)


def _parts(question: str, answer: str, starts: list[int], facets: list[Any]) -> list[FacetPart]:
    firsts = [facet.first_sentence for facet in facets]
    if firsts[:1] != [1]:
        raise RejectedOutputError(f"the first facet begins with sentence {firsts[0]}, not 1" if firsts else "no facets")
    if any(later <= earlier for earlier, later in pairwise(firsts)):
        raise RejectedOutputError(f"the first sentences do not increase: {firsts[:10]}")
    if firsts[-1] > len(starts):
        raise RejectedOutputError(f"there is no sentence {firsts[-1]}, the answer has {len(starts)}")
    bounds = [*(starts[first - 1] for first in firsts), len(answer)]
    parts = [
        FacetPart(" ".join(encodable(facet.facet).split()), answer[start:end].strip())
        for facet, (start, end) in zip(facets, pairwise(bounds), strict=True)
    ]
    try:
        check_facets(question, answer, parts)
    except FacetError as error:
        raise RejectedOutputError(str(error)) from error
    return parts
