"""A local model as DSPy's optimizers and the programs know it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

import dspy

from ..named import NamedLM
from .engine import AsyncLocalEngine, LocalEngine, LocalOptions, shared


@dataclass
class _Call:
    """A call that is going on: whether history is kept, and what was measured."""

    kept: bool
    probabilities: list[dict[str, dict[str, float]]] = field(default_factory=list)


_call: ContextVar[_Call | None] = ContextVar("call of a local model", default=None)


class LocalLM(NamedLM):
    """A language model on the engine of local models; ``copy(model=...)`` gives one with another adapter."""

    @property
    def prompt(self) -> str | None:
        """How it is asked, as it was trained: ``bare``, ``chat`` in DSPy's format, or None for a base as it is.

        Raises:
            AspectragError: There is no such model, or it was changed.
        """
        card = self._local.named(self.model).card
        return card.prompt if card else None

    @property
    def context_window(self) -> int:
        """Most tokens of prompt and answer together.

        Raises:
            AspectragError: The base cannot be had.
        """
        return self._local.window(self.model)

    @property
    def probabilities(self) -> list[dict[str, dict[str, float]]]:
        """Of the labels of each choice, by field, for each answer of the call that ends now: for callbacks.

        They are there for answers out of the cache too.
        """
        call = _call.get()
        return call.probabilities if call is not None else []

    def load(self) -> None:
        """Load the base, and convert it where that was not done yet, before the first question.

        Raises:
            AspectragError: It cannot be had.
        """
        self._local.load(self.model)

    def count_tokens(self, text: str) -> int:
        """How many tokens it reads a text as.

        Raises:
            AspectragError: The base cannot be had.
        """
        return self._local.count_tokens(self.model, text)

    @property
    def _local(self) -> LocalEngine:
        return cast("LocalEngine", self.engine)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As ``dspy.LM``."""
        with _listening():
            return super().__call__(*args, **kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """The same, awaited."""
        with _listening():
            return await super().acall(*args, **kwargs)

    def update_history(self, entry: dict[str, Any]) -> None:
        """Note what was measured; keep the entry unless history is switched off."""
        call = _call.get()
        if call is not None:
            given = entry["response"]
            responses = given if isinstance(given, tuple) else (given,)
            call.probabilities = [
                (getattr(each, "provider_data", None) or {}).get("probabilities", {}) for each in responses
            ]
        if call is None or call.kept:
            super().update_history(entry)


@contextmanager
def _listening() -> Iterator[None]:
    """Let DSPy hand over responses: callbacks see texts alone, history sees all, and evaluations switch it off."""
    token = _call.set(_Call(kept=not dspy.settings.disable_history))
    try:
        with dspy.context(disable_history=False):
            yield
    finally:
        _call.reset(token)


def local_lm(model: str, options: LocalOptions | None = None, **arguments: Any) -> LocalLM:
    """A language model by name.

    Args:
        model: ``local/NAME``; see :func:`.names.find`.
        options: How local models run.
        **arguments: Of ``dspy.LM``.

    Raises:
        AspectragError: There is no such model.
    """
    engine = shared(options)
    # No passing reasons here: what fails in this process fails again.
    arguments = {"num_retries": 0, **arguments}
    return LocalLM(str(engine.named(model)), engine=engine, async_engine=AsyncLocalEngine(engine), **arguments)
