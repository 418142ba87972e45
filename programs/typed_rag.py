"""Typed-RAG: the type of a question decides how it is taken apart, retrieved for, and put together again.

Source: Typed-RAG (arXiv 2503.15879), section 3. The paths per type:

===================================== ============================================================================
FACTOID, EVIDENCE-BASED, NOT-A-QUESTION retrieve, answer (plain RAG)
COMPARISON                            keywords -> retrieve each -> rerank by the question -> answer with the keywords
EXPERIENCE                            keywords -> retrieve -> rerank by the keywords -> answer
REASON, INSTRUCTION                   2-5 sub-questions -> retrieve and answer each -> aggregate
DEBATE                                topic, 2-5 perspectives -> retrieve and answer each -> mediate
===================================== ============================================================================
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

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
from ..signatures.merging import PerspectiveAnswer, SubAnswer
from ..signatures.typed import Perspective
from .blocks.answering import SubQuestion, answer_from, generate, pooled
from .blocks.citations import citations, cited, renumber
from .blocks.concurrent import run_all
from .blocks.fallbacks import fall_back
from .blocks.passages import merge, rerank, retrieve
from .blocks.stage import RejectedOutputError, StageError, call_stage
from .program import Config, Program, Result, result

Accepted = TypeVar("Accepted")
Part = TypeVar("Part")

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
    """

    min_parts: int = 2
    max_parts: int = 5
    experience_query: Literal["question", "keywords", "question+keywords"] = "question+keywords"
    experience_pool: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.min_parts <= self.max_parts:
            raise AspectragError(f"min_parts {self.min_parts} and max_parts {self.max_parts} leave no room between")
        if self.experience_query not in ("question", "keywords", "question+keywords"):
            raise AspectragError(
                f"experience_query is question, keywords or question+keywords, not {self.experience_query!r}"
            )


class TypedRag(Program):
    """Typed-RAG over any retriever.

    The result's ``route`` is the question's type. A stage whose output stays useless after ``max_attempts`` falls back
    to plain RAG on the original question, named in ``fallbacks``.
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
            kind = self._call("classify", lambda out: str(out.type), question=question)
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
            return out.compare_type, _at_least(1, out.keywords, "keywords")

        found = self._call("extract_comparison", accept, question=question)
        if found is None:
            raise StageError("extract_comparison", "the question is held to compare nothing")
        compare_type, keywords = found[0], self._at_most("extract_comparison", found[1])
        pool = merge(retrieve(self.retriever, keywords, self.config.k))
        passages = rerank(self.retriever, question, pool, self.config.k)
        answer, shown = answer_from(
            "answer_comparison", self.answer_comparison, self.config.max_attempts, passages,
            question=question, compare_type=compare_type, keywords=keywords,
        )  # fmt: skip
        return result(answer, route="COMPARISON", passages=shown, steps=1)

    def _experience(self, question: str) -> Result:
        found = self._call("extract_experience", lambda out: _at_least(1, out.keywords, "keywords"), question=question)
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
            return _at_least(self.config.min_parts, out.queries, "distinct sub-questions")

        queries = self._at_most(stage, self._call(stage, accept, question=question))
        parts = self._answer_parts(queries, [None] * len(queries))
        passages, answers = pooled(parts)
        sub_answers = [SubAnswer(question=q, answer=a) for q, a in zip(queries, answers, strict=True)]
        answer = self._merge("aggregate", answers, question=question, sub_answers=sub_answers)
        return self._merged(kind, answer, parts, passages, answers)

    def _debate(self, question: str) -> Result:
        def accept(out: dspy.Prediction) -> tuple[str, list[Perspective]]:
            if not out.topic.strip():
                raise RejectedOutputError("the topic is missing")
            if not all(p.opinion.strip() and p.query.strip() for p in out.perspectives):
                raise RejectedOutputError("an opinion or its search question is missing")
            _at_least(self.config.min_parts, (p.opinion for p in out.perspectives), "distinct opinions")
            return out.topic, list({p.opinion.strip().casefold(): p for p in out.perspectives}.values())

        topic, perspectives = self._call("plan_debate", accept, question=question)
        perspectives = self._at_most("plan_debate", perspectives)
        parts = self._answer_parts([p.query for p in perspectives], [p.opinion for p in perspectives])
        passages, answers = pooled(parts)
        responses = [
            PerspectiveAnswer(perspective=p.opinion, answer=a) for p, a in zip(perspectives, answers, strict=True)
        ]
        answer = self._merge("mediate", answers, topic=topic, responses=responses)
        return self._merged("DEBATE", answer, parts, passages, answers)

    def _answer_parts(self, queries: Sequence[str], perspectives: Sequence[str | None]) -> list[SubQuestion]:
        """Retrieve for all sub-questions in one batch, then answer them side by side."""

        def answer(part: tuple[str, str | None, list[Passage]]) -> SubQuestion:
            query, perspective, passages = part
            text, shown = answer_from("answer", self.answer, self.config.max_attempts, passages, question=query)
            return SubQuestion(query, text, tuple(shown), perspective)

        found = retrieve(self.retriever, queries, self.config.k)
        return run_all(answer, list(zip(queries, perspectives, found, strict=True)), "sub-question")

    def _answered(self, kind: str, question: str, passages: Sequence[Passage]) -> Result:
        answer, shown = answer_from("answer", self.answer, self.config.max_attempts, passages, question=question)
        return result(answer, route=kind, passages=shown, steps=1)

    def _merge(self, stage: str, answers: Sequence[str], **inputs: Any) -> str:
        """Merge the answers to the parts; where that cannot be done, they stand one after another."""
        try:
            merged = generate(stage, getattr(self, stage), self.config.max_attempts, **inputs)
        except dspy.ContextWindowExceededError:
            merged = ""
            fall_back(stage, "the prompt exceeds the context window; the answers to the parts are given as they are")
        return merged or "\n\n".join(filter(None, answers))

    def _merged(
        self, kind: str, answer: str, parts: list[SubQuestion], passages: list[Passage], answers: list[str]
    ) -> Result:
        # A merged answer that lost its citations still rests on what its parts rest on.
        rests_on = {citation.number for text in answers for citation in citations(text, passages)}
        answer = cited(renumber(answer, passages, passages), rests_on)
        return result(answer, route=kind, passages=passages, sub_questions=parts, steps=1)

    def _call(self, stage: str, accept: Callable[[dspy.Prediction], Accepted], **inputs: str) -> Accepted:
        return call_stage(stage, getattr(self, stage), accept, self.config.max_attempts, **inputs)

    def _at_most(self, stage: str, parts: list[Part]) -> list[Part]:
        most = self.config.max_parts
        if len(parts) > most:
            fall_back(stage, f"{len(parts)} parts, the first {most} are used")
        return parts[:most]


def _at_least(count: int, texts: Iterable[str], what: str) -> list[str]:
    """The texts without blanks and repetitions.

    Raises:
        RejectedOutputError: Fewer than ``count`` are left.
    """
    distinct = list({text.strip().casefold(): text.strip() for text in texts if text.strip()}.values())
    if len(distinct) < count:
        raise RejectedOutputError(f"{len(distinct)} {what} where at least {count} are needed")
    return distinct
