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
from .construction import (
    GradeAnswers,
    JoinQuestions,
    RewriteAnswer,
    WriteEasyQuestion,
    WriteGradedAnswers,
)
from .evaluating import (
    JudgeCitation,
    JudgeCoverage,
    RankAgainstReferences,
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
    "GradeAnswers",
    "JoinQuestions",
    "JudgeCitation",
    "JudgeCoverage",
    "JudgeEnding",
    "JudgeRelevance",
    "JudgeRetrieval",
    "JudgeSupport",
    "JudgeUsefulness",
    "MediateDebate",
    "NextThought",
    "PlanDebate",
    "RankAgainstReferences",
    "RankPassages",
    "RatePopularity",
    "RefineSeedQuestion",
    "RewriteAnswer",
    "RouteQuestion",
    "SelectRelevant",
    "SplitByFacet",
    "WriteEasyQuestion",
    "WriteGradedAnswers",
    "WriteRichAnswer",
]
