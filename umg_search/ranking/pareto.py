"""The generalised Pareto distribution, which excesses over a high threshold tend to, and its fit to scores.

1 - F(x) = (1 + shape * x / scale)^(-1 / shape), exp(-x / scale) for shape 0 (Pickands 1975). Own code, since importing
scipy takes longer than a search; tests compare the two.
"""

from typing import NamedTuple

import numpy as np

from umg_search.model import FloatArray

FEWEST = 8
"""Excesses that two parameters are fitted to, at least."""

NOTHING = 1e-12
"""Excess that is rounding, of scores between 0 and 1."""

_NO_SHAPE = 1e-9


class Pareto(NamedTuple):
    """A generalised Pareto distribution: shape (0: exponential, below: bounded) and scale, in units of the data."""

    shape: float
    scale: float

    def surprise(self, excesses: FloatArray) -> FloatArray:
        """Return -ln(1 - F(x)); infinite beyond the end of a bounded distribution."""
        scaled = excesses / self.scale
        if abs(self.shape) < _NO_SHAPE:
            return scaled
        with np.errstate(divide="ignore"):
            return np.log1p(np.maximum(self.shape * scaled, -1.0)) / self.shape


class Fit(NamedTuple):
    """The distribution of what scores exceed a threshold by, and how far it is from them."""

    distribution: Pareto
    threshold: float
    misfit: float

    def surprise(self, scores: FloatArray) -> FloatArray:
        """Return -ln of the p-value of scores; 0 up to the threshold."""
        return self.distribution.surprise((scores - self.threshold).clip(0.0))


def fit_excesses(ascending: FloatArray) -> Fit | None:
    """Return the fit to what scores between 0 and 1 exceed the first by, None where fewer than FEWEST do."""
    excesses = ascending - ascending[:1]
    excesses = excesses[excesses > NOTHING]
    if len(excesses) < FEWEST:
        return None
    distribution = estimate(excesses)
    return Fit(distribution, float(ascending[0]), misfit(distribution, excesses))


def estimate(excesses: FloatArray) -> Pareto:
    """Return the distribution of positive excesses, ascending.

    The estimator of Zhang & Stephens (Technometrics 51, 2009): the mean of theta = shape / scale under its profile
    likelihood on a grid. It takes no iteration, always covers the data, and is as good as maximum likelihood.
    """
    count, largest = len(excesses), float(excesses[-1])
    x = excesses / largest
    points = 20 + int(count**0.5)
    theta = (1 - np.sqrt(points / (np.arange(points) + 0.5))) / (3 * x[int(count / 4 + 0.5) - 1]) + 1
    theta[theta == 0] = _NO_SHAPE  # the likelihood is smooth there, and 0 / 0 as written
    shape = np.log1p(-theta[:, None] * x).mean(axis=1)
    likelihood = count * (np.log(-theta / shape) - shape - 1)
    weight = np.exp(likelihood - likelihood.max())
    mean = float(theta @ weight / weight.sum()) or _NO_SHAPE
    found = float(np.log1p(-mean * x).mean())
    return Pareto(found, -found / mean * largest)


def misfit(distribution: Pareto, excesses: FloatArray) -> float:
    """Return the Cramer-von Mises statistic W2 of ascending excesses: 1 / (12 m) where they fit perfectly."""
    count = len(excesses)
    expected = (np.arange(count) + 0.5) / count
    found = -np.expm1(-distribution.surprise(excesses))
    return float(np.square(found - expected).sum()) + 1 / (12 * count)
