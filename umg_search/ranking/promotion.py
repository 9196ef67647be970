"""Promotion: small hits become the 8-sentence window around them, and their masses aggregate.

Source: UMGP-RAG (Jung & Wang 2026, arXiv 2606.13550): A(v) = 1 - prod over hits u of v of (1 - P(u)). That the
parent's own mass takes part is this project's choice.
"""

import numpy as np

from umg_search.model import Candidates, Fused, unit_keys


def promote(fused: Fused, *, own_mass: bool = True) -> Candidates:
    """Return parents in place of 2- and 4-sentence units, longer units as they are.

    The score of a parent is A(v), bounded by 1, over its fine units and, with `own_mass`, its own unit; each unit
    enters once. Without `own_mass` the parent's own unit counts only where no fine unit was promoted to it.
    """
    key = unit_keys(fused.document, fused.parent_first, fused.parent_last)
    _, row, target = np.unique(key, return_index=True, return_inverse=True)
    counted = np.ones(len(fused.mass), dtype=bool)
    if not own_mass:
        fine = (fused.parent_first != fused.first) | (fused.parent_last != fused.last)
        has_fine = np.bincount(target, fine, len(row)) > 0
        counted = fine | ~has_fine[target]
    with np.errstate(divide="ignore"):  # a mass of exactly 1 gives log 0 = -inf, and A = 1
        missed = np.bincount(target, np.where(counted, np.log1p(-np.minimum(fused.mass, 1.0)), 0.0), len(row))
    first = fused.parent_first[row]
    place = fused.place[row] - fused.first[row] + first
    return Candidates(fused.document[row], first, fused.parent_last[row], place, -np.expm1(missed))
