from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, G4, G8, PROPERTY, Text, fused, ranked_lists
from tests.unit.ranking.test_fusion import fuse_all
from umg_search.granularity import Granularity
from umg_search.model import DocumentVersion, FloatArray, Fused, RankedList, Selected
from umg_search.ranking.axis import axis_of
from umg_search.ranking.spans import HEAD, sentence_evidence, spans, strongest

A = Text("a", (10,) * 12)


def ranges(found: Sequence[Selected]) -> list[tuple[int, int]]:
    return [(run.first, run.last) for run in found]


def flat(found: Fused) -> FloatArray:
    """Return the evidence of every place of the flat axis."""
    return sentence_evidence(found, axis_of(found))


def place_of(found: Fused, version: DocumentVersion, sentence: int) -> int:
    """Return the place of a sentence on the axis: in the last stretch of its document that does not begin later."""
    here = axis_of(found)
    document = found.versions.index(version)
    (stretch,) = np.flatnonzero((here.document == document) & (here.first <= sentence))[-1:]
    return int(here.offset[stretch] + sentence - here.first[stretch])


def evidence_of(found: Fused, text: Text, sentence: int) -> float:
    return float(flat(found)[place_of(found, text.version, sentence)])


# --- E(d, i) -----------------------------------------------------------------------------------------------------


def test_a_sentence_has_the_mass_of_the_units_that_hold_it_each_divided_by_its_sentences() -> None:
    found = fused((A, G2, 0, 0.3), (A, G4, 0, 0.2), (A, G2, 1, 0.4), (A, G8, 4, 0.1))
    expected = [0.3 / 2 + 0.2 / 4, 0.3 / 2 + 0.2 / 4 + 0.4 / 2, 0.2 / 4 + 0.4 / 2, 0.2 / 4, *[0.1 / 8] * 8]
    assert [evidence_of(found, A, i) for i in range(12)] == pytest.approx(expected)


def test_a_short_last_window_divides_by_the_sentences_it_has() -> None:
    text = Text("t", (10,) * 9)
    found = fused((text, G8, 4, 1.0))
    assert [evidence_of(found, text, i) for i in range(4, 9)] == pytest.approx([1.0 / (9 - 4)] * 5)


def test_in_a_short_document_the_masses_of_all_granularities_add_on_the_same_sentences() -> None:
    short = Text("s", (7, 8))
    found = fused(*((short, granularity, 0, 0.2) for granularity in Granularity))
    assert [evidence_of(found, short, i) for i in range(2)] == pytest.approx([5 * 0.2 / 2] * 2)


def test_documents_share_nothing() -> None:
    b = Text("b", (10,) * 4)
    found = fused((A, G2, 10, 0.6), (b, G2, 0, 0.4))
    assert evidence_of(found, A, 11) == pytest.approx(0.6 / 2)
    assert evidence_of(found, b, 0) == pytest.approx(0.4 / 2)


# --- filling -----------------------------------------------------------------------------------------------------


def test_sentences_are_taken_by_evidence_while_they_fit() -> None:
    """E = .25, .45, .20, ., .05, .05 at 10 tokens each."""
    found = fused((A, G2, 0, 0.5), (A, G2, 1, 0.4), (A, G2, 4, 0.1))
    assert ranges(spans(found, budget=10)) == [(1, 2)]
    assert ranges(spans(found, budget=29)) == [(0, 2)]
    assert ranges(spans(found, budget=30)) == [(0, 3)]
    assert ranges(spans(found, budget=40)) == [(0, 3), (4, 5)]
    assert ranges(spans(found, budget=1_000)) == [(0, 3), (4, 6)]


def test_a_sentence_that_does_not_fit_is_passed_over_for_smaller_ones() -> None:
    """E = .2, .5, .3: the best has 100 tokens."""
    text = Text("t", (10, 100, 10))
    found = fused((text, G2, 0, 0.4), (text, G2, 1, 0.6))
    assert ranges(spans(found, budget=25)) == [(2, 3), (0, 1)]
    assert ranges(spans(found, budget=100)) == [(1, 2)]
    assert ranges(spans(found, budget=110)) == [(1, 3)]
    assert ranges(spans(found, budget=120)) == [(0, 3)]


