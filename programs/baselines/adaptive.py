"""Adaptive-RAG: a classifier sends each question to no retrieval, a single one, or an iterative chain.

Source: Adaptive-RAG (Jeong et al., NAACL 2024), section 3: classes A, B and C of complexity, answered by the model
alone, by one retrieval (five passages), and by IRCoT. The paper trains a T5-large for the classes; here the classifier
is a signature like any other.
"""

from dataclasses import dataclass
from typing import ClassVar

import dspy

from ...data.index.retriever import Retriever
from ...signatures import ClassifyComplexity
from ..blocks.answering import STYLES
from ..blocks.fallbacks import fall_back
from ..blocks.passages import retrieve
from ..blocks.stage import StageError
from ..config import Config
from ..program import Result, result
from .ircot import Ircot, IrcotConfig


@dataclass(frozen=True)
class AdaptiveConfig(IrcotConfig):
    """Settings of Adaptive-RAG: those of its iterative chain, and of its single retrieval.

    Attributes:
        single_k: Passages of a single retrieval.

    Example:
        >>> AdaptiveConfig(k=3).k
        3
    """

    single_k: int = 5


class Adaptive(Ircot):
    """Adaptive-RAG over any retriever; the result's ``route`` is ``none``, ``single`` or ``multiple``.

    A question whose class cannot be told takes the single retrieval.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"look_ups": "none", "answer": "It is."})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = Adaptive(None, index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('none', 'It is.')
    """

    config_class: ClassVar[type[Config]] = AdaptiveConfig
    config: AdaptiveConfig  # pyright: ignore[reportIncompatibleVariableOverride] - frozen, never assigned anew

    def __init__(self, config: AdaptiveConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        self.classify = dspy.Predict(ClassifyComplexity)
        self.answer_directly = dspy.Predict(STYLES[self.config.answers].directly)

    def forward(self, question: str) -> Result:
        """Answer a question by the way of its class."""
        question = self.check(question)
        try:
            need = self.call("classify", lambda out: str(out.look_ups), question=question)
        except StageError as failed:
            fall_back("classify", f"{failed.reason}; a single retrieval instead")
            need = "single"
        if need == "multiple":
            return self.iterate(question)
        if need == "none":
            answer = self.generate("answer_directly", question=question)
            return result(answer, route="none", steps=0)
        (passages,) = retrieve(self.retriever, [question], self.config.single_k)
        answer, shown = self.answer_from("answer", passages, question=question)
        return result(answer, route="single", passages=shown, steps=1)
