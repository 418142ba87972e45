"""The methods: each a DSPy module composed of typed signatures."""

from typing import TYPE_CHECKING

from ..lazy import lazy

if TYPE_CHECKING:
    from .baselines.adaptive import Adaptive, AdaptiveConfig
    from .baselines.adaptive_retrieval import AdaptiveRetrieval, AdaptiveRetrievalConfig
    from .baselines.direct import Direct
    from .baselines.ircot import Ircot, IrcotConfig
    from .baselines.rag import Rag
    from .baselines.self_rag import SelfRag, SelfRagConfig
    from .config import AnswerConfig, Config
    from .han_rag import HanRag, HanRagConfig
    from .program import Program, Result, result
    from .rankers.pointer import PointerRanker
    from .registry import METHODS, method
    from .rich_rag import RichRag, RichRagConfig
    from .steering import steered
    from .trace import Step, Trace
    from .typed_rag import TypedRag, TypedRagConfig

_HOMES = {
    "METHODS": "registry",
    "Adaptive": "baselines.adaptive",
    "AdaptiveConfig": "baselines.adaptive",
    "AdaptiveRetrieval": "baselines.adaptive_retrieval",
    "AdaptiveRetrievalConfig": "baselines.adaptive_retrieval",
    "AnswerConfig": "config",
    "Config": "config",
    "Direct": "baselines.direct",
    "HanRag": "han_rag",
    "HanRagConfig": "han_rag",
    "Ircot": "baselines.ircot",
    "IrcotConfig": "baselines.ircot",
    "PointerRanker": "rankers.pointer",
    "Program": "program",
    "Rag": "baselines.rag",
    "Result": "program",
    "RichRag": "rich_rag",
    "RichRagConfig": "rich_rag",
    "SelfRag": "baselines.self_rag",
    "SelfRagConfig": "baselines.self_rag",
    "Step": "trace",
    "Trace": "trace",
    "TypedRag": "typed_rag",
    "TypedRagConfig": "typed_rag",
    "method": "registry",
    "result": "program",
    "steered": "steering",
}

__all__ = [
    "METHODS",
    "Adaptive",
    "AdaptiveConfig",
    "AdaptiveRetrieval",
    "AdaptiveRetrievalConfig",
    "AnswerConfig",
    "Config",
    "Direct",
    "HanRag",
    "HanRagConfig",
    "Ircot",
    "IrcotConfig",
    "PointerRanker",
    "Program",
    "Rag",
    "Result",
    "RichRag",
    "RichRagConfig",
    "SelfRag",
    "SelfRagConfig",
    "Step",
    "Trace",
    "TypedRag",
    "TypedRagConfig",
    "method",
    "result",
    "steered",
]

# Lazy: who needs one block alone does not pay for DSPy and all methods.
__getattr__, __dir__ = lazy(__name__, _HOMES)