def test_a_sentence_without_evidence_is_not_taken() -> None:
    found = fused((A, G2, 0, 0.5), (A, G2, 3, 0.5))
    assert ranges(spans(found, budget=10_000)) == [(0, 2), (3, 5)]


def test_the_strongest_are_the_evidence_of_the_best_sentences_best_first() -> None:
    text = Text("a", (10,) * 12)
    found = fused((text, G2, 0, 0.2), (text, G2, 4, 0.6), (text, G2, 8, 0.4))
    assert strongest(found, 5) == pytest.approx([0.6 / 2, 0.6 / 2, 0.4 / 2, 0.4 / 2, 0.2 / 2])
    assert len(strongest(found, 30)) == 3 * 2


def test_of_the_most_sentences_those_that_are_taken_already_count() -> None:
    """A second fill brings in nothing that the first could not have had."""
    text = Text("a", (10,) * 12)
    found = fused((text, G2, 0, 0.2), (text, G2, 4, 0.6), (text, G2, 8, 0.4))
    (first, second) = spans(found, budget=1000, most_sentences=4)
    assert ((first.first, first.last), (second.first, second.last)) == ((4, 6), (8, 10))
    (only,) = spans(found, budget=1000, most_sentences=4, taken=[(0, 4, 6)])
    assert (only.first, only.last) == (8, 10)
    assert spans(found, budget=1000, most_sentences=4, taken=[(0, 4, 6), (0, 8, 10)]) == []
    assert spans(found, budget=1000, most_sentences=0) == []


def test_what_a_document_may_not_have_is_filled_from_the_most_sentences_only() -> None:
    a, b = Text("a", (10,) * 12), Text("b", (10,) * 12)
    found = fused((a, G2, 0, 0.4), (a, G2, 4, 0.3), (b, G2, 0, 0.2), (b, G2, 4, 0.1))
    allowed = spans(found, budget=1000, most_sentences=6, max_per_document=1)
    assert [(run.version, run.first) for run in allowed] == [(a.version, 0), (b.version, 0)]


def test_equal_evidence_is_taken_in_the_order_of_version_and_sentence() -> None:
    b = Text("b", (10,) * 4)
    found = fused((b, G2, 0, 0.5), (A, G2, 6, 0.5))
    assert [(run.version, run.first, run.last) for run in spans(found, budget=30)] == [
        (A.version, 6, 8),
        (b.version, 0, 1),
    ]


@pytest.mark.parametrize("sentences", [HEAD - 1, HEAD, HEAD + 1, 3 * HEAD])
def test_what_lies_behind_the_sorted_head_fills_what_the_head_left(sentences: int) -> None:
    """Many large sentences of more evidence, one small of less, in a document of its own."""
    large = Text("large", (100,) * sentences)
    small = Text("small", (3, 1_000))
    items = [(large, G2, first, 1.0 / sentences) for first in range(0, sentences - 1, 2)]
    found = fused(*items, (small, G2, 0, 0.5 / sentences))
    chosen = spans(found, budget=100 + 100 + 5)
    assert {run.version for run in chosen} == {large.version, small.version}
    assert sum(run.tokens for run in chosen) == 100 + 100 + 3


# --- runs --------------------------------------------------------------------------------------------------------


def test_a_run_scores_the_sum_of_its_sentences_and_runs_are_ordered_by_it() -> None:
    found = fused((A, G2, 0, 0.3), (A, G4, 4, 0.5), (A, G2, 10, 0.2))
    runs = spans(found, budget=1_000)
    assert ranges(runs) == [(4, 8), (0, 2), (10, 12)]
    assert [run.score for run in runs] == pytest.approx([0.5, 0.3, 0.2])


