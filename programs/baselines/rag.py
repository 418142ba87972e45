"""The single-step baseline: retrieve once with the question, answer from what was found."""

import dspy

from ...data.index.retriever import Retriever
from ...signatures import AnswerFromPassages
from ..blocks.answering import answer_from
from ..blocks.passages import retrieve
from ..program import Config, Program, Result, result


class Rag(Program):
    """One retrieval, one generation."""

    retriever: Retriever

    def __init__(self, config: Config | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        self.answer = dspy.Predict(AnswerFromPassages)

    def forward(self, question: str) -> Result:
        """Answer from the ``k`` passages that the question finds."""
        question = self.check(question)
        (passages,) = retrieve(self.retriever, [question], self.config.k)
        answer, shown = answer_from("answer", self.answer, self.config.max_attempts, passages, question=question)
        return result(answer, route="rag", passages=shown, steps=1)
