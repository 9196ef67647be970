"""GapR, adaptive-k and fixed: golden cases, input that is none, and what holds for every rule."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY
from umg_search.errors import QueryError
from umg_search.ranking import adaptive_k, fixed, gapr, surprise, tail_aware

Rule = Callable[..., int]

RULES = pytest.mark.parametrize("rule", [gapr, adaptive_k, fixed, surprise, tail_aware])
BOUNDED = pytest.mark.parametrize("rule", [gapr, adaptive_k, surprise, tail_aware])
GAPS = pytest.mark.parametrize("rule", [gapr, adaptive_k])


def scores(*gaps: float, last: float = 1.0) -> list[float]:
    """Return scores with these gaps between them, from the first to the last."""
    return [last + sum(gaps[i:]) for i in range(len(gaps) + 1)]


LISTS = st.lists(st.integers(-1024, 1024).map(lambda n: n / 1024), max_size=40).map(lambda s: sorted(s, reverse=True))
"""Multiples of 1/1024, so that shifts by whole numbers and products with powers of two are exact; ties are frequent."""


# --- GapR ----------------------------------------------------------------------------------------------------------


def test_gapr_keeps_up_to_the_last_of_the_three_largest_gaps() -> None:
    assert gapr(scores(1, 8, 1, 4, 1, 1, 6, 1, 1)) == 7
    assert gapr(scores(1, 8, 1, 4, 1, 1, 6, 1, 1), r=2) == 7
    assert gapr(scores(1, 8, 1, 4, 1, 1, 6, 1, 1), r=1) == 2


def test_gapr_counts_no_gap_below_the_share_of_the_largest() -> None:
    assert gapr(scores(16, 0.25, 0.85, 0.25)) == 3
    assert gapr(scores(16, 0.25, 0.75, 0.25)) == 1, "0.05 * 16 = 0.8"
    assert gapr(scores(16, 0.25, 1, 0.25), eta=1 / 16) == 3, "exactly the share counts"


def test_gapr_takes_the_earlier_of_equal_gaps() -> None:
    assert gapr(scores(2, 2, 2, 2, 2)) == 3
    assert gapr(scores(2, 2, 2, 2, 2), r=1) == 1


def test_gapr_keeps_between_k_min_and_k_max() -> None:
    assert gapr(scores(8, 0.1, 0.1, 0.1, 0.1), k_min=4) == 4
    assert gapr(scores(1, 1, 1, 1, 1, 8), k_max=2) == 2
    assert gapr([5.0, 1.0], k_min=4) == 2


# --- adaptive-k and fixed ------------------------------------------------------------------------------------------


def test_adaptive_k_keeps_up_to_the_largest_gap_and_the_buffer() -> None:
    found = scores(1, 3, 1, 2, 1, 1)
    assert adaptive_k(found) == 2
    assert adaptive_k(found, buffer=3) == 2 + 3
    assert adaptive_k(found, buffer=30) == len(found)
    assert adaptive_k(scores(1, 3, 3)) == 2


def test_adaptive_k_can_leave_the_last_gaps_out() -> None:
    found = scores(1, 2, 1, 1, 1, 1, 1, 1, 1, 9)
    assert adaptive_k(found) == 10
    assert adaptive_k(found, ignored=0.1) == 2
    assert adaptive_k([9.0, 1.0], ignored=0.99) == 1, "of a single gap nothing is left out"


def test_fixed_keeps_k_or_all() -> None:
    assert [fixed([4, 3, 2, 1], k=k) for k in (1, 3, 4, 9)] == [1, 3, 4, 4]
    assert fixed(range(30, 0, -1)) == 5


# --- input that is none --------------------------------------------------------------------------------------------


@RULES
def test_of_nothing_nothing_is_kept_and_one_stays(rule: Rule) -> None:
    assert rule([]) == 0
    assert rule(np.array([])) == 0
    assert rule([-3.5]) == 1


@BOUNDED
def test_equal_scores_say_nothing_and_are_kept_up_to_k_max(rule: Rule) -> None:
    assert rule([0.25] * 12) == 12
    assert rule([0.25] * 40) == 30
    assert rule([0.25] * 12, k_max=7) == 7


@RULES
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_scores_that_are_no_finite_numbers_are_refused_by_their_place(rule: Rule, bad: float) -> None:
    with pytest.raises(QueryError, match=f"Score 2 of 3 is {bad}: cut finite scores only"):
        rule([1.0, bad, 0.5])


@RULES
def test_unsorted_scores_are_refused_by_their_place(rule: Rule) -> None:
    with pytest.raises(QueryError, match=r"Score 3 is 0\.7, more than the 0\.5 before it: sort the scores, best first"):
        rule([0.9, 0.5, 0.7])


@RULES
@pytest.mark.parametrize("bad", [["high", "low"], np.ones((2, 2)), [None]])
def test_what_is_no_row_of_numbers_is_refused(rule: Rule, bad: object) -> None:
    with pytest.raises(QueryError, match="one row of numbers"):
        rule(bad)


@BOUNDED
@pytest.mark.parametrize("bounds", [{"k_min": 0}, {"k_min": 5, "k_max": 4}, {"k_max": -1}])
def test_bounds_that_contradict_each_other_are_refused(rule: Rule, bounds: dict[str, int]) -> None:
    with pytest.raises(QueryError, match="1 <= k_min <= k_max"):
        rule([3.0, 2.0, 1.0], **bounds)


@pytest.mark.parametrize(
    ("rule", "knob"),
    [
        (gapr, {"r": 0}),
        (gapr, {"eta": 0.0}),
        (gapr, {"eta": 1.5}),
        (adaptive_k, {"buffer": -1}),
        (adaptive_k, {"ignored": 1.0}),
        (fixed, {"k": 0}),
        (surprise, {"significance": 0.0}),
        (surprise, {"significance": 1.0}),
    ],
)
def test_knobs_out_of_their_range_are_refused(rule: Rule, knob: dict[str, float]) -> None:
    with pytest.raises(QueryError):
        rule([3.0, 2.0, 1.0], **knob)


@RULES
def test_arrays_and_iterators_are_read_like_lists_and_none_is_changed(rule: Rule) -> None:
    found = scores(1, 8, 1, 4, 1, 1, 6, 1, 1, 0.5, 0.25, 0.125)
    array = np.array(found, dtype=np.float32)
    assert rule(array) == rule(tuple(found)) == rule(iter(found)) == rule(found)
    assert array.tolist() == found


# --- properties ----------------------------------------------------------------------------------------------------


@RULES
@PROPERTY
@given(LISTS)
def test_at_least_one_and_at_most_all_are_kept(rule: Rule, found: list[float]) -> None:
    assert min(1, len(found)) <= rule(found) <= min(30, len(found))


@BOUNDED
@PROPERTY
@given(LISTS, st.integers(1, 12), st.integers(0, 12))
def test_the_bounds_only_clip(rule: Rule, found: list[float], k_min: int, more: int) -> None:
    free = rule(found, k_max=40)
    assert rule(found, k_min=k_min, k_max=k_min + more) == min(len(found), max(k_min, min(free, k_min + more)))


@RULES
@PROPERTY
@given(LISTS, st.integers(-6, 6), st.integers(-8, 8))
def test_scale_and_zero_of_the_scores_do_not_matter(rule: Rule, found: list[float], power: int, shift: int) -> None:
    assert rule([2.0**power * (score + shift) for score in found]) == rule(found)


@GAPS
@PROPERTY
@given(LISTS)
def test_no_cut_falls_between_equal_scores_unless_a_bound_does_it(rule: Rule, found: list[float]) -> None:
    k = rule(found, k_max=40)
    assert k == len(found) or found[k - 1] > found[k]


@PROPERTY
@given(LISTS, st.integers(1, 10))
def test_more_gaps_never_keep_fewer(found: list[float], r: int) -> None:
    assert gapr(found, r=r) <= gapr(found, r=r + 1)


@PROPERTY
@given(LISTS)
def test_one_gap_without_a_floor_is_adaptive_k(found: list[float]) -> None:
    assert gapr(found, r=1) == adaptive_k(found)


@RULES
@PROPERTY
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40).map(lambda s: sorted(s, reverse=True)))
def test_any_finite_scores_have_a_cut(rule: Rule, found: list[float]) -> None:
    assert min(1, len(found)) <= rule(found) <= len(found)


def test_gaps_may_count_more_the_later_they_come() -> None:
    found = scores(4, 1, 1, 1.5, 1, 1, 1, 0.1)
    assert gapr(found, r=1) == 1
    assert gapr(found, r=1, rank_power=1) == 7, "4 * 1 < 1 * 7, and 1.5 * 4 = 6"
    assert gapr(found, r=1, rank_power=0.5) == 1, "4 > 1.5 * 2 and 7 ** 0.5"


@PROPERTY
@given(LISTS, st.integers(1, 4))
def test_a_power_of_zero_is_the_published_rule(values: list[float], r: int) -> None:
    assert gapr(values, r=r, rank_power=0) == gapr(values, r=r)


@pytest.mark.parametrize("power", [-0.1, 2.1, float("nan")])
def test_a_wrong_power_is_told(power: float) -> None:
    with pytest.raises(QueryError, match="rank_power"):
        gapr([2.0, 1.0], rank_power=power)
