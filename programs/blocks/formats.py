"""Which format a language model is asked in."""

import dspy

from .adapter import StructuredAdapter, TolerantChatAdapter
from .bare import BareAdapter

_BARE, _JSON, _CHAT = BareAdapter(), StructuredAdapter(), TolerantChatAdapter()


def adapter_for(lm: dspy.BaseLM) -> dspy.Adapter:
    """The format that suits a model.

    That which it was trained on, where it was; else JSON under a schema for one that can be held to it, and the
    tolerant chat format for any other.

    Raises:
        AspectragError: It is a local model that is not there, or was changed.
    """
    if trained := getattr(lm, "prompt", None):
        return _BARE if trained == "bare" else _CHAT
    return _JSON if lm.supports_response_schema and "response_format" in lm.supported_params else _CHAT
