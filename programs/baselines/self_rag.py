"""Self-RAG: the model decides whether to retrieve, answers from each passage, and criticises its answers.

Source: Self-RAG (Asai et al., ICLR 2024), section 3 and equation 4. The paper trains a model to emit reflection tokens
and reads their probabilities; no such model is assumed here, so each token is a judgement by a typed signature, which
any model can make, and counts as certain. The answer is one segment, as in the paper's short-form tasks, so there is no
beam over segments.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

import dspy

from ...data.index.retriever import Retriever
from ...data.passages import Passage
from ...signatures import JudgeRelevance, JudgeRetrieval, JudgeSupport, JudgeUsefulness
from ..blocks.answering import STYLES, SubQuestion
from ..blocks.citations import unmarked
from ..blocks.concurrent import run_all
from ..blocks.fallbacks import fall_back
from ..blocks.ignorance import is_unknown
from ..blocks.passages import merge, retrieve
from ..blocks.relevance import relevant_each
from ..blocks.stage import StageError
from ..config import AnswerConfig, Config
from ..program import Program, Result, result

Verdict = TypeVar("Verdict")

# Equation 4: what a judgement is worth, and the weights of support and usefulness (relevance decides who answers).
SUPPORT = {"fully supported": 1.0, "partially supported": 0.5, "no support": 0.0}
USEFULNESS = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}
SUPPORT_WEIGHT, USEFULNESS_WEIGHT = 1.0, 0.5


@dataclass(frozen=True)
class SelfRagConfig(AnswerConfig):
    """Settings of Self-RAG.

    Example:
        >>> SelfRagConfig(k=3).k
        3
    """

    answers: Literal["full", "brief"] = "brief"


class SelfRag(Program):
    """Self-RAG over any retriever; the result's ``route`` is ``retrieve`` or ``none``.

    ``sub_questions`` are the answers that competed, each with its passage; the best one, the first of equals, is the
    answer.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"retrieve": False, "answer": "It is."})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = SelfRag(None, index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('none', 'It is.')
    """

    config_class: ClassVar[type[Config]] = SelfRagConfig
    config: SelfRagConfig
    retriever: Retriever

    def __init__(self, config: SelfRagConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        style = STYLES[self.config.answers]
        self.judge_retrieval = dspy.Predict(JudgeRetrieval)
        self.judge_relevance = dspy.Predict(JudgeRelevance)
        self.answer = dspy.Predict(style.from_passages)
        self.answer_directly = dspy.Predict(style.directly)
        self.judge_support = dspy.Predict(JudgeSupport)
        self.judge_usefulness = dspy.Predict(JudgeUsefulness)

    def forward(self, question: str) -> Result:
        """Answer from memory, or from the passage whose answer stands up best."""
        question = self.check(question)
        if not self._judged("judge_retrieval", "retrieve", True, question=question):
            return result(self.generate("answer_directly", question=question), route="none", steps=0)
        (found,) = retrieve(self.retriever, [question], self.config.k)
        attempts = self.config.max_attempts
        passages = relevant_each("judge_relevance", self.judge_relevance, attempts, question, merge([found]))
        if not passages:
            none = (
                ("judge_relevance", "no passage is held to be relevant") if found else ("retrieve", "nothing was found")
            )
            fall_back(none[0], f"{none[1]}; answered without passages")
            return result(self.generate("answer_directly", question=question), route="retrieve", steps=1)

        def candidate(passage: Passage) -> SubQuestion:
            try:
                text, shown = self.answer_from("answer", [passage], question=question)
            except dspy.ContextWindowExceededError:
                fall_back("answer", f"the passage {passage.title or passage.id!r} exceeds the context window")
                text, shown = "", [passage]
            return SubQuestion(question, text, tuple(shown))

        parts = run_all(candidate, passages, "passage")
        # What says nothing, or that it does not know, competes only where all do.
        rivals = [part for part in parts if part.answer and not is_unknown(part.answer)] or parts
        best = max(zip(self._scores(question, rivals), rivals, strict=True), key=lambda scored: scored[0])[1]
        return result(best.answer, route="retrieve", passages=best.passages, sub_questions=parts, steps=1)

    def _scores(self, question: str, parts: Sequence[SubQuestion]) -> list[float]:
        """Equation 4 for each answer, judged side by side; how useful an answer is is asked once, if it came twice."""
        answers = [unmarked(part.answer) for part in parts]

        def support(part: SubQuestion) -> float:
            given = {"question": question, "passage": part.passages[0].text, "answer": unmarked(part.answer)}
            return SUPPORT[self._judged("judge_support", "support", "no support", **given)]

        def usefulness(answer: str) -> float:
            return USEFULNESS[self._judged("judge_usefulness", "usefulness", 3, question=question, answer=answer)]

        distinct = list(dict.fromkeys(answers))
        supported = run_all(support, parts, "support")
        useful = dict(zip(distinct, run_all(usefulness, distinct, "usefulness"), strict=True))
        return [
            SUPPORT_WEIGHT * s + USEFULNESS_WEIGHT * useful[answer]
            for s, answer in zip(supported, answers, strict=True)
        ]

    def _judged(self, stage: str, field: str, otherwise: Verdict, **inputs: str) -> Verdict:
        """A judgement; ``otherwise`` where none can be had, flagged."""
        try:
            return self.call(stage, lambda out: out[field], **inputs)
        except StageError as failed:
            fall_back(stage, f"{failed.reason}; taken for {otherwise!r}")
            return otherwise
