from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.evaluation.discrimination import REFUSED, discrimination

NUMBERS = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=30)


@given(NUMBERS, NUMBERS)
def test_auroc_is_the_share_of_pairs_in_the_right_order(answerable: list[float], unanswerable: list[float]) -> None:
    found = discrimination(answerable, unanswerable, resamples=20)
    assert found is not None
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in product(answerable, unanswerable)]
    assert found.auroc == pytest.approx(sum(pairs) / len(pairs))
    assert 0 <= found.low <= found.high <= 1


@given(NUMBERS, NUMBERS)
def test_the_threshold_refuses_no_more_answers_than_allowed(answerable: list[float], unanswerable: list[float]) -> None:
    found = discrimination(answerable, unanswerable, resamples=20)
    assert found is not None
    assert found.false_refusals == sum(a < found.threshold for a in answerable) / len(answerable) <= REFUSED
    assert found.true_refusals == sum(b < found.threshold for b in unanswerable) / len(unanswerable)
    higher = [a for a in answerable if a > found.threshold]
    assert not higher or sum(a < min(higher) for a in answerable) / len(answerable) > REFUSED


def test_numbers_apart_are_told_apart_with_certainty() -> None:
    found = discrimination([3.0, 4.0, 5.0], [0.0, 1.0, 2.0])
    assert found is not None
    assert (found.auroc, found.low, found.high) == (1, 1, 1)
    assert (found.threshold, found.false_refusals, found.true_refusals) == (3, 0, 1)


def test_equal_numbers_tell_nothing() -> None:
    found = discrimination([1.0] * 5, [1.0] * 7)
    assert found is not None
    assert (found.auroc, found.low, found.high) == (0.5, 0.5, 0.5)


def test_an_interval_is_wider_for_fewer_questions() -> None:
    few, many = ([0.0, 2.0, 4.0, 6.0] * n for n in (2, 50))
    some, all_of_them = discrimination(few, [1.0, 3.0] * 4), discrimination(many, [1.0, 3.0] * 100)
    assert some is not None
    assert all_of_them is not None
    assert some.high - some.low > 2 * (all_of_them.high - all_of_them.low)


def test_one_kind_of_question_alone_has_no_figure() -> None:
    assert discrimination([], [1.0]) is None
    assert discrimination([1.0], []) is None
