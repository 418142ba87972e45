"""The single-step baseline: retrieve once with the question, answer from what was found."""

from typing import ClassVar

import dspy

from ...data.index.retriever import Retriever
from ..blocks.answering import STYLES
from ..blocks.passages import retrieve
from ..config import AnswerConfig, Config
from ..program import Program, Result, result


class Rag(Program):
    """One retrieval, one generation.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"answer": "It is [1].", "citations": [1]})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = Rag(None, index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('rag', 'It is [1].')
    """

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
