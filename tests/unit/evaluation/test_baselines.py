from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, G8, G16, PROPERTY, Text, dense, lexical, ranked, ranked_lists
from umg_search.evaluation.baselines import (
    Fusing,
    Layouts,
    Method,
    Product,
    linear,
    long_units,
    methods_of,
    reciprocal_ranks,
)
from umg_search.evaluation.texts import Layout
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import DocumentKey, Fused, RankedList, Selected, document_of
from umg_search.search import RankingOptions, Selection, rank
from umg_search.search.options import MOST_TOKENS

A, B = Text("a", (10,) * 40), Text("b", (10,) * 40)
CHANNELS = tuple(Channel(expert, granularity) for expert in Expert for granularity in Granularity)


def mass(fused: Fused, text: Text, first: int, last: int) -> float:
    (value,) = fused.mass[
        (fused.document == fused.versions.index(text.version)) & (fused.first == first) & (fused.last == last)
    ]
    return float(value)


def layouts(*texts: Text) -> Layouts:
    """Ten characters a sentence."""
    return {
        text.version: Layout(
            DocumentKey("default", text.name),
            "." * 10 * len(text.counts),
            tuple(range(0, 10 * len(text.counts) + 1, 10)),
            text.counts,
        )
        for text in texts
    }


def named(name: str, channels: tuple[Channel, ...] = CHANNELS) -> Method:
    (method,) = [method for method in methods_of(channels) if method.name == name]
    return method


def ranges(selected: list[Selected]) -> list[tuple[str, int, int]]:
    return [(document_of(item.version).rstrip(b"\0").decode(), item.first, item.last) for item in selected]


def whole(method: Method, *lists: RankedList, budget: int = MOST_TOKENS, most: int = 0) -> list[tuple[str, int, int]]:
    return ranges(list(method.answering(lists, layouts(A, B))(budget=budget, most=most)))


def test_reciprocal_ranks_add_up() -> None:
    fused = reciprocal_ranks([ranked(dense(G2), (A, 0, 0.9), (B, 4, 0.8)), ranked(lexical(G2), (B, 4, 7.0))])
    assert mass(fused, A, 0, 2) == 1 / 61
    assert mass(fused, B, 4, 6) == 1 / 62 + 1 / 61


def test_min_max_scores_are_averaged_and_what_is_missing_has_none() -> None:
    fused = linear([ranked(dense(G2), (A, 0, 0.9), (B, 4, 0.6), (A, 8, 0.5)), ranked(lexical(G2), (B, 4, 7.0))])
    assert mass(fused, A, 0, 2) == (1.0 + 0.0) / 2
    assert mass(fused, B, 4, 6) == pytest.approx(((0.6 - 0.5) / (0.9 - 0.5) + 1.0) / 2)
    assert mass(fused, A, 8, 10) == 0


def test_equal_weights_share_the_mass_alike() -> None:
    sharp, flat = ranked(dense(G2), (A, 0, 9.0), *((A, i, 0.0) for i in range(2, 12))), ranked(lexical(G2), (B, 4, 1.0))
    best = named("uniform-chunks").answering([sharp, flat], {})(budget=90, most=1)[0]
    assert (best.version, best.first) == (B.version, 4)
    assert best.score * (2 * 10) ** 0.5 == pytest.approx(1 / 2)


def test_a_channel_alone_keeps_the_order_of_its_list() -> None:
    method = named("lexical-g02")
    found = ranked(lexical(G2), (B, 6, 5.0), (A, 2, 5.0), (A, 20, -1.0))
    assert whole(method, found) == [("b", 6, 8), ("a", 2, 4), ("a", 20, 22)]
    assert whole(method, found, most=2) == [("b", 6, 8), ("a", 2, 4)]


def test_a_budget_cuts_every_method_alike() -> None:
    """Windows of 20 tokens; 50 tokens hold two and the first sentence of the third."""
    found = ranked(dense(G2), (B, 6, 0.9), (A, 2, 0.8), (A, 20, 0.7))
    expected = [("b", 6, 8), ("a", 2, 4), ("a", 20, 21)]
    for name in ("dense-g02", "rrf-g02", "linear-g02", "rrf-all"):
        assert whole(named(name), found, budget=50) == expected


def test_small_hits_are_shown_as_their_parents_in_the_order_of_the_best() -> None:
    """Two hits have the parent a, 0 to 8, and two b, 0 to 8; each is shown once."""
    method = named("small-to-big")
    found = ranked(dense(G2), (B, 0, 0.9), (A, 2, 0.8), (A, 3, 0.7), (B, 1, 0.6))
    assert whole(method, found) == [("b", 0, 8), ("a", 0, 8)]
    assert whole(method, found, budget=100) == [("b", 0, 8), ("a", 0, 2)]