def test_many_weak_sentences_in_a_row_beat_one_strong() -> None:
    found = fused((A, G8, 4, 0.6), (Text("b", (10, 500)), G2, 0, 0.4))
    runs = spans(found, budget=90)
    assert [run.score for run in runs] == pytest.approx([8 * (0.6 / 8), 0.4 / 2])


def test_neighbours_join_over_the_border_of_two_units() -> None:
    found = fused((A, G2, 2, 0.5), (A, G2, 4, 0.5))
    (run,) = spans(found, budget=1_000)
    assert (run.first, run.last, run.counts, run.score) == (2, 6, (10,) * 4, pytest.approx(1.0))


def test_the_end_of_one_document_and_the_beginning_of_the_next_do_not_join() -> None:
    b = Text("b", (10,) * 4)
    found = fused((A, G2, 10, 0.6), (b, G2, 0, 0.4))
    assert [(run.version, run.first, run.last) for run in spans(found, budget=1_000)] == [
        (A.version, 10, 12),
        (b.version, 0, 2),
    ]


def test_runs_of_equal_score_are_ordered_by_version_and_first_sentence() -> None:
    b = Text("b", (10,) * 12)
    found = fused(*((text, G2, first, 0.25) for text in (b, A) for first in (8, 0)))
    assert [(run.version, run.first) for run in spans(found, budget=1_000)] == [
        (A.version, 0),
        (A.version, 8),
        (b.version, 0),
        (b.version, 8),
    ]


