"""Evidence: a ranked list read as a probability distribution over its hits.

Source: UMG-RAG (Jung & Wang 2026, arXiv 2606.13550): z = normalise(s), p = softmax(z / tau),
H = -sum p ln p / ln|C|, confidence = 1 - H.
"""

from enum import StrEnum

import numpy as np

from umg_search.model import Evidence, FloatArray, RankedList


class Normalisation(StrEnum):
    """How raw scores of one list are made comparable before the softmax."""

    ZSCORE = "zscore"
    MINMAX = "minmax"
    MAX = "max"


def to_evidence(ranked: RankedList, *, normalisation: Normalisation, temperature: float) -> Evidence:
    """Return the evidence distribution of a list that has at least one hit.

    Equal scores give a uniform distribution. A single hit has entropy 0 and hence confidence 1: mostly it is a rare
    identifier that only one window holds.
    """
    mass = softmax(normalise(ranked.scores, normalisation) / temperature)
    entropy = normalised_entropy(mass)
    return Evidence(ranked, mass, entropy, 1.0 - entropy)


def normalise(scores: FloatArray, method: Normalisation) -> FloatArray:
    """Return normalised scores; all zero where the scores are equal up to rounding.

    `zscore` uses the population's standard deviation; `max` divides by the largest magnitude, which keeps the order
    also where all scores are negative.
    """
    spread = np.ptp(scores)
    magnitude = np.abs(scores).max()
    if spread <= 1e-12 * magnitude:
        return np.zeros_like(scores)
    if method is Normalisation.ZSCORE:
        return (scores - scores.mean()) / scores.std()
    if method is Normalisation.MINMAX:
        return (scores - scores.min()) / spread
    return scores / magnitude


def softmax(z: FloatArray) -> FloatArray:
    """Return exp(z) / sum exp(z), computed without overflow."""
    powers = np.exp(z - z.max())
    return powers / powers.sum()


def normalised_entropy(mass: FloatArray) -> float:
    """Return -sum p ln p / ln n in [0, 1]; 0 for a single outcome."""
    if len(mass) < 2:  # noqa: PLR2004 - ln 1 = 0 is no divisor
        return 0.0
    positive = mass[mass > 0]
    entropy = -float(positive @ np.log(positive)) / float(np.log(len(mass)))
    return min(1.0, max(0.0, entropy))
