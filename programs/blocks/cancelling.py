"""Giving up: branches whose caller was interrupted make no further call."""

from concurrent.futures import CancelledError
from threading import Event

import dspy


def watched(event: Event) -> tuple[Event, ...]:
    """The events that end the work of a branch: its own, and those of the branches around it."""
    return (*(dspy.settings.get("cancelled") or ()), event)


def stop_if_cancelled() -> None:
    """Leave a branch that nobody waits for any more.

    Raises:
        CancelledError: One of its events is set.
    """
    if any(event.is_set() for event in dspy.settings.get("cancelled") or ()):
        raise CancelledError("the question was interrupted")