def test_a_run_knows_the_tokens_of_its_sentences() -> None:
    text = Text("t", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
    (run,) = spans(fused((text, G4, 4, 1.0)), budget=1_000)
    assert (run.counts, run.tokens, run.cut) == ((5, 6, 7, 8), 5 + 6 + 7 + 8, False)


# --- where nothing fits ------------------------------------------------------------------------------------------


def test_where_no_sentence_fits_the_best_is_returned_whole() -> None:
    text = Text("t", (700, 800, 900))
    (run,) = spans(fused((text, G2, 0, 0.4), (text, G2, 1, 0.6)), budget=512)
    assert (run.first, run.last, run.counts) == (1, 2, (800,))


def test_a_sentence_over_the_budget_takes_no_neighbour() -> None:
    """The budget does not allow it: it is spent already."""
    text = Text("t", (3, 900, 900, 3))
    (run,) = spans(fused((text, G2, 1, 1.0)), budget=512, min_sentences=2)
    assert (run.first, run.last) == (1, 2)


# --- min_sentences -----------------------------------------------------------------------------------------------


def test_of_two_neighbours_without_evidence_the_earlier_is_taken() -> None:
    text = Text("t", (10,) * 8)
    found = fused((text, G2, 2, 1.0))
    assert ranges(spans(found, budget=1_000, min_sentences=3)) == [(1, 4)]


def test_widening_goes_on_until_the_run_is_long_enough() -> None:
    text = Text("t", (10,) * 8)
    found = fused((text, G2, 2, 1.0))
    assert ranges(spans(found, budget=1_000, min_sentences=2)) == [(2, 4)]
    assert ranges(spans(found, budget=1_000, min_sentences=5)) == [(0, 5)]


def test_widening_keeps_to_the_budget() -> None:
    text = Text("t", (10,) * 8)
    found = fused((text, G2, 2, 1.0))
    assert ranges(spans(found, budget=29, min_sentences=3)) == [(2, 4)]
    assert ranges(spans(found, budget=30, min_sentences=3)) == [(1, 4)]


def test_widening_takes_the_other_neighbour_where_the_better_does_not_fit() -> None:
    text = Text("t", (10, 100, 10, 10, 10, 10, 10, 10))
    found = fused((text, G2, 2, 1.0))
    assert ranges(spans(found, budget=50, min_sentences=3)) == [(2, 5)]


def test_widening_stays_inside_the_document_and_the_sentences_whose_tokens_are_known() -> None:
    """The hit (10, 12) knows the tokens of its parent (4, 12) only."""
    found = fused((A, G2, 10, 1.0))
    assert ranges(spans(found, budget=1_000, min_sentences=50)) == [(4, 12)]


def test_runs_that_widening_joins_are_long_enough_together() -> None:
    """Sentence 2 lies between (0, 2) and (3, 5): once it is taken, the five need nothing more."""
    found = fused((A, G2, 0, 0.5), (A, G2, 3, 0.5))
    assert ranges(spans(found, budget=1_000)) == [(0, 2), (3, 5)]
    assert ranges(spans(found, budget=1_000, min_sentences=3)) == [(0, 5)]


# --- properties --------------------------------------------------------------------------------------------------

BUDGETS = st.integers(1, 400)


@PROPERTY
@given(ranked_lists())
def test_evidence_on_sentences_is_the_whole_mass(lists: list[RankedList]) -> None:
    found = fuse_all(lists)
    evidence = flat(found)
    assert evidence.sum() == pytest.approx(1)
    assert (evidence >= 0).all()


@PROPERTY
@given(ranked_lists())
def test_evidence_is_what_a_plain_loop_over_units_and_sentences_gives(lists: list[RankedList]) -> None:
    found = fuse_all(lists)
    expected = np.zeros(len(axis_of(found).tokens))
    for mass, document, first, last in zip(found.mass, found.document, found.first, found.last, strict=True):
        for sentence in range(first, last):
            expected[place_of(found, found.versions[document], sentence)] += mass / (last - first)
    assert flat(found) == pytest.approx(expected, abs=1e-12)


@PROPERTY
@given(ranked_lists(), BUDGETS, st.integers(1, 6))
def test_spans_keep_to_the_budget_unless_a_single_sentence_is_larger(
    lists: list[RankedList], budget: int, min_sentences: int
) -> None:
    runs = spans(fuse_all(lists), budget=budget, min_sentences=min_sentences)
    assert runs
    total = sum(run.tokens for run in runs)
    assert total <= budget or [len(run.counts) for run in runs] == [1]


@PROPERTY
@given(ranked_lists(), BUDGETS, st.integers(1, 6))
def test_spans_neither_overlap_nor_touch_and_no_sentence_comes_twice(
    lists: list[RankedList], budget: int, min_sentences: int
) -> None:
    runs = sorted(
        spans(fuse_all(lists), budget=budget, min_sentences=min_sentences), key=lambda r: (r.version, r.first)
    )
    for one, other in pairwise(runs):
        assert one.version != other.version or one.last < other.first


@PROPERTY
@given(ranked_lists(), BUDGETS)
def test_scores_of_spans_fall_and_are_the_evidence_inside(lists: list[RankedList], budget: int) -> None:
    found = fuse_all(lists)
    evidence = flat(found)
    runs = spans(found, budget=budget)
    assert [run.score for run in runs] == sorted((run.score for run in runs), reverse=True)
    for run in runs:
        start = place_of(found, run.version, run.first)
        assert run.score == pytest.approx(evidence[start : start + run.last - run.first].sum())
        assert run.counts == tuple(axis_of(found).tokens[start : start + run.last - run.first].tolist())


@PROPERTY
@given(ranked_lists(), BUDGETS)
def test_filling_is_greedy(lists: list[RankedList], budget: int) -> None:
    """The same sentences as a plain loop takes, best first, each if it still fits."""
    found = fuse_all(lists)
    evidence = flat(found)
    left, expected = budget, set()
    for place in sorted(np.flatnonzero(evidence).tolist(), key=lambda i: (-evidence[i], i)):
        if axis_of(found).tokens[place] <= left:
            left -= int(axis_of(found).tokens[place])
            expected.add(place)
    chosen = set()
    for run in spans(found, budget=budget):
        start = place_of(found, run.version, run.first)
        chosen |= set(range(start, start + run.last - run.first))
    assert chosen == expected or (not expected and chosen == {int(evidence.argmax())})
