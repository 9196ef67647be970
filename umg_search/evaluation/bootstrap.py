"""Intervals of means over questions, and of mean differences between two methods on the same questions.

Source: the paired bootstrap of Efron & Tibshirani 1993, chapter 16: questions are drawn anew with replacement, and the
interval holds the middle 95 % of the means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from umg_search.model import FloatArray, IntArray

RESAMPLES = 10_000
TAILS = (2.5, 97.5)
"""Percentiles between which the interval lies."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions and its 95 % interval; `questions` were measured."""

    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """Mean difference of two methods and its 95 % interval; `questions` were measured for both."""

    @property
    def certain(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def difference(
    one: Sequence[float | None], other: Sequence[float | None], *, seed: int = 0, resamples: int = RESAMPLES
) -> Difference | None:
    """Return how much higher the first method's figures are than the other's, question by question.

    Questions that are not measured for both are left out; None where none is left.
    """
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return Difference(*_resampled([a - b for a, b in pairs], seed, resamples)) if pairs else None


def interval(column: Sequence[float | None], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval | None:
    """Return the mean of a method's figures and its interval; None where no question is measured."""
    known = [value for value in column if value is not None]
    return Interval(*_resampled(known, seed, resamples)) if known else None


def _resampled(found: Sequence[float], seed: int, resamples: int) -> tuple[float, float, float, int]:
    values = np.array(found)
    means = draws(len(values), seed, resamples) @ values / len(values)
    low, high = np.percentile(means, TAILS).tolist()
    return float(values.mean()), low, high, len(values)


@lru_cache(maxsize=4)
def draws(questions: int, seed: int, resamples: int) -> FloatArray:
    """Return how often each question is drawn, of shape (resamples, questions)."""
    random = np.random.default_rng(seed)
    drawn: IntArray = random.multinomial(questions, np.full(questions, 1 / questions), size=resamples)
    return drawn.astype(np.float64)
