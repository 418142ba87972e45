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
from .rich import (
    ExploreAspects,
    RankPassages,
    SplitByFacet,
    WriteRichAnswer,
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
    "ExploreAspects",
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
    "RankPassages",
    "RatePopularity",
    "RefineSeedQuestion",
    "RouteQuestion",
    "SelectRelevant",
    "SplitByFacet",
    "WriteRichAnswer",
]
