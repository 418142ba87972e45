"""The single-step baseline: retrieve once with the question, answer from what was found."""

from typing import ClassVar

import dspy

from ...data.index.retriever import Retriever
from ..blocks.answering import STYLES
from ..blocks.passages import retrieve
from ..config import AnswerConfig, Config
from ..program import Program, Result, result


class Rag(Program):
    """One retrieval, one generation."""

    config_class: ClassVar[type[Config]] = AnswerConfig
    config: AnswerConfig
    retriever: Retriever

    def __init__(self, config: AnswerConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        self.answer = dspy.Predict(STYLES[self.config.answers].from_passages)

    def forward(self, question: str) -> Result:
        """Answer from the ``k`` passages that the question finds."""
        question = self.check(question)
        (passages,) = retrieve(self.retriever, [question], self.config.k)
        answer, shown = self.answer_from("answer", passages, question=question)
        return result(answer, route="rag", passages=shown, steps=1)
