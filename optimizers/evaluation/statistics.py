"""Means with intervals, and differences of two runs over the same questions: percentile bootstraps, seeded."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

RESAMPLES = 5_000
# A p value below it is shown as one that chance alone seldom gives.
SIGNIFICANT = 0.05
# Resamples drawn at once: memory stays bounded however many questions there are.
_BLOCK = 2_000_000
# So many questions can be swapped in 4,096 ways.
_ALL_WAYS = 12


@dataclass(frozen=True)
class Mean:
    """A mean over questions.

    Attributes:
        mean: The mean.
        low: Lower end of its 95 % interval.
        high: Upper end.
        n: Questions.
    """

    mean: float
    low: float
    high: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return asdict(self)

    def __str__(self) -> str:
        """``mean [low, high]``, with as many digits as its size asks for."""
        digits = 1 if abs(self.mean) >= 100 else 2 if abs(self.mean) >= 10 else 3
        return "{:.{d}f} [{:.{d}f}, {:.{d}f}]".format(self.mean, self.low, self.high, d=digits)


@dataclass(frozen=True)
class Difference(Mean):
    """A mean of differences, question by question.

    Attributes:
        p: How surprising so large a difference were if there was none, two-sided.
    """

    p: float

    def signed(self) -> str:
        """With its sign, and its interval."""
        return str(self) if str(self).startswith("-") else f"+{self}"

    def p_text(self) -> str:
        """Its p value as it is usually printed."""
        return "< 0.001" if self.p < 0.001 else f"{self.p:.3f}"


def mean_of(values: Sequence[float], seed: int = 0) -> Mean:
    """The mean of values with its 95 % percentile bootstrap interval (Efron and Tibshirani, 1993, chapter 13).

    Raises:
        ValueError: There are none; a mean of nothing is no number.

    Example:
        >>> str(mean_of([1.0, 1.0, 1.0]))
        '1.000 [1.000, 1.000]'
    """
    means = _means(values, seed)
    low, high = np.percentile(means, [2.5, 97.5])
    return Mean(float(np.mean(values)), float(low), float(high), len(values))


def difference_of(ours: Sequence[float], theirs: Sequence[float], seed: int = 0) -> Difference:
    """The mean of ``ours - theirs`` with its 95 % paired bootstrap interval, and a p value.

    The p value is that of the paired randomisation test (Fisher; for retrieval Smucker et al., CIKM 2007): the share of
    all ways to swap the two runs, question by question, whose mean difference is at least as far from 0. Up to twelve
    questions all ways are counted, beyond them some are drawn.

    Raises:
        ValueError: The two do not pair up, or there are none.

    Example:
        >>> seen = difference_of([1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0])
        >>> seen.mean, seen.p > 0.05
        (0.25, True)
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} values do not pair up with {len(theirs)}")
    differences = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    means = _means(differences, seed)
    low, high = np.percentile(means, [2.5, 97.5])
    p = _randomised(differences, seed)
    return Difference(float(differences.mean()), float(low), float(high), len(differences), p)


def _randomised(differences: np.ndarray, seed: int) -> float:
    count = len(differences)
    # A hair of room: sums in another order differ in their last digit.
    least = abs(differences.mean()) - 1e-12
    if count <= _ALL_WAYS:
        swaps = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        return float((np.abs(swaps @ differences) / count >= least).mean())
    rng, extreme = np.random.default_rng(seed), 0
    for size in _sizes(count):
        swaps = 1 - 2 * rng.integers(0, 2, (size, count), dtype=np.int8)
        extreme += int((np.abs(swaps @ differences) / count >= least).sum())
    return (extreme + 1) / (RESAMPLES + 1)


def _means(values: Sequence[float] | np.ndarray, seed: int) -> np.ndarray:
    sample = np.asarray(values, dtype=float)
    if not len(sample):
        raise ValueError("there is no value to take the mean of")
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [sample[rng.integers(0, len(sample), (size, len(sample)))].mean(axis=1) for size in _sizes(len(sample))]
    )


def _sizes(count: int) -> list[int]:
    """How many resamples of so many questions are drawn at once."""
    block = max(1, _BLOCK // count)
    return [min(block, RESAMPLES - done) for done in range(0, RESAMPLES, block)]
