"""The closed-book baseline: the language model alone."""

from typing import ClassVar

import dspy

from ...data.index.retriever import Retriever
from ..blocks.answering import STYLES
from ..config import AnswerConfig, Config
from ..program import Program, Result, result


class Direct(Program):
    """One call, no retrieval: what the model knows. A retriever is accepted, as everywhere, and not used.

    Example:
        >>> from aspectrag import lms
        >>> with dspy.context(lm=lms.scripted_lm({"answer": "It is."})):
        ...     Direct()(question="Is coal cheap?").answer
        'It is.'
    """

    config_class: ClassVar[type[Config]] = AnswerConfig
    config: AnswerConfig
    retrieves: ClassVar[bool] = False

    def __init__(self, config: AnswerConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        self.answer = dspy.Predict(STYLES[self.config.answers].directly)

    def forward(self, question: str) -> Result:
        """Answer without passages."""
        question = self.check(question)
        answer = self.generate("answer", question=question)
        return result(answer, route="direct", steps=0)
