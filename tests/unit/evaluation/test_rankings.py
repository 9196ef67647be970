from math import log2

import pytest

from umg_search.evaluation.rankings import ranking_measures
from umg_search.model import DocumentKey

A, B, C = (DocumentKey("default", name) for name in "abc")


def test_ndcg_and_reciprocal_rank() -> None:
    found = ranking_measures({"q": [A, B]}, {"q": [C, A, B]})["q"]
    ideal = 1 / log2(2) + 1 / log2(3)
    assert found["ndcg_10"] == pytest.approx((1 / log2(3) + 1 / log2(4)) / ideal)
    assert found["mrr_10"] == 1 / 2


def test_the_order_given_counts_and_the_tenth_is_the_last() -> None:
    others = [DocumentKey("default", f"x{i}") for i in range(12)]
    found = ranking_measures(
        {"tenth": [A], "eleventh": [A]}, {"tenth": [*others[:9], A], "eleventh": [*others[:10], A]}
    )
    assert found["tenth"]["mrr_10"] == 1 / 10
    assert found["eleventh"] == {"ndcg_10": 0, "mrr_10": 0}


def test_a_question_without_an_answer_has_zero() -> None:
    nothing = {"ndcg_10": 0, "mrr_10": 0}
    assert ranking_measures({"q": [A], "r": [B]}, {"q": [A]}) == {"q": {"ndcg_10": 1, "mrr_10": 1}, "r": nothing}
    assert ranking_measures({"q": [A]}, {}) == {"q": nothing}
    assert ranking_measures({}, {}) == {}


def test_the_same_id_in_another_collection_is_another_document() -> None:
    assert ranking_measures({"q": [A]}, {"q": [DocumentKey("other", "a")]})["q"]["mrr_10"] == 0
