"""What is known of the right answer, beside the trace of the one that was given."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """For whoever looks for what went wrong.

    Attributes:
        expected: Right answers.
        stage: The first stage that lost the answer; empty where it is right, or that cannot be told.
        reason: Why it is held to be that one.
        place: Of the step that lost it among all of the trace, outer ones first, from 0; ``None`` where there is none.
    """

    expected: Sequence[str] = ()
    stage: str = ""
    reason: str = ""
    place: int | None = None
