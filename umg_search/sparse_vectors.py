"""Sparse vectors as numbers: what is kept of them, element-wise maxima, and those of composed windows.

Writing and changing an entry must come to the same numbers: both take them from here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from umg_search.granularity import FINEST, Granularity
from umg_search.model import IntArray, SparseVector, Vectors, ranges
from umg_search.windows import window_count

MOST_WEIGHTS = 192
"""Weights of a window that are kept, the heaviest: a fifth of those of 32 sentences, at the same recall (ADR 17)."""

WEIGHT_BITS = 15
"""Low bits of a 32-bit float that `rank_features` drops: 9 significant ones are left, an error of 0.4 % at most."""

LEAST_WEIGHT = np.finfo(np.float32).tiny
"""Smallest weight that `rank_features` takes."""

_BLOCK = 4096
"""Groups whose maxima are taken at once: bounds the memory of a long document's sort."""


def kept(vector: SparseVector) -> SparseVector:
    """Return what engines keep of a sparse vector: the heaviest terms, their weights as `rank_features` has them.

    None is 0 or subnormal. A weight that is negative or no number is left as it is: it is refused.
    """
    bits = np.ascontiguousarray(vector.weights, dtype=np.float32).view(np.uint32)
    weights = (bits >> WEIGHT_BITS << WEIGHT_BITS).view(np.float32)
    large = ~(np.abs(weights) < LEAST_WEIGHT)
    every = SparseVector(vector.terms, weights) if large.all() else SparseVector(vector.terms[large], weights[large])
    return heaviest(every, MOST_WEIGHTS)[0]


def heaviest(terms: SparseVector, most: int) -> tuple[SparseVector, int]:
    """Return the heaviest terms, ascending by id, and how many were left out."""
    dropped = max(0, len(terms.terms) - most)
    if not dropped:
        return terms, 0
    chosen = np.sort(np.argsort(-terms.weights, kind="stable")[:most])
    return SparseVector(terms.terms[chosen], terms.weights[chosen]), dropped


def compose_sparse(
    finest: Sequence[SparseVector], sentences: int, granularities: Iterable[Granularity]
) -> Mapping[Granularity, Sequence[SparseVector]]:
    """Return the element-wise maxima of the finest windows' vectors, one for each window, each within the limit.

    SPLADE itself pools by maximum. `finest` must be `kept` already: what is stored of them then gives the same again.
    """
    return {g: finest if g is FINEST else _composed(finest, sentences, g) for g in granularities}


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


def _composed(finest: Sequence[SparseVector], sentences: int, granularity: Granularity) -> list[SparseVector]:
    return [heaviest(vector, MOST_WEIGHTS)[0] for vector in maxima(finest, *tile_rows(sentences, granularity))]


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
