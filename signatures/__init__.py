"""What each language-model call is given and must return: contracts alone, no logic."""

from .answering import AnswerComparison, AnswerDirectly, AnswerFromPassages
from .merging import AggregateAnswers, MediateDebate
from .typed import (
    ClassifyQuestion,
    ExtractComparison,
    ExtractExperienceKeywords,
    GenerateInstructionQueries,
    GenerateReasonQueries,
    PlanDebate,
)

__all__ = [
    "AggregateAnswers",
    "AnswerComparison",
    "AnswerDirectly",
    "AnswerFromPassages",
    "ClassifyQuestion",
    "ExtractComparison",
    "ExtractExperienceKeywords",
    "GenerateInstructionQueries",
    "GenerateReasonQueries",
    "MediateDebate",
    "PlanDebate",
]
