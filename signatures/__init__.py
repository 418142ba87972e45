"""What each language-model call is given and must return: contracts alone, no logic."""

from .adaptive import (
    ClassifyComplexity,
    NextThought,
    RatePopularity,
)
from .answering import (
    AnswerComparison,
    AnswerDirectly,
    AnswerFromPassages,
    AnswerWithConfidence,
    BriefAnswerDirectly,
    BriefAnswerFromPassages,
)
from .han import (
    DecomposeCompound,
    RefineSeedQuestion,
    RouteQuestion,
)
from .judging import (
    JudgeEnding,
    JudgeRelevance,
    JudgeRetrieval,
    JudgeSupport,
    JudgeUsefulness,
    SelectRelevant,
)
from .merging import (
    AggregateAnswers,
    BriefAggregateAnswers,
    MediateDebate,
)
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
    "AnswerWithConfidence",
    "BriefAggregateAnswers",
    "BriefAnswerDirectly",
    "BriefAnswerFromPassages",
    "ClassifyComplexity",
    "ClassifyQuestion",
    "DecomposeCompound",
    "ExtractComparison",
    "ExtractExperienceKeywords",
    "GenerateInstructionQueries",
    "GenerateReasonQueries",
    "JudgeEnding",
    "JudgeRelevance",
    "JudgeRetrieval",
    "JudgeSupport",
    "JudgeUsefulness",
    "MediateDebate",
    "NextThought",
    "PlanDebate",
    "RatePopularity",
    "RefineSeedQuestion",
    "RouteQuestion",
    "SelectRelevant",
]
