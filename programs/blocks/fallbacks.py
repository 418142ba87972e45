"""Fallbacks: simpler paths that were taken, said aloud."""

import re
from dataclasses import dataclass
from typing import Any

import dspy

from ...texts import encodable
from ..trace import note

MOST_CHARACTERS = 300
# How the reasons begin that say so: of stage.py, and of all that refuse an output.
_UNUSABLE = re.compile(
    r"the output (?:does not parse|was cut off)"
    r"|the answer is empty|the topic is missing|an opinion or its search question is missing"
    r"|no number of a passage is named|numbers \[|\d+ [a-z -]+ where at least \d+ are needed"
)


@dataclass(frozen=True, slots=True)
class Fallback:
    """A simpler path that was taken: at which stage, and why."""

    stage: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {"stage": self.stage, "reason": self.reason}


def fall_back(stage: str, reason: str) -> None:
    """Record a fallback of the program call that is running, in its result and in its trace.

    Example:
        >>> collected = []
        >>> with dspy.context(fallbacks=collected):
        ...     fall_back("classify", "no type; plain RAG instead")
        >>> collected
        [Fallback(stage='classify', reason='no type; plain RAG instead')]
    """
    # A reason may hold what a model said: of any length, and with line breaks that would look like the program's own.
    reason = encodable(" ".join(reason[: 4 * MOST_CHARACTERS].split()))
    reason = reason if len(reason) <= MOST_CHARACTERS else reason[: MOST_CHARACTERS - 1] + "…"
    note("fallback", stage, reason)
    if (collected := dspy.settings.get("fallbacks")) is not None:
        collected.append(Fallback(stage, reason))


def is_unusable_output(reason: str) -> bool:
    """Whether a simpler path was taken since nothing that the model said could be used: not parsed, or refused.

    Runs keep reasons as texts, so that a text is all there is to tell by.

    Example:
        >>> is_unusable_output("the output does not parse; no answer"), is_unusable_output("nothing was found; ...")
        (True, False)
    """
    return bool(_UNUSABLE.match(reason))