def test_a_parent_has_the_mass_of_its_best_hit_and_not_the_sum() -> None:
    """Ranks: b once on rank 1; a on ranks 2, 3 and 4, which would add up to more."""
    found = ranked(dense(G2), (B, 0, 0.9), (A, 1, 0.8), (A, 2, 0.7), (A, 3, 0.6))
    (first, *_) = named("small-to-big").answering([found], {})(budget=MOST_TOKENS, most=0)
    assert first.version == B.version
    assert first.score == 1 / 61


def test_long_units_are_whole_sentences_up_to_their_tokens() -> None:
    assert long_units([10, 10, 10], 20) == [(0, 2), (2, 3)]
    assert long_units([10, 50, 10], 20) == [(0, 1), (1, 2), (2, 3)]
    assert long_units([], 20) == []


@given(st.lists(st.integers(1, 30), max_size=30), st.integers(1, 60))
def test_long_units_tile_the_document_and_could_not_be_longer(counts: list[int], tokens: int) -> None:
    units = long_units(counts, tokens)
    assert [i for unit in units for i in range(*unit)] == list(range(len(counts)))
    assert all(sum(counts[slice(*unit)]) <= tokens or unit.last - unit.first == 1 for unit in units)
    assert all(sum(counts[one.first : other.first + 1]) > tokens for one, other in pairwise(units))


def test_longrag_ranks_units_by_their_best_window() -> None:
    """100 sentences of 100 tokens make units of 40 sentences."""
    long = Text("a", (100,) * 100)
    found = ranked(dense(G16), (B, 0, 0.9), (long, 48, 0.8), (long, 0, 0.7), (long, 56, 0.95))
    selected = named("longrag").answering([found], layouts(long, B))(budget=MOST_TOKENS, most=0)
    assert ranges(list(selected)) == [("a", 40, 80), ("b", 0, 40), ("a", 0, 40)]
    assert [item.score for item in selected] == [0.95, 0.9, 0.7]
    short = named("longrag").answering([found], layouts(long, B))(budget=250, most=0)
    assert [(item.tokens, item.cut) for item in short] == [(200, True)]


@PROPERTY
@given(ranked_lists(), st.sampled_from(Selection))
def test_ours_is_what_a_search_does(lists: list[RankedList], selection: Selection) -> None:
    method = Product("x", "", (), RankingOptions(select=selection))
    answer = method.answering(lists, {})(budget=90, most=0)
    assert list(answer) == list(rank(lists, RankingOptions(select=selection, budget=90, top_k=0)).kept)


@PROPERTY
@given(ranked_lists(), st.sampled_from([reciprocal_ranks, linear]), st.integers(1, 300))
def test_no_method_passes_the_budget_by_more_than_its_only_sentence(
    lists: list[RankedList], fusion: object, budget: int
) -> None:
    for options in (RankingOptions(select=selection) for selection in Selection):
        found = Fusing("x", "", (), fusion, options).answering(lists, {})(budget=budget, most=0)  # type: ignore[arg-type]
        total = sum(item.tokens for item in found)
        assert total <= budget or len(found) == len(found[0].counts) == 1


@PROPERTY
@given(ranked_lists())
def test_the_order_of_lists_is_of_no_consequence(lists: list[RankedList]) -> None:
    for fusion in (reciprocal_ranks, linear):
        one, other = fusion(lists), fusion(lists[::-1])
        assert np.allclose(one.mass, other.mass)


def test_every_baseline_is_there_once_and_reads_its_own_lists() -> None:
    methods = {method.name: method for method in methods_of(CHANNELS)}
    assert len(methods) == len(methods_of(CHANNELS)) == 5 + 2 * 3 + 15 + 2 * 5 + 3
    assert {str(channel) for channel in methods["rrf-g08"].channels} == {"dense-g08", "sparse-g08"}
    assert methods["longrag"].channels == (dense(G16),)
    assert methods["paper-chunks"].channels == tuple(c for c in CHANNELS if c.expert is not Expert.LEXICAL)
    assert methods["spans"].channels == methods["rrf-all"].channels == CHANNELS
    assert [name for name, method in methods.items() if method.fixed_k is None] == [
        "spans",
        "uniform-spans",
        "rrf-spans",
    ]


def test_spans_are_ours_whatever_fuses_the_lists_and_other_selections_are_baselines() -> None:
    ours = [method.name for method in methods_of(CHANNELS) if method.ours]
    assert ours == ["spans", "chunks", "parents", "paper-chunks", "paper-parents", "uniform-spans", "rrf-spans"]


def test_bm25_takes_the_place_of_the_sparse_expert() -> None:
    channels = tuple(channel for channel in CHANNELS if channel.expert is not Expert.SPARSE)
    assert {str(channel) for channel in named("rrf-g02", channels).channels} == {"dense-g02", "lexical-g02"}
    assert named("paper-parents", channels).channels == channels


def test_one_expert_alone_has_no_fusion_of_two() -> None:
    names = [method.name for method in methods_of((lexical(G2), lexical(G8)))]
    assert [name for name in names if name.startswith(("rrf-g", "linear-"))] == []
    assert named("longrag", (lexical(G2), lexical(G8))).channels == (lexical(G8),)
