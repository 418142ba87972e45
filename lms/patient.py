"""Waiting for a server, within bounds that a person at a terminal can live with."""

import asyncio
import time
from typing import Any

import dspy
from dspy.utils.exceptions import LMTimeoutError, is_retryable_lm_error

from .named import NamedLM

# A server may ask for a day of patience; that is an answer, not a pause.
LONGEST_WAIT = 60.0


class PatientLM(NamedLM):
    """A ``dspy.LM`` that repeats calls which failed for a passing reason, each repetition a call of its own in traces.

    DSPy's own retries wait as long as a server says, out of sight. Here a wait of more than a minute is a failure, and
    so is a call that timed out: what took too long once will again.

    Args:
        model: As for ``dspy.LM``.
        patience: How often a call is repeated.
        arguments: As for ``dspy.LM``.
    """

    def __init__(self, model: str, patience: int = 3, **arguments: Any) -> None:
        super().__init__(model, num_retries=0, **arguments)
        self.patience = patience

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As ``dspy.LM``, repeated where that may help."""
        attempt = 0
        while True:
            try:
                return super().__call__(*args, **kwargs)
            except dspy.LMError as error:
                time.sleep(self._wait(error, attempt))
            attempt += 1

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """The same, awaited."""
        attempt = 0
        while True:
            try:
                return await super().acall(*args, **kwargs)
            except dspy.LMError as error:
                await asyncio.sleep(self._wait(error, attempt))
            attempt += 1

    def _wait(self, error: dspy.LMError, attempt: int) -> float:
        """Seconds until the next attempt; where there is to be none, the error is raised again."""
        hint = getattr(error, "retry_after", None)
        seconds = float(hint) if isinstance(hint, int | float) and hint >= 0 else min(2.0**attempt, LONGEST_WAIT)
        # What was streamed is on the screen already: it cannot be begun again.
        hopeless = isinstance(error, LMTimeoutError) or not is_retryable_lm_error(error) or dspy.settings.send_stream
        if hopeless or attempt >= self.patience or seconds > LONGEST_WAIT:
            raise error
        return seconds
