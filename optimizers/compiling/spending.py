"""What an optimization will take, and what it took."""

from dataclasses import dataclass
from typing import Any

from dspy.utils.usage_tracker import UsageTracker

from .measuring import Probe


@dataclass(frozen=True)
class Estimate:
    """What an optimization will take, at most, before it begins.

    Attributes:
        runs: Of the student, both measurements among them.
        calls: Of language models, those of the student.
        tokens: Of these.
        seconds: Wall-clock, at the pace of the first runs.
    """

    runs: int
    calls: int
    tokens: int
    seconds: float

    def __str__(self) -> str:
        """One line."""
        return f"at most {self.runs:,} runs, {self.calls:,} calls, {self.tokens:,} tokens, {_span(self.seconds)}"


def estimated(first: Probe, runs: int, test: int, workers: int) -> Estimate:
    """What is to come, by what a few runs took.

    Args:
        first: A few runs.
        runs: Of the optimizer, at most.
        test: Examples that are measured on, before and after.
        workers: Runs at once.
    """
    total = runs + 2 * test
    at_once = min(workers, max(1, first.runs))
    return Estimate(
        total,
        round(total * first.calls / first.runs),
        round(total * first.tokens / first.runs),
        total * first.seconds / first.runs / at_once,
    )


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"about {round(seconds)} seconds" if seconds >= 1.5 else "about a second"
    return f"about {minutes} minutes" if minutes < 120 else f"about {minutes / 60:.1f} hours"


class Spent(UsageTracker):
    """Counts calls and tokens, of all threads."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Spent":
        return self

    def totals(self) -> dict[str, float]:
        """Calls and tokens."""
        entries = [entry for model in self.usage_data.values() for entry in model]
        return {
            "lm_calls": len(entries),
            "prompt_tokens": sum(int(entry.get("prompt_tokens") or 0) for entry in entries),
            "completion_tokens": sum(int(entry.get("completion_tokens") or 0) for entry in entries),
        }
