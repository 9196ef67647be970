"""Cut rules that look at the gaps between ranked scores, and the one that looks at none.

Of scores s_1 >= ... >= s_L the gaps are g_i = s_i - s_{i+1}, and boundary i keeps the first i. Every rule takes scores,
best first, of any scale and sign, and returns how many of them to keep: 0 of none, else at least 1. Scores that are no
finite numbers, or not sorted, are a QueryError.
"""

from collections.abc import Iterable
from itertools import pairwise

from umg_search.errors import QueryError
from umg_search.ranking.scores import bounded, descending

MOST_POWER = 2
"""Largest power of ranks that gaps can be weighted with."""


def gapr(
    scores: Iterable[float], *, r: int = 3, eta: float = 0.05, k_min: int = 1, k_max: int = 30, rank_power: float = 0.0
) -> int:
    """Return how many to keep: up to the last of the `r` largest gaps that are at least `eta` times the largest.

    GapR: V = {i: g_i >= eta * max g}, T = the r largest gaps of V, the earlier of equal ones first,
    K = max T within k_min and k_max. Where there is no gap, because scores are equal or there is one alone, all up to
    k_max are kept. On 3 to 5 scores it mostly drops just the last: give it 8 candidates or more.

    With `rank_power`, an addition of ours, gap g_i counts i ** rank_power times: of irrelevant candidates the gaps
    fall with the rank, like 1 / i where scores have an exponential tail (Renyi 1953), so that a gap that is large for
    its rank may lie behind larger ones. 0 is the published rule, 1 makes up for such a tail.
    """
    if r < 1 or not 0 < eta <= 1 or not 0 <= rank_power <= MOST_POWER:
        raise QueryError(
            f"r is {r}, eta is {eta} and rank_power is {rank_power}: give at least 1 gap, a share above 0 and up to 1, "
            f"and a power from 0 to {MOST_POWER}."
        )
    values = descending(scores)
    gaps = [a - b for a, b in pairwise(values)]
    if rank_power:
        gaps = [gap * i**rank_power for i, gap in enumerate(gaps, start=1)]
    least = eta * max(gaps, default=0.0)
    k = len(values)
    if least > 0:
        largest = sorted(range(len(gaps)), key=gaps.__getitem__, reverse=True)[:r]
        k = 1 + max(i for i in largest if gaps[i] >= least)
    return bounded(k, candidates=len(values), k_min=k_min, k_max=k_max)


def adaptive_k(
    scores: Iterable[float], *, buffer: int = 0, ignored: float = 0.0, k_min: int = 1, k_max: int = 30
) -> int:
    """Return how many to keep: up to the largest gap, the earliest of equal ones, and `buffer` more.

    Adaptive-k (Taguchi et al. 2025), published with a buffer of 0 or 5. `ignored` is the share of the gaps, the last
    ones, that are left out of the search; 0.1 in the published code. Where there is no gap all up to k_max are kept.
    """
    if buffer < 0 or not 0 <= ignored < 1:
        raise QueryError(f"buffer is {buffer} and ignored is {ignored}: give 0 or more, and a share from 0 to below 1.")
    values = descending(scores)
    gaps = [a - b for a, b in pairwise(values)]
    searched = gaps[: len(gaps) - int(ignored * len(gaps))]
    largest = max(searched, default=0.0)
    k = 1 + searched.index(largest) + buffer if largest > 0 else len(values)
    return bounded(k, candidates=len(values), k_min=k_min, k_max=k_max)


def fixed(scores: Iterable[float], *, k: int = 5) -> int:
    """Return how many to keep: `k`, or all where there are fewer."""
    return bounded(k, candidates=len(descending(scores)), k_min=k, k_max=k)
