"""Scores as cut rules read them, and the bounds that hold for every rule."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite

import numpy as np

from umg_search.errors import QueryError
from umg_search.model import FloatArray


def descending(scores: Iterable[float]) -> list[float]:
    """Return scores as floats, for lists, tuples and arrays alike.

    QueryError unless they are one row of finite numbers of which none is larger than the one before; their sign does
    not matter.
    """
    try:
        values = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise QueryError(
            f"Scores to cut are one row of numbers, and these are not ({error}): give one list."
        ) from error
    if not (all(map(isfinite, values)) and all(a >= b for a, b in pairwise(values))):
        raise QueryError(_fault(values))
    return values


def rising(values: Sequence[float]) -> FloatArray:
    """Return descending values the other way round, scaled from 0 for the lowest to 1 for the best; 0 where equal."""
    if not values:
        return np.zeros(0)
    ascending = np.array(values[::-1]) / max(1.0, abs(values[0]), abs(values[-1]))  # so that no difference overflows
    spread = ascending[-1] - ascending[0]
    return (ascending - ascending[0]) / spread if spread > 0 else np.zeros(len(values))


def bounded(k: int, *, candidates: int, k_min: int, k_max: int) -> int:
    """Return k brought between k_min and k_max, and never more than there are candidates."""
    if not 1 <= k_min <= k_max:
        raise QueryError(f"A cut keeps k_min {k_min} to k_max {k_max} candidates: give 1 <= k_min <= k_max.")
    return min(candidates, max(k_min, min(k, k_max)))


def _fault(values: Sequence[float]) -> str:
    for i, value in enumerate(values):
        if not isfinite(value):
            return f"Score {i + 1} of {len(values)} is {value}: cut finite scores only."
    i, (before, after) = next((i, pair) for i, pair in enumerate(pairwise(values)) if pair[0] < pair[1])
    return f"Score {i + 2} is {after}, more than the {before} before it: sort the scores, best first."
