"""Vectors and sparse vectors as numbers: norms, unusable rows, element-wise maxima."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from umg_search.model import IntArray, SparseVector, Vectors, ranges

_TINY = 1e-6
"""Vectors shorter than this are what rounding leaves of a mean that cancelled out; models give norms from 0.1 on."""

_BLOCK = 4096
"""Groups whose maxima are taken at once: bounds the memory of a long document's sort."""


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


def split_rows(terms: IntArray, weights: Vectors, bounds: IntArray) -> list[SparseVector]:
    """Return rows as views: row i has the entries bounds[i] to bounds[i + 1] of both arrays."""
    ids = terms.astype(np.int32, copy=False)
    ends = bounds.tolist()
    return [SparseVector(ids[a:b], weights[a:b]) for a, b in pairwise(ends)]


def maxima(vectors: Sequence[SparseVector], rows: IntArray, lengths: IntArray) -> list[SparseVector]:
    """Return the element-wise maximum of several groups of vectors.

    Group i holds `lengths[i]` of the row numbers in `rows`, which lists them group after group. Weights must be
    positive: their bits then sort as they do.
    """
    if not len(rows):
        return [_empty() for _ in lengths]
    sizes = np.fromiter((len(v.terms) for v in vectors), dtype=np.int64, count=len(vectors))
    terms = np.concatenate([v.terms for v in vectors]).astype(np.int64)
    bits = np.concatenate([v.weights for v in vectors]).astype(np.float32, copy=False).view(np.uint32)
    width = int(terms.max(initial=0)) + 1
    offsets = np.cumsum(sizes) - sizes
    result: list[SparseVector] = []
    for part, part_lengths in _blocks(rows, lengths, min(_BLOCK, 2**31 // width)):
        entries = ranges(offsets[part], sizes[part])
        group = np.repeat(np.repeat(np.arange(len(part_lengths)), part_lengths), sizes[part])
        result += _largest(group * width + terms[entries], bits[entries], width, len(part_lengths))
    return result


def _empty() -> SparseVector:
    return SparseVector(np.empty(0, np.int32), np.empty(0, np.float32))


def _blocks(rows: IntArray, lengths: IntArray, size: int) -> Iterator[tuple[IntArray, IntArray]]:
    ends = np.cumsum(lengths)
    for start in range(0, len(lengths), max(1, size)):
        part = lengths[start : start + max(1, size)]
        first = int(ends[start] - lengths[start])
        yield rows[first : first + int(part.sum())], part


def _largest(places: IntArray, bits: NDArray[np.uint32], width: int, groups: int) -> list[SparseVector]:
    """Keep the largest weight of each place (group * width + term): one sort of place and weight in one number."""
    packed = (places.astype(np.uint64) << np.uint64(32)) | bits
    packed.sort()
    place = (packed >> np.uint64(32)).astype(np.int64)
    last = np.flatnonzero(np.diff(place, append=-1))
    weights = (packed[last] & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    bounds = np.searchsorted(place[last], np.arange(groups + 1) * width)
    return split_rows(place[last] % width, weights, bounds)
