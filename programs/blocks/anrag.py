"""ANRAG: an answer that noise among the passages does not reach.

Source: HANRAG (arXiv 2509.09713), algorithm 1: the ten best passages by BM25, judged one by one, and an answer from
those that are relevant. What the paper leaves open is settled here: at most ``keep_k`` of them, in the order they were
found in, and an action for when none is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import dspy

from ...data.index.retriever import Retriever
from ...data.passages import Passage
from ...signatures import JudgeRelevance, SelectRelevant
from ..config import AnswerConfig
from .answering import SubQuestion, answer_from, generate
from .citations import renumber
from .concurrent import run_all
from .fallbacks import fall_back
from .passages import merge, retrieve
from .relevance import relevant_each, relevant_together

# The two ways to judge: what is asked, and how the answers become passages.
JUDGES = {"each": (JudgeRelevance, relevant_each), "together": (SelectRelevant, relevant_together)}


@dataclass(frozen=True)
class AnragConfig(AnswerConfig):
    """Settings of ANRAG.

    Attributes:
        k: Passages found per question.
        keep_k: Most of them that reach the generator.
        relevance: Whether they are judged; if not, the first ``keep_k`` are used.
        judge: ``each`` passage by a call of its own, all calls at once, as published; or all ``together`` in one.
        on_empty: What is done where no passage is relevant: answer without any (``closed_book``), from the best one
            (``top1``), or from the best ``keep_k`` (``unfiltered``).
    """

    k: int = 10
    answers: Literal["full", "brief"] = "brief"
    keep_k: int = 3
    relevance: bool = True
    judge: Literal["each", "together"] = "each"
    on_empty: Literal["closed_book", "top1", "unfiltered"] = "closed_book"

    @property
    def judgement(self) -> type[dspy.Signature]:
        """The signature of the judge."""
        return JUDGES[self.judge][0]


@dataclass(frozen=True)
class Anrag:
    """ANRAG with the predictors of a program."""

    config: AnragConfig
    retriever: Retriever
    judge_relevance: dspy.Predict
    answer: dspy.Predict
    answer_directly: dspy.Predict

    def search(self, questions: Sequence[str]) -> list[list[Passage]]:
        """Find passages for all questions in one batch."""
        return [merge([found]) for found in retrieve(self.retriever, questions, self.config.k)]

    def reply(self, question: str, passages: Sequence[Passage]) -> SubQuestion:
        """Answer a question from those of its passages that are relevant."""
        kept = self._relevant(question, passages)[: self.config.keep_k]
        if kept:
            text, shown = answer_from("answer", self.answer, self.config.max_attempts, kept, question=question)
            return SubQuestion(question, text, tuple(shown))
        text = generate("answer_directly", self.answer_directly, self.config.max_attempts, question=question)
        return SubQuestion(question, renumber(text, (), ()))  # there is nothing to cite

    def reply_all(self, questions: Sequence[str], name: str) -> list[SubQuestion]:
        """Answer several questions side by side; ``name`` is what one is called in the trace."""
        found = self.search(questions)
        return run_all(lambda part: self.part(*part), list(zip(questions, found, strict=True)), name)

    def part(self, question: str, passages: Sequence[Passage]) -> SubQuestion:
        """As :meth:`reply`, for one question of several: if it is too long for the model, the others still count."""
        try:
            return self.reply(question, passages)
        except dspy.ContextWindowExceededError:
            fall_back("answer", "the prompt exceeds the context window; this part has no answer")
            return SubQuestion(question, "")

    def _relevant(self, question: str, passages: Sequence[Passage]) -> list[Passage]:
        if not passages:
            fall_back("retrieve", "nothing was found; answered without passages")
        if not passages or not self.config.relevance:
            return list(passages)
        _, judge = JUDGES[self.config.judge]
        kept = judge("judge_relevance", self.judge_relevance, self.config.max_attempts, question, passages)
        if kept:
            return kept
        instead = {"closed_book": 0, "top1": 1, "unfiltered": self.config.keep_k}[self.config.on_empty]
        said = f"from the best {min(instead, len(passages))}" if instead else "without passages"
        fall_back("judge_relevance", f"no passage is held to be relevant; answered {said}")
        return list(passages[:instead])
