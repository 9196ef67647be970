"""Promotion: small hits become the 8-sentence window around them, and their masses aggregate.

Source: UMGP-RAG (Jung & Wang 2026, arXiv 2606.13550): A(v) = 1 - prod over hits u of v of (1 - P(u)). That the
parent's own mass takes part is this project's choice.
"""

from enum import StrEnum

import numpy as np

from umg_search.model import Candidates, FloatArray, Fused, IntArray, unit_keys


class Aggregation(StrEnum):
    """How the masses of units become that of their parent: 1 - prod(1 - P(u)) as published, the largest, the sum."""

    BOUNDED = "bounded"
    MAX = "max"
    SUM = "sum"


def promote(fused: Fused, *, own_mass: bool = True, aggregation: Aggregation = Aggregation.BOUNDED) -> Candidates:
    """Return parents in place of 2- and 4-sentence units, longer units as they are.

    The score of a parent aggregates its fine units and, with `own_mass`, its own unit; each unit enters once. Without
    `own_mass` the parent's own unit counts only where no fine unit was promoted to it.
    """
    key = unit_keys(fused.document, fused.parent_first, fused.parent_last)
    _, row, target = np.unique(key, return_index=True, return_inverse=True)
    counted = np.ones(len(fused.mass), dtype=bool)
    if not own_mass:
        fine = (fused.parent_first != fused.first) | (fused.parent_last != fused.last)
        has_fine = np.bincount(target, fine, len(row)) > 0
        counted = fine | ~has_fine[target]
    score = _aggregated(np.where(counted, fused.mass, 0.0), target, len(row), aggregation)
    first = fused.parent_first[row]
    place = fused.place[row] - fused.first[row] + first
    return Candidates(fused.document[row], first, fused.parent_last[row], place, score)


def _aggregated(mass: FloatArray, target: IntArray, parents: int, aggregation: Aggregation) -> FloatArray:
    if aggregation is Aggregation.MAX:
        best = np.zeros(parents)
        np.maximum.at(best, target, mass)
        return best
    if aggregation is Aggregation.SUM:
        return np.asarray(np.bincount(target, mass, parents), np.float64)
    with np.errstate(divide="ignore"):  # a mass of exactly 1 gives log 0 = -inf, and A = 1
        missed = np.bincount(target, np.log1p(-np.minimum(mass, 1.0)), parents)
    return np.asarray(-np.expm1(missed), np.float64)
