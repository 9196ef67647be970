"""docs/limits.md, as far as it can be shown without figures: what neither fusion nor a cut can do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.evaluation.test_baselines import CHANNELS, layouts
from tests.unit.ranking.lists import G2, PROPERTY, Text, dense, lexical, ranked, ranked_lists
from umg_search.evaluation.baselines import methods_of
from umg_search.evaluation.cutting import of_cut
from umg_search.evaluation.judging import ceiling
from umg_search.evaluation.metrics import coverage
from umg_search.evaluation.questions import EvidenceMode, Question, Span
from umg_search.model import DocumentKey, RankedList
from umg_search.search import Cut, CutRule, RankingOptions, Selection, rank

A = Text("a", (10,) * 40)


def evidence(first: int, last: int) -> Span:
    """Ten characters a sentence."""
    return Span(DocumentKey("default", "a"), 10 * first, 10 * last)


@PROPERTY
@given(ranked_lists(), st.sampled_from(Selection), st.integers(1, 300))
def test_no_selection_holds_a_sentence_that_is_in_no_list(
    lists: list[RankedList], selection: Selection, budget: int
) -> None:
    found = [
        (version, first, last)
        for each in lists
        for version, first, last in zip(each.hits.versions, each.hits.first, each.hits.last, strict=True)
    ]
    reach = {(version, number) for version, first, last in found for number in range(first - 8, last + 8)}
    kept = rank(lists, RankingOptions(select=selection, budget=budget)).kept
    assert {(item.version, number) for item in kept for number in range(item.first, item.last)} <= reach
    if selection is not Selection.PARENTS:  # a parent reaches as far as its eight sentences
        listed = {(version, number) for version, first, last in found for number in range(first, last)}
        assert {(item.version, number) for item in kept for number in range(item.first, item.last)} <= listed


def test_what_is_in_no_list_has_no_ceiling() -> None:
    question = Question("q", "?", evidence=(evidence(30, 32),))
    assert ceiling(question, [ranked(dense(G2), (A, 0, 0.9))], layouts(A)) == 0


@pytest.mark.parametrize("rule", CutRule)
def test_equal_scores_cannot_tell_where_the_evidence_ends(rule: CutRule) -> None:
    """Two layouts of evidence with the same scores: whatever a rule keeps, it is wrong for one of them."""
    scores = [0.9 - 0.02 * number for number in range(12)]
    kept = Cut(rule).keep(scores)
    early, late = [number < 3 for number in range(12)], [number in {0, 10} for number in range(12)]
    right = [of_cut(scores, expected, kept) for expected in (early, late)]
    assert sum(found["too_early"] or found["too_late"] or 0.0 for found in right) >= 1


def test_equal_lists_give_the_same_answer_whatever_the_evidence_is() -> None:
    """Two layouts with the same lists: no method can be right about both at a budget of four sentences."""
    lists = [ranked(dense(G2), (A, 4, 0.9), (A, 20, 0.8)), ranked(lexical(G2), (A, 20, 7.0), (A, 4, 6.0))]
    together, apart = (evidence(4, 8),), (evidence(4, 6), evidence(20, 22))
    for method in methods_of(CHANNELS):
        if method.name in {"spans", "chunks", "rrf-all", "uniform-spans"}:
            answer = method.answering(lists, layouts(A))(budget=40, most=0)
            spans = [evidence(item.first, item.last) for item in answer]
            recalls = [coverage(gold, spans, EvidenceMode.ALL).recall for gold in (together, apart)]
            assert min(recalls) < 1


def test_a_prefix_that_reaches_the_last_evidence_keeps_all_that_stands_before_it() -> None:
    expected = [True, False, False, False, True, False, False, False]
    keeps_all = [kept for kept in range(9) if not of_cut([8.0 - k for k in range(8)], expected, kept)["too_early"]]
    assert min(keeps_all) == 5
    assert sum(expected[:5]) / 5 == 2 / 5
