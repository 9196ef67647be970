"""Surprise and tail-aware cuts, and the Pareto distribution under them, beside scipy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import cramervonmises, genpareto

from tests.unit.ranking.lists import PROPERTY
from umg_search.model import FloatArray
from umg_search.ranking import surprise, tail_aware
from umg_search.ranking.pareto import FEWEST, Pareto, estimate, fit_excesses, misfit
from umg_search.ranking.tails import is_tail

SHAPES = pytest.mark.parametrize("shape", [-0.8, -0.3, 0.0, 0.3, 0.8])


def drawn(shape: float, count: int, seed: int = 0, scale: float = 0.2) -> FloatArray:
    return np.sort(genpareto.rvs(shape, scale=scale, size=count, random_state=seed))


def ladder(count: int) -> list[float]:
    """Return the scores of an ideal exponential tail, best first: its quantiles."""
    return [-np.log((i + 0.5) / count) for i in range(count)]


# --- the distribution ----------------------------------------------------------------------------------------------


@SHAPES
def test_surprise_is_the_logarithm_of_scipys_survival_function(shape: float) -> None:
    x = drawn(shape, 50) * 0.9
    assert Pareto(shape, 0.2).surprise(x) == pytest.approx(-genpareto.logsf(x, shape, scale=0.2), rel=1e-9)


def test_what_lies_beyond_a_bounded_distribution_surprises_without_limit() -> None:
    bounded = Pareto(-0.5, 1.0)  # ends at scale / -shape = 2
    assert bounded.surprise(np.array([1.0, 2.0, 3.0])).tolist() == [pytest.approx(-2 * np.log(0.5)), np.inf, np.inf]


@SHAPES
def test_the_estimate_of_many_excesses_is_scipys_maximum_likelihood_and_the_truth(shape: float) -> None:
    x = drawn(shape, 4000)
    found = estimate(x)
    likely, _, scale = genpareto.fit(x, floc=0)
    assert found.shape == pytest.approx(likely, abs=0.015)
    assert found.scale == pytest.approx(scale, rel=0.015)
    assert found.shape == pytest.approx(shape, abs=0.06)


@pytest.mark.parametrize("shape", [0.0, 0.3, 0.8])
def test_the_estimate_of_few_excesses_is_nearly_as_likely_as_scipys_best(shape: float) -> None:
    """Of short tails alone: where a distribution may end at the largest excess, likelihood grows without limit."""
    for seed in range(10):
        x = drawn(shape, 25, seed)
        found = estimate(x)
        best = genpareto.logpdf(x, *genpareto.fit(x, floc=0)).sum()
        assert genpareto.logpdf(x, found.shape, scale=found.scale).sum() > best - 1.0


def test_misfit_is_scipys_cramer_von_mises_statistic() -> None:
    x = drawn(0.3, 20)
    found = Pareto(0.1, 0.3)
    expected = cramervonmises(x, genpareto(0.1, scale=0.3).cdf).statistic
    assert misfit(found, x) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", [-0.5, 0.0, 0.5])
def test_about_one_tail_of_twenty_is_no_tail(shape: float) -> None:
    refused = sum(not is_tail(fit_excesses(np.r_[0.0, drawn(shape, 15, seed)])) for seed in range(500))
    assert 0.02 < refused / 500 < 0.08


def test_too_few_excesses_are_not_fitted() -> None:
    assert fit_excesses(np.linspace(0, 1, FEWEST + 1)) is not None
    assert fit_excesses(np.linspace(0, 1, FEWEST)) is None
    assert fit_excesses(np.repeat([0.0, 0.5, 1.0], 10)) is not None, "ties above the lowest are excesses too"


@PROPERTY
@given(st.lists(st.sampled_from([0.25, 0.5, 1.0]) | st.floats(1e-9, 1), min_size=FEWEST, max_size=40))
def test_whatever_the_excesses_the_estimate_is_a_distribution_that_covers_them(excesses: list[float]) -> None:
    x = np.sort(np.array(excesses))
    found = estimate(x)
    assert found.scale > 0
    values = found.surprise(x)
    assert (values >= 0).all()
    assert (np.diff(values) >= 0).all()


# --- the rules -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relevant", [2, 3, 5, 8])
def test_what_stands_out_of_a_tail_is_kept(relevant: int) -> None:
    found = [12 - 0.2 * i for i in range(relevant)] + ladder(30 - relevant)
    assert surprise(found) == relevant
    assert relevant <= tail_aware(found) <= relevant + 2, "the knee lies on the tail's own first steps"


@pytest.mark.parametrize("significance", [0.5, 0.3, 0.2])
def test_of_a_pure_tail_surprise_keeps_about_the_share_of_its_significance(significance: float) -> None:
    assert surprise(ladder(30), significance=significance) == pytest.approx(30 * significance, abs=2)


def clumps(upper: int) -> list[float]:
    """Return one score, `upper` scores close together, and 14 close together far below."""
    return [20.0, *(5 + 0.01 * i for i in range(upper, 0, -1)), *(0.01 * i for i in range(14, 0, -1))]


def test_tail_aware_passes_over_boundaries_that_leave_two_clumps_behind() -> None:
    assert tail_aware(clumps(6)) == 1 + 6


def test_where_no_tail_passes_the_knee_is_the_cut() -> None:
    knee, window = 1, 27**0.5 * np.log(27) ** 0.5
    assert knee + window < 1 + 12, "the last boundary that is looked at lies in the upper clump"
    assert tail_aware(clumps(12)) == knee


@PROPERTY
@given(st.lists(st.integers(0, 200), max_size=35).map(lambda s: sorted(s, reverse=True)), st.floats(0.001, 0.4))
def test_a_higher_significance_never_keeps_fewer_nor_parts_equal_scores(found: list[int], level: float) -> None:
    k = surprise(found, significance=level, k_max=40)
    assert k <= surprise(found, significance=2 * level, k_max=40)
    assert k in {1, len(found)} or found[k - 1] > found[k]


def test_fewer_than_nine_different_scores_have_no_tail() -> None:
    assert surprise([9.0, 8, 3, 2, 1]) == 5
    assert tail_aware([9.0, 8, 3, 2, 1]) == 5
    assert surprise([9.0, 8, 3, 2, 1], k_max=2) == 2
