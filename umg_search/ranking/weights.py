"""Weights of channels: the more certain a list, the more it counts.

Source: UMG-RAG (Jung & Wang 2026, arXiv 2606.13550): w_c = confidence_c / sum of confidences.
"""

from collections.abc import Sequence

import numpy as np

from umg_search.model import Evidence, FloatArray

NO_CONFIDENCE = 1e-12
"""A sum of confidences below this is rounding noise of uniform lists, not a preference."""


def entropy_weights(evidence: Sequence[Evidence]) -> FloatArray:
    """Return one weight an evidence, summing to 1; uniform where no list is certain of anything."""
    confidences = np.array([item.confidence for item in evidence], dtype=np.float64)
    total = confidences.sum()
    if total <= NO_CONFIDENCE:
        return np.full(len(evidence), 1.0 / max(1, len(evidence)))
    return confidences / total
