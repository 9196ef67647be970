"""`rank` and `select`: the pure middle of a search."""

from dataclasses import replace
from itertools import combinations
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, G4, G8, PROPERTY, Text, dense, fused, lexical, ranked, ranked_lists
from umg_search.errors import QueryError
from umg_search.granularity import Granularity
from umg_search.model import RankedList, Selected
from umg_search.ranking.evidence import Normalisation
from umg_search.search import Cut, CutOn, CutRule, RankingOptions, Selection, rank, select
from umg_search.search.ranking import relevance

UNITS = st.sampled_from([Selection.CHUNKS, Selection.PARENTS])
CUTS = st.builds(Cut, st.sampled_from(CutRule), on=st.sampled_from(CutOn), fewest=st.sampled_from([0, 8]))
OPTIONS = st.builds(
    RankingOptions,
    cut=st.none() | CUTS,
    select=st.sampled_from(Selection),
    budget=st.integers(1, 400),
    top_k=st.none() | st.integers(0, 6),
    normalisation=st.sampled_from(Normalisation),
    temperature=st.floats(0.5, 2),
    floor=st.sampled_from([0, 16]),
    own_mass=st.booleans(),
    min_sentences=st.integers(1, 3),
)


def places(selected: list[Selected] | tuple[Selected, ...]) -> list[tuple[bytes, int, int]]:
    return [(item.version, item.first, item.last) for item in selected]


# --- a golden case from scores to contexts -------------------------------------------------------------------------

A = Text("a", (10, 20, 10, 20, 10, 20, 10, 20, 10))
B = Text("b", (4, 4))

STRONG = exp(1) / (exp(1) + exp(-1))
"""Mass of the better of two hits: z = +1 and -1."""

UNCERTAIN = 1 + (STRONG * log(STRONG) + (1 - STRONG) * log(1 - STRONG)) / log(2)
"""Confidence of a list of two hits, about 0.47."""


def golden_lists() -> list[RankedList]:
    """Return three lists: of two hits, of one hit, and of three equal ones."""
    return [
        ranked(dense(G2), (A, 2, 0.9), (B, 0, 0.5)),
        ranked(dense(G4), (A, 2, 0.7)),
        ranked(lexical(G8), (A, 0, 3.0), (A, 4, 3.0), (B, 0, 3.0)),
    ]


def test_golden_weights_and_masses() -> None:
    found = rank(golden_lists(), RankingOptions())
    weights = [UNCERTAIN / (UNCERTAIN + 1), 1 / (UNCERTAIN + 1), 0]
    assert [item.confidence for item in found.evidence] == pytest.approx([UNCERTAIN, 1, 0], abs=1e-12)
    assert found.weights == pytest.approx(weights, abs=1e-12)
    windows = list(zip(found.fused.first.tolist(), found.fused.last.tolist(), strict=True))
    assert windows == [(0, 8), (2, 4), (2, 6), (4, 9), (0, 2)]
    assert found.fused.mass == pytest.approx(
        [0, weights[0] * STRONG, weights[1], 0, weights[0] * (1 - STRONG)], abs=1e-12
    )


def test_golden_spans() -> None:
    (first, second) = rank(golden_lists(), RankingOptions(budget=64)).kept
    two, four = UNCERTAIN / (UNCERTAIN + 1), 1 / (UNCERTAIN + 1)
    assert (first.version, first.first, first.last, first.counts) == (A.version, 2, 6, (10, 20, 10, 20))
    assert first.score == pytest.approx(2 * (two * STRONG / 2 + four / 4) + 2 * (four / 4))
    assert (second.version, second.first, second.last, second.counts) == (B.version, 0, 1, (4,))
    assert second.score == pytest.approx(two * (1 - STRONG) / 2)


def test_golden_chunks() -> None:
    options = RankingOptions(select=Selection.CHUNKS, overlap=1.0)
    kept = rank(golden_lists(), options).kept
    two, four = UNCERTAIN / (UNCERTAIN + 1), 1 / (UNCERTAIN + 1)
    expected = [
        (A, 2, 6, four / (10 + 20 + 10 + 20) ** 0.5),
        (A, 2, 4, two * STRONG / (10 + 20) ** 0.5),
        (B, 0, 2, two * (1 - STRONG) / 16**0.5),
    ]
    assert [score for *_, score in expected] == sorted((score for *_, score in expected), reverse=True)
    assert places(kept)[:3] == [(text.version, first, last) for text, first, last, _ in expected]
    assert [item.score for item in kept[:3]] == pytest.approx([score for *_, score in expected])


