"""Composed dense encodings: vectors of longer windows from those of the finest windows that tile them (METHODS.md, 5).

It is the token-weighted mean, normalised. Each text so passes an encoder once, and no window exceeds its limit.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from umg_search.encoding.vectors import weighted_means
from umg_search.granularity import FINEST, Granularity
from umg_search.model import IntArray, Vectors
from umg_search.sparse_vectors import tile_rows


def compose_dense(
    finest: Vectors, counts: Sequence[int], granularities: Iterable[Granularity]
) -> Mapping[Granularity, Vectors]:
    """Return float32 arrays of shape (windows, dims) with rows of norm 1, from the vectors of the finest windows.

    `counts` are the tokens of the document's sentences; a finest window weighs the sum of its two, at least 1. A row
    of zeros in `finest` (no vector) counts for nothing; windows whose vectors cancel each other out get zeros.
    """
    tokens = np.asarray(counts, dtype=np.int64)
    weights = np.maximum(tokens if len(tokens) < FINEST else tokens[:-1] + tokens[1:], 1)
    return {g: _composed_dense(finest, weights, len(counts), g) for g in granularities}


def _composed_dense(finest: Vectors, weights: IntArray, sentences: int, granularity: Granularity) -> Vectors:
    if granularity is FINEST:
        return finest
    rows, lengths = tile_rows(sentences, granularity)
    return weighted_means(finest[rows], weights[rows], np.cumsum(lengths) - lengths)
