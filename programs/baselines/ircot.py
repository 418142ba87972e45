"""IRCoT: a chain of thought whose every sentence finds the passages for the next.

Source: IRCoT (Trivedi et al., ACL 2023), section 3: retrieve and reason in turn, then a reader answers from all that
was gathered. Six passages per step and fifteen in all are what Adaptive-RAG's runs of it use.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import dspy

from ...data.index.retriever import Retriever
from ...errors import AspectragError
from ...signatures import NextThought
from ..blocks.answering import STYLES
from ..blocks.interleaving import interleave
from ..config import AnswerConfig, Config
from ..program import Program, Result, result


@dataclass(frozen=True)
class IrcotConfig(AnswerConfig):
    """Settings of IRCoT.

    Attributes:
        k: Passages per step.
        max_passages: Most passages gathered.
        max_steps: Most thoughts.

    Example:
        >>> IrcotConfig(k=3).k
        3
    """

    k: int = 6
    answers: Literal["full", "brief"] = "brief"
    max_passages: int = 15
    max_steps: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_passages < self.k:
            raise AspectragError(f"max_passages {self.max_passages} leaves no room for k {self.k}: make it larger")


class Ircot(Program):
    """IRCoT over any retriever; the result's ``sub_questions`` are the queries with the thoughts they led to.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"thought": "It is.", "answered": True, "answer": "It is [1].", "citations": [1]})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = Ircot(None, index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('multiple', 'It is [1].')
    """

    config_class: ClassVar[type[Config]] = IrcotConfig
    config: IrcotConfig
    retriever: Retriever

    def __init__(self, config: IrcotConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        self.think = dspy.Predict(NextThought)
        self.answer = dspy.Predict(STYLES[self.config.answers].from_passages)

    def forward(self, question: str) -> Result:
        """Think and retrieve in turn, then answer from what was gathered."""
        return self.iterate(self.check(question))

    def iterate(self, question: str) -> Result:
        """The chain of thought and the answer from its passages."""
        config = self.config
        chain = interleave(
            self.retriever, self.think, config.max_attempts, question,
            k=config.k, max_passages=config.max_passages, max_steps=config.max_steps,
        )  # fmt: skip
        answer, shown = self.answer_from("answer", chain.passages, question=question)
        return result(
            answer, route="multiple", passages=shown, sub_questions=chain.links,
            steps=chain.steps, stopped_by=chain.stopped_by,
        )  # fmt: skip
