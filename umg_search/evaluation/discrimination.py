"""How well a number tells questions that have an answer from those that have none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from umg_search.evaluation.bootstrap import RESAMPLES, TAILS, draws
from umg_search.model import FloatArray

REFUSED = 0.05
"""Share of questions with an answer that may be refused at the threshold that is told."""


@dataclass(frozen=True, slots=True)
class Discrimination:
    """AUROC with its 95 % interval, and a threshold: what lies below is refused.

    AUROC is the chance that a question with an answer has the larger number, ties counting half: 0.5 says nothing.
    `false_refusals` and `true_refusals` are the shares of questions with and without an answer below `threshold`,
    the largest at which the former is at most 0.05.
    """

    auroc: float
    low: float
    high: float
    threshold: float
    false_refusals: float
    true_refusals: float


def discrimination(
    answerable: Sequence[float], unanswerable: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Discrimination | None:
    """Return how well numbers of questions with and without an answer differ; None where either are missing.

    The interval is that of a bootstrap that draws both kinds of questions anew.
    """
    if not answerable or not unanswerable:
        return None
    positive, negative = np.array(answerable, dtype=np.float64), np.array(unanswerable, dtype=np.float64)
    wins = _wins(positive, negative)
    drawn = draws(len(positive), seed, resamples) @ wins
    means = (drawn * draws(len(negative), seed + 1, resamples)).sum(axis=1) / wins.size
    low, high = np.percentile(means, TAILS).tolist()
    threshold = _threshold(positive)
    return Discrimination(
        float(wins.mean()),
        low,
        high,
        threshold,
        float((positive < threshold).mean()),
        float((negative < threshold).mean()),
    )


def _wins(positive: FloatArray, negative: FloatArray) -> FloatArray:
    """Return 1 where a positive is larger than a negative, 0.5 where they are equal, else 0 (Mann & Whitney 1947)."""
    difference = positive[:, None] - negative[None, :]
    return (np.sign(difference) + 1) / 2


def _threshold(positive: FloatArray) -> float:
    """Return the largest of the numbers below which at most a share of REFUSED lies."""
    return float(np.sort(positive)[int(REFUSED * len(positive))])
