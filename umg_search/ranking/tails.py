"""Cut rules that fit a distribution to the tail of irrelevant candidates.

They take scores and bounds as those of `gaps` do. Where fewer than FEWEST scores lie above the lowest there is no tail
to fit, and all up to k_max are kept.
"""

from collections.abc import Iterable
from math import ceil, log, sqrt

import numpy as np

from umg_search.errors import QueryError
from umg_search.model import FloatArray
from umg_search.ranking.pareto import Fit, fit_excesses
from umg_search.ranking.scores import bounded, descending, rising

_SHAPES = (-1.0, -0.5, 0.0, 0.5, 1.0)
_CRITICAL = (0.180, 0.160, 0.135, 0.122, 0.117)
"""Cramer-von Mises statistic that 5 % of samples of 8 to 25 from a distribution of such a shape exceed; simulated."""


def surprise(scores: Iterable[float], *, significance: float = 0.05, k_min: int = 1, k_max: int = 30) -> int:
    """Return how many to keep: those whose p-value under the tail of the others is at most `significance`.

    Surprise (Bahri et al. 2020, arXiv 2010.09797), in the steps of its reproduction by Meng et al. (SIGIR 2024): best
    scores are taken away while a generalised Pareto distribution then fits the rest better (Cramer-von Mises), next
    lowest scores, and the p-value of a score is 1 - F of what remained. The published threshold is tuned on each data
    set; 0.05 is ours, and so is the estimator (see `pareto`; theirs is maximum likelihood).
    """
    if not 0 < significance < 1:
        raise QueryError(f"significance is {significance}: give a number between 0 and 1.")
    values = descending(scores)
    ascending = rising(values)
    whole = fit_excesses(ascending)
    k = len(values)
    if whole:
        tail = _irrelevant(ascending, whole)
        k = int((tail.surprise(ascending) >= -log(significance)).sum())
    return bounded(k, candidates=len(values), k_min=k_min, k_max=k_max)


def tail_aware(scores: Iterable[float], *, k_min: int = 1, k_max: int = 30) -> int:
    """Return how many to keep: up to the earliest boundary from the knee on behind which the rest is one Pareto tail.

    After Tail-Aware Adaptive-k (Song et al. 2026, arXiv 2606.11907): the knee of the curve, a window of sqrt(L ln L)
    boundaries, and for each a test whether a generalised Pareto distribution fits what lies behind; the earliest that
    passes is the cut. The abstract says no more, so the rest is our reading: the knee is the point farthest below the
    chord (Satopaa et al. 2011), the test is Cramer-von Mises at 5 %, the knee itself is the cut where none passes, and
    the window begins at the knee, since of 30 scores the test lets nearly every boundary before it pass.
    """
    values = descending(scores)
    ascending = rising(values)
    k = _onset(ascending[::-1]) if fit_excesses(ascending) else len(values)
    return bounded(k, candidates=len(values), k_min=k_min, k_max=k_max)


def _irrelevant(ascending: FloatArray, best: Fit) -> Fit:
    while (fewer := fit_excesses(ascending[:-1])) and fewer.misfit < best.misfit:
        ascending, best = ascending[:-1], fewer
    while (fewer := fit_excesses(ascending[1:])) and fewer.misfit < best.misfit:
        ascending, best = ascending[1:], fewer
    return best


def _onset(falling: FloatArray) -> int:
    """Return the boundary behind which the tail begins, for scores that fall from 1 to 0."""
    count = len(falling)
    knee = int((1 - np.arange(count) / (count - 1) - falling).argmax())
    window = ceil(sqrt(count * log(count)))
    for boundary in range(max(1, knee), min(count, knee + window)):
        tail = fit_excesses(falling[boundary:][::-1])
        if tail and is_tail(tail):
            return boundary
    return knee


def is_tail(fit: Fit) -> bool:
    """Whether scores may be a sample of the distribution that was fitted to them, at a significance of 5 %."""
    return fit.misfit <= float(np.interp(fit.distribution.shape, _SHAPES, _CRITICAL))
