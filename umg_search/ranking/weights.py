"""Weights of channels: the more certain a list, the more it counts.

Source: UMG-RAG (Jung & Wang 2026, arXiv 2606.13550): w_c = confidence_c / sum of confidences.
"""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from umg_search.model import Evidence, FloatArray

NO_CONFIDENCE = 1e-12
"""A sum of confidences below this is rounding noise of uniform lists, not a preference."""

FEW = 5
"""Hits below which a list's own entropy says little: with z-scores, two hits always have confidence 0.47."""


class Weighting(StrEnum):
    """What a channel weighs: how its confidence is read off its list, or no regard to it.

    `entropy` is the paper's 1 - H / ln|C| of a list of |C| hits. Readings for lists that are not full: `depth` divides
    H by ln M of the M hits that were asked for; `filled` multiplies the confidence by |C| / M; `typical` gives lists
    of fewer than 5 hits the mean confidence of the others.
    """

    ENTROPY = "entropy"
    UNIFORM = "uniform"
    DEPTH = "depth"
    FILLED = "filled"
    TYPICAL = "typical"


def weights(evidence: Sequence[Evidence], weighting: Weighting, *, depth: int) -> FloatArray:
    """Return one weight an evidence, summing to 1; `depth` is the number of hits that each list was asked for."""
    if weighting is Weighting.UNIFORM:
        return _normalised(np.ones(len(evidence)))
    own = np.array([item.confidence for item in evidence], dtype=np.float64)
    hits = np.array([len(item.mass) for item in evidence], dtype=np.float64)
    if weighting is Weighting.DEPTH:
        return _normalised(1.0 - (1.0 - own) * np.log(hits) / np.log(np.maximum(hits, max(2, depth))))
    if weighting is Weighting.FILLED:
        return _normalised(own * np.minimum(1.0, hits / depth))
    if weighting is Weighting.TYPICAL and (hits >= FEW).any():
        return _normalised(np.where(hits < FEW, own[hits >= FEW].mean(), own))
    return _normalised(own)


def _normalised(confidences: FloatArray) -> FloatArray:
    """Return weights in proportion to confidences; uniform where no list is certain of anything."""
    total = confidences.sum()
    if total <= NO_CONFIDENCE:
        return np.full(len(confidences), 1.0 / max(1, len(confidences)))
    return confidences / total
