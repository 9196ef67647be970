"""Composed encodings: those of longer windows from those of the finest windows that tile them (METHODS.md, 5).

Dense: the token-weighted mean, normalised. Sparse: the element-wise maximum, since SPLADE itself pools by maximum.
Each text so passes an encoder once, and no window exceeds the encoder's limit.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from umg_search.encoding.vectors import maxima, weighted_means
from umg_search.granularity import FINEST, Granularity
from umg_search.model import IntArray, SparseVector, Vectors, ranges
from umg_search.windows import window_count


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


def compose_sparse(
    finest: Sequence[SparseVector], sentences: int, granularities: Iterable[Granularity]
) -> Mapping[Granularity, Sequence[SparseVector]]:
    """Return the element-wise maxima of the finest windows' vectors, one for each window."""
    return {g: finest if g is FINEST else maxima(finest, *tile_rows(sentences, g)) for g in granularities}


def tile_rows(sentences: int, granularity: Granularity) -> tuple[IntArray, IntArray]:
    """Return the numbers of the finest windows that tile each window, one after the other, and how many each has.

    The vectorised form of `umg_search.windows.tiles`.
    """
    firsts = np.arange(window_count(sentences, granularity), dtype=np.int64) * granularity.stride
    lasts = np.minimum(firsts + granularity, sentences)
    lengths = -(-(lasts - firsts) // FINEST)
    within = ranges(np.zeros_like(lengths), lengths)
    # An odd tail would start at the last sentence; its tile is the document's last finest window.
    rows = np.minimum(np.repeat(firsts, lengths) + FINEST * within, max(0, sentences - FINEST))
    return rows, lengths


def _composed_dense(finest: Vectors, weights: IntArray, sentences: int, granularity: Granularity) -> Vectors:
    if granularity is FINEST:
        return finest
    rows, lengths = tile_rows(sentences, granularity)
    return weighted_means(finest[rows], weights[rows], np.cumsum(lengths) - lengths)
