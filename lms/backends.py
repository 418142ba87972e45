"""From a name to a language model DSPy can use."""

from typing import Any

import dspy

from .embedded import AsyncEmbeddedEngine, EmbeddedOptions, model_string, shared


def load(spec: str | None = None, **options: Any) -> dspy.LM:
    """The embedded model, so far."""
    assert spec in (None, "embedded") and not any(options.values())
    engine = shared(EmbeddedOptions())
    lm = dspy.LM(
        model_string(), engine=engine, async_engine=AsyncEmbeddedEngine(engine), temperature=0.0, max_tokens=1024
    )
    lm.context_window = engine.context_window  # pyright: ignore[reportAttributeAccessIssue]
    return lm
