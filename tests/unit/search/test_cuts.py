"""Cuts as options of a search: how they are written, where they are applied, what an answer says of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, G8, PROPERTY, Text, fused, ranked_lists
from tests.unit.search.shop import SELECTIONS, Shop, documents
from umg_search.errors import QueryError
from umg_search.model import CutPoint, Document, Fused, RankedList, Selected
from umg_search.ranking import adaptive_k, gapr, surprise, tail_aware
from umg_search.ranking.spans import strongest
from umg_search.search import Cut, CutOn, CutRule, RankingOptions, Selection, rank, select
from umg_search.search.cuts import CANDIDATES

UNITS = pytest.mark.parametrize("selection", [Selection.CHUNKS, Selection.PARENTS])
GAPR, RUNS = Cut(CutRule.GAPR), Cut(CutRule.GAPR, on=CutOn.RUNS, fewest=0)


def sentences(items: list[Selected] | tuple[Selected, ...]) -> set[tuple[bytes, int]]:
    return {(item.version, i) for item in items for i in range(item.first, item.last)}


# --- a cut as it is written ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("none", None),
        ("gapr", Cut(CutRule.GAPR)),
        ("gapr:2", Cut(CutRule.GAPR, 2)),
        ("adaptive_k:5", Cut(CutRule.ADAPTIVE_K, 5)),
        ("fixed:7", Cut(CutRule.FIXED, 7)),
        ("surprise:0.01", Cut(CutRule.SURPRISE, 0.01)),
        ("tail_aware", Cut(CutRule.TAIL_AWARE)),
    ],
)
def test_a_cut_is_read_as_it_is_written(text: str, cut: Cut | None) -> None:
    assert Cut.parse(text) == cut
    assert cut is None or str(cut) == text


@pytest.mark.parametrize("text", ["", "knee", "gapr:", "gapr:two", "GAPR", "none:3"])
def test_what_is_no_cut_is_refused_with_all_that_are(text: str) -> None:
    with pytest.raises(QueryError, match="is no cut: write none or one of gapr, adaptive_k, fixed, surprise, tail_a"):
        Cut.parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gapr:0", "its number lies between 1 and 30"),
        ("gapr:2.5", "its number is a whole one"),
        ("gapr:nan", "its number lies between"),
        ("adaptive_k:-1", "its number lies between 0 and 30"),
        ("fixed:31", "its number lies between 1 and 30"),
        ("surprise:1", "its number lies between 1e-09 and 0.999"),
        ("tail_aware:3", "tail_aware takes no number"),
    ],
)
def test_a_wrong_number_is_refused_with_what_it_can_be(text: str, reason: str) -> None:
    with pytest.raises(QueryError, match=f"Wrong cut {text}: {reason}"):
        Cut.parse(text)


def test_all_wrong_bounds_are_named_together() -> None:
    with pytest.raises(QueryError, match=r"tail_aware takes no number; k_min is 5 and k_max 4.*; fewest is 31"):
        Cut(CutRule.TAIL_AWARE, 1, k_min=5, k_max=4, fewest=31)


def test_numbers_and_bounds_reach_the_rules() -> None:
    scores = [20.0, 19, 11, 10, 7, 6.5, 6, 3, 2.5, 2, 1.5]
    assert Cut(CutRule.GAPR).keep(scores) == gapr(scores)
    assert Cut(CutRule.GAPR, 1).keep(scores) == gapr(scores, r=1) != gapr(scores)
    assert Cut(CutRule.ADAPTIVE_K, 4).keep(scores) == adaptive_k(scores, buffer=4)
    assert Cut(CutRule.SURPRISE, 0.5).keep(scores) == surprise(scores, significance=0.5) != surprise(scores)
    assert Cut(CutRule.TAIL_AWARE, k_max=2).keep(scores) == tail_aware(scores, k_max=2) == 2
    assert Cut(CutRule.FIXED).keep(scores) == 5
    assert Cut(CutRule.FIXED, 9).keep(scores) == 9


def test_short_lists_are_kept_whole_unless_the_number_is_fixed() -> None:
    scores = [9.0, 1, 1, 1, 1, 1, 1]
    assert [Cut(rule).keep(scores) for rule in CutRule] == [7, 7, 5, 7, 7]
    assert Cut(CutRule.GAPR, fewest=7).keep(scores) == 1


# --- units ---------------------------------------------------------------------------------------------------------

LONG = Text("m", (5,) * 400)


def steps(*masses: float) -> Fused:
    """Return units of 8 sentences that do not overlap, with these masses."""
    return fused(*((LONG, G8, 8 * i, mass) for i, mass in enumerate(masses)))


@UNITS
def test_units_are_cut_where_the_rule_says_and_a_cut_takes_the_place_of_five(selection: Selection) -> None:
    found = steps(*[0.9] * 7, *[0.1] * 13)
    chosen = select(found, RankingOptions(select=selection, budget=100_000, cut=GAPR))
    assert len(chosen.items) == 7
    assert chosen.cut == CutPoint("gapr", "units", 20, 7)


@UNITS
def test_fixed_is_the_default_of_five(selection: Selection) -> None:
    found = steps(*(1 - 0.02 * i for i in range(20)))
    options = RankingOptions(select=selection, budget=100_000)
    cut = select(found, replace(options, cut=Cut(CutRule.FIXED)))
    assert cut.items == select(found, options).items
    assert cut.cut == CutPoint("fixed", "units", 20, 5)


@UNITS
def test_a_rule_sees_thirty_units_and_the_budget_comes_after(selection: Selection) -> None:
    found = steps(*[0.9] * 29, 0.1, *[0.0001] * 10)
    options = RankingOptions(select=selection, budget=8 * 5 * 6, cut=GAPR)
    chosen = select(found, options)
    assert chosen.cut == CutPoint("gapr", "units", CANDIDATES, 29)
    assert len(chosen.items) == 6


@UNITS
def test_the_number_of_contexts_bounds_what_a_cut_keeps(selection: Selection) -> None:
    found = steps(*[0.9] * 7, *[0.1] * 13)
    chosen = select(found, RankingOptions(select=selection, budget=100_000, cut=GAPR, top_k=3))
    assert len(chosen.items) == 3
    assert chosen.cut.kept == 7


# --- spans ---------------------------------------------------------------------------------------------------------


def peaks(*masses: float) -> Fused:
    """Return units of 2 sentences with a gap of 2 between them: each is one run with the same evidence twice."""
    return fused(*((LONG, G2, 4 * i, mass) for i, mass in enumerate(masses)))


def test_sentences_are_cut_before_the_budget_is_filled() -> None:
    found = peaks(*[0.9] * 4, *[0.1] * 16)
    chosen = select(found, RankingOptions(cut=GAPR))
    assert sentences(chosen.items) == {(LONG.version, 4 * i + j) for i in range(4) for j in range(2)}
    assert chosen.cut == CutPoint("gapr", "sentences", 30, 8)
    assert sentences(select(found, RankingOptions()).items) > sentences(chosen.items)


def test_sentences_within_the_cut_are_passed_over_where_the_budget_has_no_room() -> None:
    chosen = select(peaks(*[0.9] * 4, *[0.1] * 16), RankingOptions(cut=GAPR, budget=5 * 3))
    assert len(sentences(chosen.items)) == 3
    assert chosen.cut.kept == 8


def test_runs_are_cut_after_the_budget_is_filled() -> None:
    found = peaks(*[0.9] * 4, *[0.1] * 16)
    chosen = select(found, RankingOptions(cut=RUNS, budget=5 * 20))
    assert len(chosen.items) == 4
    assert chosen.cut == CutPoint("gapr", "runs", 10, 4)
    assert len(select(found, RankingOptions(cut=replace(RUNS, fewest=11), budget=5 * 20)).items) == 10


def test_runs_that_have_to_be_long_take_neighbours_from_behind_the_cut() -> None:
    found = peaks(*[0.9] * 4, *[0.1] * 16)
    chosen = select(found, RankingOptions(cut=Cut(CutRule.FIXED, 2), min_sentences=3))
    (run,) = chosen.items
    assert (run.first, run.last) == (0, 3)
    assert chosen.cut.kept == 2


def test_of_no_lists_there_is_no_cut() -> None:
    assert rank([], RankingOptions(cut=GAPR)).cut is None


@PROPERTY
@given(ranked_lists(), st.sampled_from(CutRule), st.integers(1, 8))
def test_a_cut_keeps_what_stands_first(lists: list[RankedList], rule: CutRule, fewest: int) -> None:
    """Without a budget a cut of units is a prefix, and a cut of sentences the best of them."""
    for selection in Selection:
        plain = RankingOptions(select=selection, budget=100_000, top_k=0)
        whole, some = rank(lists, plain), rank(lists, replace(plain, cut=Cut(rule, fewest=fewest)))
        if selection is Selection.SPANS:
            best = strongest(whole.fused, CANDIDATES)
            assert len(sentences(some.kept)) == some.cut.kept <= len(best)
            assert sentences(some.kept) <= sentences(whole.kept)
            assert sum(item.score for item in some.kept) == pytest.approx(sum(best[: some.cut.kept]))
        else:
            assert some.kept == whole.kept[: some.cut.kept]


# --- answers -------------------------------------------------------------------------------------------------------


@pytest.fixture
def shop() -> Shop:
    return Shop(None, *documents())


@SELECTIONS
def test_an_answer_says_where_it_was_cut(shop: Shop, selection: Selection) -> None:
    question = "uniqueglacier season 3"
    plain = shop.search(question, select=selection)
    cut = shop.search(question, select=selection, cut=Cut(CutRule.FIXED, 2))
    assert plain.cut is None
    assert cut.cut == CutPoint(
        "fixed:2", "sentences" if selection is Selection.SPANS else "units", cut.cut.candidates, 2
    )
    assert 20 < cut.cut.candidates <= CANDIDATES
    assert "uniqueglacier" in cut.contexts[0].text
    assert 1 <= len(cut.contexts) <= 2


NOTICE = "The siren is tested at noon. It sounds twice for the siren test. Nobody need leave."
QUESTION = "when is the siren tested"


@pytest.fixture
def notices() -> Shop:
    return Shop(None, *(Document(id=f"copy{i}", text=NOTICE) for i in range(3)), *documents())


@SELECTIONS
def test_what_duplicates_leave_is_not_filled_from_behind_the_cut(notices: Shop, selection: Selection) -> None:
    plain = notices.search(QUESTION, select=selection, budget=300)
    assert {c.document_id for c in plain.contexts} > {"copy0"}
    found = notices.search(QUESTION, select=selection, budget=300, cut=Cut(CutRule.ADAPTIVE_K))
    assert {source.document_id for c in found.contexts for source in c.sources} == {"copy0", "copy1", "copy2"}


@UNITS
def test_copies_do_not_count_where_the_number_of_units_is_fixed(notices: Shop, selection: Selection) -> None:
    found = notices.search(QUESTION, select=selection, budget=300, cut=Cut(CutRule.FIXED, 2))
    assert found.contexts == notices.search(QUESTION, select=selection, budget=300, top_k=2).contexts
    assert len(found.contexts) == 2


def test_runs_are_cut_anew_when_copies_have_been_taken_together(notices: Shop) -> None:
    found = notices.search(QUESTION, budget=300, cut=Cut(CutRule.FIXED, 2, CutOn.RUNS))
    assert found.contexts[0].document_id == "copy0"
    assert len(found.contexts) == 2


def test_only_gapr_weighs_gaps_by_rank() -> None:
    scores = [10.0, 6.0, 5.0, 4.0, 2.5, 1.5, 0.5, 0.4, 0.3]  # gaps 4, 1, 1, 1.5, 1, 1, 0.1, 0.1
    assert Cut(CutRule.GAPR, 1).keep(scores) == 1
    assert Cut(CutRule.GAPR, 1, rank_power=1.0).keep(scores) == 4, "1.5 * 4 = 1 * 6, the earlier"
    with pytest.raises(QueryError, match="rank_power belongs to gapr"):
        Cut(CutRule.ADAPTIVE_K, rank_power=1.0)
    with pytest.raises(QueryError, match="rank_power is 3"):
        Cut(CutRule.GAPR, rank_power=3.0)
