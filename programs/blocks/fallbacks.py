"""Fallbacks: simpler paths that were taken, said aloud."""

from dataclasses import dataclass
from typing import Any

import dspy

from ...texts import encodable
from ..trace import note

MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Fallback:
    """A simpler path that was taken: at which stage, and why."""

    stage: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {"stage": self.stage, "reason": self.reason}


def fall_back(stage: str, reason: str) -> None:
    """Record a fallback of the program call that is running, in its result and in its trace."""
    # A reason may hold what a model said: of any length, and with line breaks that would look like the program's own.
    reason = encodable(" ".join(reason[: 4 * MOST_CHARACTERS].split()))
    reason = reason if len(reason) <= MOST_CHARACTERS else reason[: MOST_CHARACTERS - 1] + "…"
    note("fallback", stage, reason)
    if (collected := dspy.settings.get("fallbacks")) is not None:
        collected.append(Fallback(stage, reason))
