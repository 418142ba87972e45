"""Adaptive Retrieval: passages are looked up only where the model is not likely to know.

Source: Mallen et al., ACL 2023, section 6: retrieve where the popularity of the question's entity is below a threshold.
The paper takes monthly page views for popularity and tunes a threshold per relation; no such table is assumed here, so
the model rates how widely known the entity is. Its own confidence in an answer can be asked for instead.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import dspy

from ...data.index.retriever import Retriever
from ...errors import AspectragError
from ...signatures import AnswerWithConfidence, RatePopularity
from ..blocks.answering import STYLES, said
from ..blocks.fallbacks import fall_back
from ..blocks.ignorance import is_unknown
from ..blocks.passages import retrieve
from ..blocks.stage import StageError
from ..config import AnswerConfig, Config
from ..program import Program, Result, result

BEST = 5


@dataclass(frozen=True)
class AdaptiveRetrievalConfig(AnswerConfig):
    """Settings of Adaptive Retrieval.

    Attributes:
        test: What is rated from 1 to 5: the ``popularity`` of the question's entity, or the model's ``confidence`` in
            the answer that it gives from memory, which then stands.
        threshold: Ratings below it make the program retrieve.

    Example:
        >>> AdaptiveRetrievalConfig(k=3).k
        3
    """

    answers: Literal["full", "brief"] = "brief"
    test: Literal["popularity", "confidence"] = "popularity"
    threshold: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold > BEST:
            raise AspectragError(f"threshold is at most {BEST}, the best rating, not {self.threshold}")
        if self.test == "confidence" and self.answers == "full":
            raise AspectragError("the test of confidence gives brief answers: set answers to brief")


class AdaptiveRetrieval(Program):
    """Adaptive Retrieval over any retriever; the result's ``route`` is ``none`` or ``single``.

    A question whose rating cannot be told is looked up.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"entity": "coal", "popularity": 5, "answer": "It is."})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = AdaptiveRetrieval(None, index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('none', 'It is.')
    """

    config_class: ClassVar[type[Config]] = AdaptiveRetrievalConfig
    config: AdaptiveRetrievalConfig
    retriever: Retriever

    def __init__(self, config: AdaptiveRetrievalConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        style = STYLES[self.config.answers]
        if self.config.test == "popularity":
            self.rate_popularity = dspy.Predict(RatePopularity)
            self.answer_directly = dspy.Predict(style.directly)
        else:
            self.answer_directly = dspy.Predict(AnswerWithConfidence)
        self.answer = dspy.Predict(style.from_passages)

    def forward(self, question: str) -> Result:
        """Answer from memory where the test says so, from passages elsewhere."""
        question = self.check(question)
        answer = self._popular(question) if self.config.test == "popularity" else self._confident(question)
        if answer is not None:
            return result(answer, route="none", steps=0)
        (passages,) = retrieve(self.retriever, [question], self.config.k)
        answer, shown = self.answer_from("answer", passages, question=question)
        return result(answer, route="single", passages=shown, steps=1)

    def _popular(self, question: str) -> str | None:
        """The answer from memory where the question's entity is popular."""
        try:
            rating = self.call("rate_popularity", lambda out: int(out.popularity), question=question)
        except StageError as failed:
            fall_back("rate_popularity", f"{failed.reason}; looked up")
            return None
        if rating < self.config.threshold:
            return None
        return self.generate("answer_directly", question=question)

    def _confident(self, question: str) -> str | None:
        """The answer from memory where the model is sure of it."""

        def accept(out: dspy.Prediction) -> tuple[str, int]:
            return said(out), int(out.confidence)

        try:
            answer, rating = self.call("answer_directly", accept, question=question)
        except StageError as failed:
            fall_back("answer_directly", f"{failed.reason}; looked up")
            return None
        return answer if rating >= self.config.threshold and not is_unknown(answer) else None
