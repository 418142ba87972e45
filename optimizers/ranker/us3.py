"""Which pairs of lists to learn a preference from.

RichRAG (arXiv 2406.12566) names its "unilateral significance sampling strategy" (US3) without saying how it samples.
This is our reading: one side of every pair is the anchor, the list that the ranker would give now, and only a
difference that is significant makes a pair. The two other strategies are for comparison.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

Strategy = Literal["us3", "best-vs-worst", "all-pairs"]


def preference_pairs(rewards: Sequence[float], tau: float, strategy: Strategy = "us3") -> list[tuple[int, int]]:
    """Pairs (chosen, rejected) of lists, each by its place in ``rewards``; every pair differs by at least ``tau``.

    Args:
        rewards: What each list earned; the first is the anchor's.
        tau: Smallest difference that counts, above 0.
        strategy: ``us3``: the best list against the anchor, and the anchor against the worst.
            ``best-vs-worst``: these two. ``all-pairs``: all.

    Example:
        >>> preference_pairs([.30, .36, .29, .22], tau=.05)
        [(1, 0), (0, 3)]
        >>> preference_pairs([.30, .32, .29], tau=.05)
        []
    """
    places = range(len(rewards))
    best, worst = max(places, key=rewards.__getitem__), min(places, key=rewards.__getitem__)
    match strategy:
        case "us3":
            pairs = [(best, 0), (0, worst)]
        case "best-vs-worst":
            pairs = [(best, worst)]
        case "all-pairs":
            pairs = [(i, j) if rewards[i] > rewards[j] else (j, i) for i, j in combinations(places, 2)]
    # Rounded, lest .35 - .30 be less than .05.
    return [(i, j) for i, j in pairs if round(rewards[i] - rewards[j], 9) >= tau and i != j]
