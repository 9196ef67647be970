"""Vectors as numbers: norms, unusable rows, weighted means."""

import numpy as np

from umg_search.model import IntArray, Vectors

_TINY = 1e-6
"""Vectors shorter than this are what rounding leaves of a mean that cancelled out; models give norms from 0.1 on."""


def bad_rows(vectors: Vectors) -> IntArray:
    """Return the rows of a (rows, dims) array that cannot be searched: all zeros, or with NaN or infinity in them."""
    norms = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))


def normalised(vectors: Vectors) -> Vectors:
    """Return the rows scaled to norm 1, float32; rows that are (almost) zero become zeros, NaN and infinity NaN."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=~(norms < _TINY))
    with np.errstate(invalid="ignore"):  # infinity times 1 / infinity: NaN, which bad_rows names
        result: Vectors = vectors * scale.astype(np.float32)[:, None]
    return result


def weighted_means(vectors: Vectors, weights: IntArray, starts: IntArray) -> Vectors:
    """Return the weighted mean, normalised, of each run of rows that begins at `starts`; no run may be empty.

    A mean of vectors that cancel each other out is a row of zeros.
    """
    if not len(starts):
        return vectors[:0]
    scale = weights / np.repeat(np.add.reduceat(weights, starts), np.diff(starts, append=len(weights)))
    return normalised(np.add.reduceat(vectors * scale.astype(np.float32)[:, None], starts, axis=0))
