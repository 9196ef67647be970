"""What engines keep of encodings: vectors of norm 1 or as bytes, term weights of nine bits.

All engines get the same rounded values, so that they agree with each other.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from umg_search.model import EncodedQuery, FloatArray, SetSpec, SparseVector, StoredVector, Vectors, VectorType

WEIGHT_BITS = 15
"""Low bits of a 32-bit float that `rank_features` drops: 9 significant ones are left, an error of 0.4 % at most."""

LEAST_WEIGHT = np.finfo(np.float32).tiny
"""Smallest weight that `rank_features` takes."""

ROUNDING = 1e-9
"""Relative error of the arithmetic below, and far less than the distance of two weights."""


def stored_vector(vector: StoredVector, kind: VectorType) -> StoredVector:
    """Return a vector, or several in rows, as it is stored: of norm 1, or int8 scaled to the largest value.

    Cosines do not change with the scale of a vector, so each has its own; over MiniLM's vectors the error of a cosine
    is 0.0004 in the mean and 0.003 at most. Engines take squares in float32, where those of a vector far from norm 1
    vanish or overflow. A vector with NaN or infinite values is left as it is: it is refused.
    """
    if not np.all(np.isfinite(vector)):
        return vector
    if kind is VectorType.FLOAT32:
        norms = np.linalg.norm(vector.astype(np.float64), axis=-1, keepdims=True)
        unit: Vectors = (vector / np.where(norms > 0, norms, 1.0)).astype(np.float32)
        return unit
    largest = np.abs(vector).max(axis=-1, keepdims=True)
    scaled: NDArray[np.int8] = np.rint(vector / np.where(largest > 0, largest, 1.0) * 127).astype(np.int8)
    return scaled


def as_stored(query: EncodedQuery, spec: SetSpec) -> EncodedQuery:
    """Return a query whose vector has the numbers that those of the set have."""
    return query if query.dense is None else replace(query, dense=stored_vector(query.dense, spec.vectors))


def stored_weights(vector: SparseVector) -> SparseVector:
    """Return a sparse vector with the weights that `rank_features` keeps: none that is 0 or subnormal.

    A weight that is negative or no number is left as it is: it is refused.
    """
    bits = np.ascontiguousarray(vector.weights, dtype=np.float32).view(np.uint32)
    weights = (bits >> WEIGHT_BITS << WEIGHT_BITS).view(np.float32)
    kept = ~(np.abs(weights) < LEAST_WEIGHT)
    return SparseVector(vector.terms, weights) if kept.all() else SparseVector(vector.terms[kept], weights[kept])


def decimals(weights: NDArray[np.float32]) -> list[str]:
    """Return each stored weight in few digits: the least of three, else of four, that is cut to the same bits."""
    exact: FloatArray = weights.astype(np.float64)
    next_one = (weights.view(np.uint32) + (1 << WEIGHT_BITS)).view(np.float32)
    step = 10.0 ** (np.floor(np.log10(exact)) - 2)
    short = np.ceil(exact / step - ROUNDING) * step
    rough = short < (1 - ROUNDING) * next_one
    finer = np.ceil(exact / step * 10 - ROUNDING) * step / 10
    return [
        f"{three:.3g}" if enough else f"{four:.4g}"
        for three, enough, four in zip(short.tolist(), rough.tolist(), finer.tolist(), strict=True)
    ]