def test_golden_parents() -> None:
    """Both small hits of `a` lie in (0, 8), whose own mass is 0; (2, 6) is as near to (4, 9) as to none."""
    kept = rank(golden_lists(), RankingOptions(select=Selection.PARENTS)).kept
    two, four = UNCERTAIN / (UNCERTAIN + 1), 1 / (UNCERTAIN + 1)
    assert places(kept)[:2] == [(A.version, 0, 8), (B.version, 0, 2)]
    assert [item.score for item in kept[:2]] == pytest.approx(
        [(1 - (1 - two * STRONG) * (1 - four)) / (4 * 10 + 4 * 20) ** 0.5, two * (1 - STRONG) / 16**0.5]
    )


def test_golden_short_documents() -> None:
    """A document of two sentences holds all five windows in one: their masses add, on one unit."""
    short, other = Text("s", (9, 9)), Text("t", (9,) * 40)
    lists = [ranked(dense(g), (short, 0, 2.0), (other, 0, 1.0)) for g in Granularity]
    (unit, *_) = rank(lists, RankingOptions(select=Selection.CHUNKS)).kept
    assert (unit.version, unit.first, unit.last) == (short.version, 0, 2)
    assert unit.score == pytest.approx(5 * (1 / 5) * STRONG / (9 + 9) ** 0.5)


# --- single cases --------------------------------------------------------------------------------------------------


def test_lists_without_hits_are_left_out_and_nothing_at_all_is_an_empty_answer() -> None:
    empty = ranked(lexical(G2))
    assert rank([], RankingOptions()).kept == ()
    nothing = rank([empty], RankingOptions())
    assert (nothing.evidence, nothing.weights, nothing.fused, nothing.kept) == ((), (), None, ())
    found = rank([empty, *golden_lists()], RankingOptions())
    assert len(found.evidence) == 3
    assert found.weights == rank(golden_lists(), RankingOptions()).weights


def test_where_every_list_is_undecided_all_weigh_the_same() -> None:
    lists = [ranked(dense(G2), (A, 0, 1.0), (A, 1, 1.0)), ranked(lexical(G2), (A, 4, 1.0), (A, 5, 1.0))]
    assert rank(lists, RankingOptions()).weights == pytest.approx((1 / 2, 1 / 2))


def test_five_units_are_the_default_and_zero_means_all() -> None:
    many = Text("m", (3,) * 60)
    found = fused(*((many, G2, first, 0.1) for first in range(0, 20, 2)))
    options = RankingOptions(select=Selection.CHUNKS)
    assert len(select(found, options).items) == 5
    assert len(select(found, replace(options, top_k=2)).items) == 2
    assert len(select(found, replace(options, top_k=0)).items) == 10
    assert len(select(found, RankingOptions(top_k=1)).items) == 1


def test_spans_have_no_limit_unless_one_is_given() -> None:
    many = Text("m", (3,) * 60)
    found = fused(*((many, G2, first, 0.1) for first in range(0, 40, 4)))
    assert len(select(found, RankingOptions()).items) == 10
    assert places(select(found, RankingOptions(top_k=3)).items) == places(select(found, RankingOptions()).items[:3])


def test_a_duplicate_does_not_take_the_place_of_another_unit() -> None:
    text = Text("m", (20,) * 40)
    found = fused((text, G8, 0, 0.5), (text, G4, 2, 0.3), (text, G8, 16, 0.2))
    options = RankingOptions(select=Selection.CHUNKS, top_k=2)
    assert places(select(found, options).items) == [(text.version, 0, 8), (text.version, 16, 24)]
    assert places(select(found, replace(options, overlap=1.0)).items) == [(text.version, 0, 8), (text.version, 2, 6)]


def test_relevance_counts_the_finest_windows_that_overlap_and_no_neighbours() -> None:
    lists = [ranked(dense(G2), (A, 4, 0.9), (A, 2, 0.5), (A, 0, 0.3)), ranked(dense(G4), (B, 0, 0.99))]
    found = rank(lists, RankingOptions())

    def of(text: Text, first: int, last: int) -> float | None:
        return relevance(found, Selected(text.version, first, last, 1.0, text.counts[first:last]))

    assert of(A, 2, 4) == 0.5
    assert of(A, 3, 5) == 0.9
    assert of(A, 0, 8) == 0.9
    assert of(A, 6, 8) is None
    assert of(B, 0, 2) is None


