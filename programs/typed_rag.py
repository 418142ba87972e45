"""Typed-RAG: the type of a question decides how it is taken apart, retrieved for, and put together again.

Source: Typed-RAG (arXiv 2503.15879), section 3. The paths per type:

- FACTOID, EVIDENCE-BASED, NOT-A-QUESTIO: N retrieve, answer (plain RAG)
- COMPARISON: keywords -> retrieve each -> rerank by the question -> answer with the keywords
- EXPERIENCE: keywords -> retrieve -> rerank by the keywords -> answer
- REASON, INSTRUCTION: 2-5 sub-questions -> retrieve and answer each -> aggregate
- DEBATE: topic, 2-5 perspectives -> retrieve and answer each -> mediate
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import dspy

from ..data.index.retriever import Retriever
from ..data.passages import Passage
from ..errors import AspectragError
from ..signatures import (
    AggregateAnswers,
    AnswerComparison,
    AnswerFromPassages,
    ClassifyQuestion,
    ExtractComparison,
    ExtractExperienceKeywords,
    GenerateInstructionQueries,
    GenerateReasonQueries,
    MediateDebate,
    PlanDebate,
)
from ..signatures.typed import Perspective
from .blocks.answering import SubQuestion
from .blocks.concurrent import run_all
from .blocks.fallbacks import fall_back
from .blocks.parts import at_least, at_most
from .blocks.passages import merge, rerank, retrieve
from .blocks.stage import RejectedOutputError, StageError
from .config import Config
from .program import Program, Result, result

# What a question counts as when its type cannot be told.
PLAIN = "EVIDENCE-BASED"


@dataclass(frozen=True)
class TypedRagConfig(Config):
    """Settings of Typed-RAG.

    Attributes:
        min_parts: Fewest sub-questions or perspectives that make a decomposition; with fewer it is asked for again.
        max_parts: Most of them that are used; further ones are left out, flagged.
        experience_query: What the passages of an EXPERIENCE question are searched with.
        experience_pool: How many passages are found for an EXPERIENCE question before the best ``k`` are chosen by
            its keywords; with ``k`` reranking only reorders them.

    Example:
        >>> TypedRagConfig(max_parts=3).max_parts
        3
    """

    min_parts: int = 2
    max_parts: int = 5
    experience_query: Literal["question", "keywords", "question+keywords"] = "question+keywords"
    experience_pool: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.min_parts <= self.max_parts:
            raise AspectragError(f"min_parts {self.min_parts} and max_parts {self.max_parts} leave no room between")


class TypedRag(Program):
    """Typed-RAG over any retriever.

    The result's ``route`` is the question's type. A stage whose output stays useless after ``max_attempts`` falls back
    to plain RAG on the original question, named in ``fallbacks``.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from aspectrag import lms
        >>> from aspectrag.data import Passage
        >>> from aspectrag.data.index import build
        >>> lm = lms.scripted_lm({"type": "FACTOID", "answer": "It is [1].", "citations": [1]})
        >>> with TemporaryDirectory() as folder, dspy.context(lm=lm):
        ...     index = build([Passage("1", "Coal", "Coal is cheap.")], f"{folder}/index", "bm25")
        ...     found = TypedRag(None, index)(question="Is coal cheap?")
        >>> found.route, found.answer
        ('FACTOID', 'It is [1].')
    """

    config_class: ClassVar[type[Config]] = TypedRagConfig
    config: TypedRagConfig
    retriever: Retriever

    def __init__(self, config: TypedRagConfig | None = None, retriever: Retriever | None = None) -> None:
        super().__init__(config, retriever)
        self.classify = dspy.Predict(ClassifyQuestion)
        self.extract_comparison = dspy.Predict(ExtractComparison)
        self.extract_experience = dspy.Predict(ExtractExperienceKeywords)
        self.reason_queries = dspy.Predict(GenerateReasonQueries)
        self.instruction_queries = dspy.Predict(GenerateInstructionQueries)
        self.plan_debate = dspy.Predict(PlanDebate)
        self.answer = dspy.Predict(AnswerFromPassages)
        self.answer_comparison = dspy.Predict(AnswerComparison)
        self.aggregate = dspy.Predict(AggregateAnswers)
        self.mediate = dspy.Predict(MediateDebate)

    def forward(self, question: str) -> Result:
        """Answer a question by the path of its type."""
        question = self.check(question)
        paths: dict[str, Callable[[str], Result]] = {
            "COMPARISON": self._comparison,
            "EXPERIENCE": self._experience,
            "REASON": self._reason,
            "INSTRUCTION": self._instruction,
            "DEBATE": self._debate,
        }
        kind = PLAIN
        try:
            kind = self.call("classify", lambda out: str(out.type), question=question)
            if kind in paths:
                return paths[kind](question)
        except StageError as failed:
            fall_back(failed.stage, f"{failed.reason}; plain RAG instead")
        (passages,) = retrieve(self.retriever, [question], self.config.k)
        return self._answered(kind, question, passages)

    def _comparison(self, question: str) -> Result:
        def accept(out: dspy.Prediction) -> tuple[str, list[str]] | None:
            # "Not a comparison" is an answer, not a fault: asking again would be fishing for another one.
            if not out.is_compare:
                return None
            return out.compare_type, at_least(1, out.keywords, "keywords")

        found = self.call("extract_comparison", accept, question=question)
        if found is None:
            raise StageError("extract_comparison", "the question is held to compare nothing")
        compare_type, keywords = found[0], at_most(self.config.max_parts, found[1], "extract_comparison")
        pool = merge(retrieve(self.retriever, keywords, self.config.k))
        passages = rerank(self.retriever, question, pool, self.config.k)
        answer, shown = self.answer_from("answer_comparison", passages,
            question=question, compare_type=compare_type, keywords=keywords,
        )  # fmt: skip
        return result(answer, route="COMPARISON", passages=shown, steps=1)

    def _experience(self, question: str) -> Result:
        found = self.call("extract_experience", lambda out: at_least(1, out.keywords, "keywords"), question=question)
        keywords = ", ".join(found)
        query = {"question": question, "keywords": keywords, "question+keywords": f"{question} {keywords}"}
        pool_size = max(self.config.k, self.config.experience_pool)
        (pool,) = retrieve(self.retriever, [query[self.config.experience_query]], pool_size)
        passages = rerank(self.retriever, keywords, merge([pool]), self.config.k)
        return self._answered("EXPERIENCE", question, passages)

    def _reason(self, question: str) -> Result:
        return self._by_parts("REASON", "reason_queries", question)

    def _instruction(self, question: str) -> Result:
        return self._by_parts("INSTRUCTION", "instruction_queries", question)

    def _by_parts(self, kind: str, stage: str, question: str) -> Result:
        def accept(out: dspy.Prediction) -> list[str]:
            return at_least(self.config.min_parts, out.queries, "distinct sub-questions")

        queries = at_most(self.config.max_parts, self.call(stage, accept, question=question), stage)
        parts = self._answer_parts(queries, [None] * len(queries))
        answer, passages = self.merge("aggregate", parts, "sub_answers", question=question)
        return result(answer, route=kind, passages=passages, sub_questions=parts, steps=1)

    def _debate(self, question: str) -> Result:
        def accept(out: dspy.Prediction) -> tuple[str, list[Perspective]]:
            if not out.topic.strip():
                raise RejectedOutputError("the topic is missing")
            if not all(p.opinion.strip() and p.query.strip() for p in out.perspectives):
                raise RejectedOutputError("an opinion or its search question is missing")
            at_least(self.config.min_parts, (p.opinion for p in out.perspectives), "distinct opinions")
            return out.topic, list({p.opinion.strip().casefold(): p for p in out.perspectives}.values())

        topic, perspectives = self.call("plan_debate", accept, question=question)
        perspectives = at_most(self.config.max_parts, perspectives, "plan_debate")
        parts = self._answer_parts([p.query for p in perspectives], [p.opinion for p in perspectives])
        answer, passages = self.merge("mediate", parts, "responses", topic=topic)
        return result(answer, route="DEBATE", passages=passages, sub_questions=parts, steps=1)

    def _answer_parts(self, queries: Sequence[str], perspectives: Sequence[str | None]) -> list[SubQuestion]:
        """Retrieve for all sub-questions in one batch, then answer them side by side."""

        def answer(part: tuple[str, str | None, list[Passage]]) -> SubQuestion:
            query, perspective, passages = part
            text, shown = self.answer_from("answer", passages, question=query)
            return SubQuestion(query, text, tuple(shown), perspective)

        found = retrieve(self.retriever, queries, self.config.k)
        return run_all(answer, list(zip(queries, perspectives, found, strict=True)), "sub-question")

    def _answered(self, kind: str, question: str, passages: Sequence[Passage]) -> Result:
        answer, shown = self.answer_from("answer", passages, question=question)
        return result(answer, route=kind, passages=shown, steps=1)
