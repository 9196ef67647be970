from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY, evidence
from umg_search.model import Evidence
from umg_search.ranking.weights import entropy_weights


def with_confidences(confidences: Sequence[float]) -> list[Evidence]:
    return [replace(evidence(1.0), entropy=1 - c, confidence=c) for c in confidences]


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
    weights = entropy_weights(with_confidences(confidences))
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()


@PROPERTY
@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=15))
def test_the_more_certain_list_weighs_more(confidences: list[float]) -> None:
    weights = entropy_weights(with_confidences(sorted(confidences)))
    assert weights.tolist() == sorted(weights)