def test_the_paper_preset_is_its_literal_reading() -> None:
    options = RankingOptions.paper()
    assert options == RankingOptions(
        select=Selection.PARENTS,
        normalisation=Normalisation.MINMAX,
        temperature=1.0,
        floor=0,
        depth=100,
        own_mass=False,
        overlap=0.75,
    )
    assert options.limit == 5
    assert RankingOptions.paper(Selection.CHUNKS).overlap == 1.0


def test_all_wrong_options_are_named_together() -> None:
    with pytest.raises(QueryError, match=r"budget is 0.*top_k is -2.*depth is -1.*temperature is 0"):
        RankingOptions(budget=0, depth=-1, top_k=-2, temperature=0)


# --- properties ----------------------------------------------------------------------------------------------------


@PROPERTY
@given(ranked_lists(), OPTIONS)
def test_weights_and_masses_sum_to_one(lists: list[RankedList], options: RankingOptions) -> None:
    found = rank(lists, options)
    assert sum(found.weights) == pytest.approx(1)
    assert found.fused.mass.sum() == pytest.approx(1)


@PROPERTY
@given(ranked_lists(), OPTIONS, st.randoms(use_true_random=False))
def test_order_of_the_lists_does_not_matter(lists: list[RankedList], options: RankingOptions, random: object) -> None:
    shuffled = list(lists)
    random.shuffle(shuffled)
    assert places(rank(shuffled, options).kept) == places(rank(lists, options).kept)


@PROPERTY
@given(ranked_lists(), OPTIONS)
def test_order_of_equal_hits_does_not_matter(lists: list[RankedList], options: RankingOptions) -> None:
    turned = []
    for item in lists:
        rows = np.lexsort((-np.arange(len(item.scores)), -item.scores))
        turned.append(RankedList(item.channel, item.hits.take(rows), item.scores[rows]))
    assert rank(turned, options).kept == rank(lists, options).kept


@PROPERTY
@given(ranked_lists(), OPTIONS)
def test_scores_fall_with_rank_and_ties_are_ordered(lists: list[RankedList], options: RankingOptions) -> None:
    kept = rank(lists, options).kept
    keys = [(-item.score, item.version, item.first) for item in kept]
    assert keys == sorted(keys)


@PROPERTY
@given(ranked_lists(), OPTIONS, UNITS, st.integers(1, 6))
def test_the_best_k_are_the_beginning_of_the_best_k_and_one(
    lists: list[RankedList], options: RankingOptions, selection: Selection, k: int
) -> None:
    shorter = rank(lists, replace(options, select=selection, top_k=k)).kept
    longer = rank(lists, replace(options, select=selection, top_k=k + 1)).kept
    assert len(shorter) <= k
    assert longer[: len(shorter)] == shorter


@PROPERTY
@given(ranked_lists(), OPTIONS)
def test_no_answer_passes_the_budget_unless_a_single_sentence_does(
    lists: list[RankedList], options: RankingOptions
) -> None:
    kept = rank(lists, options).kept
    assert kept
    assert sum(item.tokens for item in kept) <= options.budget or [len(item.counts) for item in kept] == [1]


@PROPERTY
@given(ranked_lists(), OPTIONS, UNITS)
def test_no_two_units_of_a_document_share_more_than_the_share(
    lists: list[RankedList], options: RankingOptions, selection: Selection
) -> None:
    options = replace(options, select=selection, budget=100_000, top_k=0)
    for one, other in combinations(rank(lists, options).kept, 2):
        if one.version == other.version:
            shared = min(one.last, other.last) - max(one.first, other.first)
            assert shared <= 0.75 * min(one.last - one.first, other.last - other.first)


@PROPERTY
@given(ranked_lists(), OPTIONS)
def test_selections_know_the_tokens_of_their_sentences(lists: list[RankedList], options: RankingOptions) -> None:
    for item in rank(lists, options).kept:
        assert item.last - item.first == len(item.counts) > 0
        assert all(count > 0 for count in item.counts)


@PROPERTY
@given(ranked_lists(), OPTIONS)
def test_ranking_twice_gives_the_same(lists: list[RankedList], options: RankingOptions) -> None:
    assert rank(lists, options).kept == rank(lists, options).kept
