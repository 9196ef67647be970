from collections.abc import Sequence
from dataclasses import replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY, evidence
from umg_search.model import Evidence, FloatArray
from umg_search.ranking.weights import Weighting, weights


def with_confidences(confidences: Sequence[float]) -> list[Evidence]:
    return [replace(evidence(1.0), entropy=1 - c, confidence=c) for c in confidences]


def entropy_weights(found: Sequence[Evidence]) -> FloatArray:
    return weights(found, Weighting.ENTROPY, depth=100)


def of_hits(hits: int, confidence: float) -> Evidence:
    return replace(evidence(*[1.0] * hits), entropy=1 - confidence, confidence=confidence)


def test_weights_are_shares_of_the_confidences() -> None:
    total = 0.6 + 0.2 + 0.0
    assert entropy_weights(with_confidences([0.6, 0.2, 0.0])) == pytest.approx([0.6 / total, 0.2 / total, 0])


@pytest.mark.parametrize("confidence", [0.0, 1e-16])
def test_where_no_list_is_certain_of_anything_weights_are_uniform(confidence: float) -> None:
    assert entropy_weights(with_confidences([confidence] * 4)) == pytest.approx([1 / 4] * 4)


def test_a_single_list_has_all_the_weight() -> None:
    assert entropy_weights(with_confidences([0.03])).tolist() == [1.0]


def test_no_list_has_no_weight() -> None:
    assert entropy_weights([]).tolist() == []


@PROPERTY
@given(st.lists(st.just(0.0) | st.floats(0, 1), min_size=1, max_size=15))
def test_weights_sum_to_one_and_are_not_negative(confidences: list[float]) -> None:
    for weighting in Weighting:
        found = weights(with_confidences(confidences), weighting, depth=100)
        assert found.sum() == pytest.approx(1)
        assert (found >= 0).all()


@PROPERTY
@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=15))
def test_the_more_certain_list_weighs_more(confidences: list[float]) -> None:
    found = entropy_weights(with_confidences(sorted(confidences)))
    assert found.tolist() == sorted(found)


def test_equal_weights_have_no_regard_to_confidence() -> None:
    assert weights(with_confidences([0.9, 0.1]), Weighting.UNIFORM, depth=100).tolist() == [1 / 2, 1 / 2]


def test_readings_of_short_lists() -> None:
    full, short = of_hits(10, 0.2), of_hits(2, 0.4)

    def second(weighting: Weighting) -> float:
        return float(weights([full, short], weighting, depth=10)[1])

    assert second(Weighting.ENTROPY) == pytest.approx(0.4 / (0.2 + 0.4))
    by_depth = 1 - (1 - 0.4) * log(2) / log(10)
    assert second(Weighting.DEPTH) == pytest.approx(by_depth / (0.2 + by_depth))
    assert second(Weighting.FILLED) == pytest.approx(0.4 * 2 / 10 / (0.2 + 0.4 * 2 / 10))
    assert second(Weighting.TYPICAL) == pytest.approx(1 / 2)


@pytest.mark.parametrize("weighting", [w for w in Weighting if w is not Weighting.UNIFORM])
def test_full_lists_weigh_the_same_in_every_reading(weighting: Weighting) -> None:
    lists = [of_hits(10, 0.1), of_hits(10, 0.3)]
    assert weights(lists, weighting, depth=10) == pytest.approx([0.1 / 0.4, 0.3 / 0.4])


def test_where_all_lists_are_short_each_has_its_own_confidence() -> None:
    lists = [of_hits(2, 0.1), of_hits(3, 0.3)]
    assert weights(lists, Weighting.TYPICAL, depth=100) == pytest.approx([0.1 / 0.4, 0.3 / 0.4])
