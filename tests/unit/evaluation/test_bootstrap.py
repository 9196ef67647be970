import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umg_search.evaluation.bootstrap import difference, interval


def test_the_mean_is_that_of_the_pairs_that_both_have() -> None:
    found = difference([1.0, 0.5, None, 0.25], [0.5, 0.5, 1.0, None], resamples=100)
    assert found is not None
    assert (found.mean, found.questions) == ((0.5 + 0.0) / 2, 2)


def test_nothing_in_common_gives_no_difference() -> None:
    assert difference([None, 1.0], [1.0, None]) is None


def test_a_difference_that_is_always_the_same_is_certain() -> None:
    found = difference([0.75] * 20, [0.5] * 20)
    assert found is not None
    assert (found.low, found.high, found.certain) == (pytest.approx(0.25), pytest.approx(0.25), True)


def test_the_interval_is_that_of_normal_theory_for_many_questions() -> None:
    """Half its width is 1.96 standard errors of the mean."""
    values = np.random.default_rng(3).normal(0.1, 1.0, 400)
    found = difference(values.tolist(), [0.0] * 400)
    assert found is not None
    error = values.std() / 400**0.5
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_the_seed_decides() -> None:
    one = [0.1 * i for i in range(10)]
    assert difference(one, [0.0] * 10, seed=5) == difference(one, [0.0] * 10, seed=5)
    assert difference(one, [0.0] * 10, seed=5) != difference(one, [0.0] * 10, seed=6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_the_interval_lies_within_the_values_and_turns_with_the_sign(pairs: list[tuple[float, float]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    found, turned = difference(one, other, resamples=200), difference(other, one, resamples=200)
    assert found is not None
    assert turned is not None
    gaps = [a - b for a, b in pairs]
    assert min(gaps) - 1e-9 <= found.low <= found.high <= max(gaps) + 1e-9
    assert (turned.mean, turned.low, turned.high) == pytest.approx((-found.mean, -found.high, -found.low))


def test_an_interval_is_that_of_the_questions_that_allow_the_measure() -> None:
    found = interval([0.0, None, 1.0] * 30)
    assert found is not None
    assert (found.mean, found.questions) == (0.5, 60)
    assert 0.3 < found.low < 0.5 - 0.1 < 0.5 + 0.1 < found.high < 0.7
    assert interval([None]) is None
