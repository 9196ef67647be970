from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY, Text
from umg_search.model import Selected
from umg_search.ranking.truncation import leading, within_budget

VERSION = Text("a", (1,)).version


def unit(*counts: int, first: int = 0) -> Selected:
    return Selected(VERSION, first, first + len(counts), 1.0, counts)


def cut(budget: int, *units: Selected) -> list[Selected]:
    return list(within_budget(units, budget=budget))


def test_units_that_fit_exactly_are_kept_whole() -> None:
    units = [unit(10, 20), unit(30, 40)]
    assert cut(10 + 20 + 30 + 40, *units) == units


def test_the_unit_that_does_not_fit_keeps_its_leading_whole_sentences() -> None:
    first, second = unit(10, 20), unit(30, 40, 50, first=7)
    (whole, part) = cut(10 + 20 + 30 + 40 + 49, first, second)
    assert whole == first
    assert (part.first, part.last, part.counts, part.cut) == (7, 7 + 2, (30, 40), True)


def test_filling_stops_at_the_unit_that_does_not_fit() -> None:
    """Smaller ones behind it are not taken: that would reward being short."""
    assert cut(10 + 29, unit(10), unit(30), unit(1)) == [unit(10)]
    assert cut(10 + 39, unit(10), unit(30, 10), unit(1)) == [unit(10), leading(unit(30, 10), 1)]


def test_a_first_sentence_over_the_budget_is_returned_alone_for_the_caller_to_cut() -> None:
    (only,) = cut(29, unit(30, 5), unit(1))
    assert (only.first, only.last, only.counts, only.cut) == (0, 1, (30,), True)


def test_a_unit_of_one_sentence_over_the_budget_loses_no_whole_sentence() -> None:
    assert cut(29, unit(30), unit(1)) == [unit(30)]


def test_nothing_stays_nothing() -> None:
    assert cut(100) == []


def test_leading_of_all_sentences_changes_nothing() -> None:
    assert leading(unit(1, 2), 2) == unit(1, 2)
    assert leading(unit(1, 2), 5) == unit(1, 2)


@PROPERTY
@given(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=8), max_size=8), st.integers(1, 200))
def test_the_budget_holds_and_what_is_kept_is_a_prefix(counts: list[list[int]], budget: int) -> None:
    units = [unit(*item, first=10 * number) for number, item in enumerate(counts)]
    kept = cut(budget, *units)
    assert kept[:-1] == units[: max(0, len(kept) - 1)]
    total = sum(item.tokens for item in kept)
    assert total <= budget or [len(item.counts) for item in kept] == [1]
    assert all(not item.cut for item in kept[:-1])
    if kept:
        last, whole = kept[-1], units[len(kept) - 1]
        assert last.counts == whole.counts[: len(last.counts)]
        assert last.cut == (len(last.counts) < len(whole.counts))


@PROPERTY
@given(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=8), max_size=8), st.integers(1, 200))
def test_a_larger_budget_never_shows_less(counts: list[list[int]], budget: int) -> None:
    units = [unit(*item) for item in counts]
    smaller, larger = cut(budget, *units), cut(budget + 1, *units)
    assert len(larger) >= len(smaller)
    assert all(len(b.counts) >= len(a.counts) for a, b in zip(smaller, larger, strict=False))
