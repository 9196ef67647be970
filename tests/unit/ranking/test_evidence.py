from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY, SCORES, plain
from umg_search.ranking.evidence import Normalisation, normalise, normalised_entropy, to_evidence

ZSCORE, MINMAX, MAX = Normalisation


def test_zscore_divides_by_the_deviation_of_the_population() -> None:
    mean, deviation = (5 + 3 + 1) / 3, sqrt((4 + 0 + 4) / 3)
    expected = [(5 - mean) / deviation, (3 - mean) / deviation, (1 - mean) / deviation]
    assert normalise(np.array([5.0, 3.0, 1.0]), ZSCORE) == pytest.approx(expected)


def test_minmax_maps_the_worst_hit_to_zero_and_the_best_to_one() -> None:
    assert normalise(np.array([5.0, 2.0, 1.0]), MINMAX) == pytest.approx([1, (2 - 1) / (5 - 1), 0])


def test_max_divides_by_the_best_score() -> None:
    assert normalise(np.array([4.0, 3.0, 1.0]), MAX) == pytest.approx([1, 3 / 4, 1 / 4])


def test_max_keeps_the_order_of_negative_scores() -> None:
    assert normalise(np.array([-1.0, -2.0, -4.0]), MAX) == pytest.approx([-1 / 4, -2 / 4, -4 / 4])


def test_mass_is_the_softmax_of_the_normalised_scores() -> None:
    z = [1.0, 0.5, 0.0]
    total = sum(exp(value) for value in z)
    found = to_evidence(plain(3.0, 2.0, 1.0), normalisation=MINMAX, temperature=1.0)
    assert found.mass == pytest.approx([exp(value) / total for value in z])


def test_temperature_divides_before_the_softmax() -> None:
    z = [1.0 / 0.25, 0.5 / 0.25, 0.0]
    total = sum(exp(value) for value in z)
    found = to_evidence(plain(3.0, 2.0, 1.0), normalisation=MINMAX, temperature=0.25)
    assert found.mass == pytest.approx([exp(value) / total for value in z])


def test_entropy_is_divided_by_the_log_of_the_number_of_hits() -> None:
    p = [0.5, 0.25, 0.25]
    expected = (0.5 * log(2) + 0.25 * log(4) + 0.25 * log(4)) / log(3)
    assert normalised_entropy(np.array(p)) == pytest.approx(expected)


def test_a_hit_without_mass_adds_no_entropy() -> None:
    assert normalised_entropy(np.array([0.5, 0.5, 0.0])) == pytest.approx(log(2) / log(3))


@pytest.mark.parametrize("method", Normalisation)
@pytest.mark.parametrize("score", [0.0, 1.0, -3.5, 1e-30, 1e30])
def test_equal_scores_are_no_evidence(method: Normalisation, score: float) -> None:
    found = to_evidence(plain(score, score, score, score), normalisation=method, temperature=1.0)
    assert found.mass == pytest.approx([1 / 4] * 4)
    assert (found.entropy, found.confidence) == (pytest.approx(1), pytest.approx(0))


def test_scores_that_differ_by_rounding_only_are_equal() -> None:
    found = to_evidence(plain(0.1 + 0.2, 0.3), normalisation=ZSCORE, temperature=1.0)
    assert found.mass == pytest.approx([1 / 2, 1 / 2])


@pytest.mark.parametrize("method", Normalisation)
@pytest.mark.parametrize("score", [0.0, 0.7, -0.7])
def test_one_hit_is_certain(method: Normalisation, score: float) -> None:
    found = to_evidence(plain(score), normalisation=method, temperature=1.0)
    assert (found.mass.tolist(), found.entropy, found.confidence) == ([1.0], 0.0, 1.0)


@PROPERTY
@given(st.floats(-1, 1, width=32), st.floats(2**-10, 1, width=32))
def test_two_hits_always_have_the_same_confidence_with_zscores(low: float, gap: float) -> None:
    """Z-scores of two values are +1 and -1: p = 1 / (1 + e^-2) = 0.88, H = 0.53."""
    p = 1 / (1 + exp(-2))
    entropy = -(p * log(p) + (1 - p) * log(1 - p)) / log(2)
    found = to_evidence(plain(low + gap, low), normalisation=ZSCORE, temperature=1.0)
    assert found.confidence == pytest.approx(1 - entropy, abs=1e-6)
    assert found.confidence == pytest.approx(0.47, abs=0.005)


def test_minmax_caps_the_confidence_of_a_hundred_hits_at_three_percent() -> None:
    """Why the paper's literal setting is weak: even the clearest list is nearly uniform."""
    clearest = max(
        to_evidence(plain(*[1.0] * best, *[0.0] * (100 - best)), normalisation=MINMAX, temperature=1.0).confidence
        for best in range(1, 100)
    )
    assert clearest == pytest.approx(0.027, abs=0.0005)


@PROPERTY
@given(st.lists(SCORES, min_size=1, max_size=40), st.sampled_from(Normalisation), st.floats(0.1, 3))
def test_mass_is_a_distribution_that_falls_with_rank(scores: list[float], method: Normalisation, tau: float) -> None:
    found = to_evidence(plain(*sorted(scores, reverse=True)), normalisation=method, temperature=tau)
    assert found.mass.sum() == pytest.approx(1)
    assert (np.diff(found.mass) <= 0).all()
    assert 0 <= found.entropy <= 1
    assert found.confidence == 1 - found.entropy


@PROPERTY
@given(st.lists(SCORES, min_size=1, max_size=40), st.sampled_from([ZSCORE, MINMAX]), st.floats(0.5, 50))
def test_scale_and_origin_of_scores_do_not_matter(scores: list[float], method: Normalisation, scale: float) -> None:
    """So cosines, dot products and BM25 can be compared."""
    listed = sorted(scores, reverse=True)
    if 0 < max(listed) - min(listed) < 1e-6:
        return
    plain_ = to_evidence(plain(*listed), normalisation=method, temperature=1.0)
    moved = to_evidence(plain(*(3 + scale * score for score in listed)), normalisation=method, temperature=1.0)
    assert moved.mass == pytest.approx(plain_.mass, abs=1e-6)


@PROPERTY
@given(st.lists(SCORES, min_size=2, max_size=12), st.sampled_from(Normalisation), st.randoms(use_true_random=False))
def test_order_of_hits_does_not_matter(scores: list[float], method: Normalisation, random: object) -> None:
    order = list(range(len(scores)))
    random.shuffle(order)
    there = to_evidence(plain(*scores), normalisation=method, temperature=1.0)
    back = to_evidence(plain(*(scores[i] for i in order)), normalisation=method, temperature=1.0)
    assert back.mass == pytest.approx(there.mass[order])
