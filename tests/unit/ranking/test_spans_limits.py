"""Spans under limits: at most so many runs of a document, and ranges that are left alone."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, PROPERTY, Text, fused, ranked_lists
from tests.unit.ranking.test_fusion import fuse_all
from umg_search.model import RankedList, Selected
from umg_search.ranking.spans import spans

A, B = Text("a", (10,) * 40), Text("b", (10,) * 40)
BUDGETS = st.integers(1, 400)


def ranges(found: Sequence[Selected]) -> list[tuple[int, int]]:
    return [(run.first, run.last) for run in found]


def test_a_document_keeps_its_best_runs_and_the_budget_goes_to_others() -> None:
    found = fused((A, G2, 0, 0.3), (A, G2, 10, 0.25), (A, G2, 20, 0.2), (B, G2, 5, 0.15), (B, G2, 30, 0.1))
    assert ranges(spans(found, budget=60)) == [(0, 2), (10, 12), (20, 22)]
    assert ranges(spans(found, budget=60, max_per_document=2)) == [(0, 2), (10, 12), (5, 7)]
    limited = spans(found, budget=60, max_per_document=1)
    assert ranges(limited) == [(0, 2), (5, 7)]
    assert [run.version for run in limited] == [A.version, B.version]
    assert spans(found, budget=60, max_per_document=9) == spans(found, budget=60)


def test_runs_that_a_document_has_already_count() -> None:
    found = fused((A, G2, 0, 0.3), (A, G2, 10, 0.25), (B, G2, 5, 0.15))
    assert ranges(spans(found, budget=60, max_per_document=2, used={0: 1})) == [(0, 2), (5, 7)]
    assert ranges(spans(found, budget=60, max_per_document=2, used={0: 2})) == [(5, 7)]
    assert spans(found, budget=60, max_per_document=1, used={0: 1, 1: 1}) == []


def test_taken_sentences_are_left_out_and_split_a_run() -> None:
    found = fused((A, G2, 0, 0.3), (A, G2, 2, 0.3), (A, G2, 4, 0.3), (B, G2, 5, 0.1))
    assert ranges(spans(found, budget=100)) == [(0, 6), (5, 7)]
    assert ranges(spans(found, budget=100, taken=[(0, 2, 4)])) == [(0, 2), (4, 6), (5, 7)]
    assert ranges(spans(found, budget=100, taken=[(0, 0, 6), (1, 5, 7)])) == []


def test_widening_does_not_reach_into_what_is_taken() -> None:
    found = fused((A, G2, 2, 0.3), (A, G2, 4, 0.1))
    assert ranges(spans(found, budget=100, min_sentences=3, taken=[(0, 4, 6)])) == [(1, 4)]


@PROPERTY
@given(ranked_lists(), BUDGETS, st.integers(1, 3), st.integers(1, 3))
def test_no_document_has_more_runs_and_the_budget_holds(
    lists: list[RankedList], budget: int, most: int, least: int
) -> None:
    found = fuse_all(lists)
    runs = spans(found, budget=budget, min_sentences=least, max_per_document=most)
    assert max(Counter(run.version for run in runs).values()) <= most
    assert sum(run.tokens for run in runs) <= budget or len(runs) == len(runs[0].counts) == 1


@PROPERTY
@given(ranked_lists(), BUDGETS)
def test_a_limit_that_no_document_reaches_changes_nothing(lists: list[RankedList], budget: int) -> None:
    found = fuse_all(lists)
    free = spans(found, budget=budget)
    most = max(Counter(run.version for run in free).values())
    assert spans(found, budget=budget, max_per_document=most) == free


@PROPERTY
@given(ranked_lists(), BUDGETS)
def test_what_is_taken_never_comes_again(lists: list[RankedList], budget: int) -> None:
    found = fuse_all(lists)
    first = spans(found, budget=budget)
    taken = [(found.versions.index(run.version), run.first, run.last) for run in first]
    for run in spans(found, budget=budget, taken=taken):
        for other in first:
            assert run.version != other.version or run.last <= other.first or other.last <= run.first
