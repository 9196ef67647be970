"""Derived lists against a plain reading of their definition, window by window."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, G4, G8, G16, G32, PROPERTY, Text, dense, lexical, ranked, texts
from umg_search.granularity import FINE, FINEST, PARENT, Channel, Expert, Granularity
from umg_search.model import Hits, RankedList
from umg_search.ranking.derivation import derive
from umg_search.ranking.evidence import Normalisation, to_evidence
from umg_search.ranking.fusion import fuse
from umg_search.store.units import counted_range
from umg_search.windows import Window, holding, is_tile, parent, tiles, windows

LONGER = (G4, G8, G16, G32)
Found = tuple[Text, int, float]


def finest(channel: Channel, *found: Found, derived: Sequence[Granularity] = LONGER) -> RankedList:
    """Return a list of finest windows, by first sentence, as the index of a set that derives lists gives it."""
    listed = ranked(channel, *found)
    spans = [counted_range(text.window(FINEST, first), FINEST, len(text.counts), derived) for text, first, _ in found]
    table = listed.hits.table.copy()
    table[3:] = [[span.first for span in spans], [span.last - span.first for span in spans]]
    counts = [c for (text, *_), span in zip(found, spans, strict=True) for c in text.counts[span.first : span.last]]
    return replace(listed, hits=Hits(listed.hits.distinct, table, np.array(counts, dtype=np.int32)))


def rows(listed: RankedList) -> list[tuple[bytes, int, int]]:
    return list(zip(listed.hits.versions, listed.hits.first.tolist(), listed.hits.last.tolist(), strict=True))


def plainly(channel: Channel, found: Sequence[Found], granularity: Granularity) -> dict[tuple[bytes, int, int], float]:
    """Return the score of every window that holds a tile of the list."""
    low = min(score for *_, score in found)
    scores: dict[tuple[bytes, int, int], float] = {}
    for text in {text for text, *_ in found}:
        own = {text.window(FINEST, first): score for other, first, score in found if other is text}
        for window in windows(len(text.counts), granularity):
            parts = tiles(window)
            if not any(part in own for part in parts):
                continue
            if channel.expert is Expert.DENSE:
                weights = [max(1, sum(text.counts[part.first : part.last])) for part in parts]
                summed = sum(w * own.get(p, min(low, 0.7 * low)) for w, p in zip(weights, parts, strict=True))
                score = summed / sum(weights)
            else:
                score = sum(own.get(part, 0.0) ** 4 for part in parts) ** (1 / 4)
            scores[text.version, *window] = score
    return scores


@st.composite
def lists(draw: st.DrawFn) -> tuple[Channel, list[Found]]:
    """Draw the finest list of an expert over up to three documents, best first."""
    channel = draw(st.sampled_from([dense(G2), lexical(G2)]))
    places = [(text, w.first) for text in draw(texts()) for w in windows(len(text.counts), FINEST)]
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, max_size=40, unique=True))
    low = -1.0 if channel.expert is Expert.DENSE else 0.125
    scores = draw(st.lists(st.floats(low, 1.0, width=16), min_size=len(chosen), max_size=len(chosen)))
    return channel, [(*place, score) for place, score in zip(chosen, sorted(scores, reverse=True), strict=True)]


@PROPERTY
@given(lists(), st.sampled_from(LONGER))
def test_scores_are_those_of_the_definition_and_every_window_with_a_tile_competes(
    drawn: tuple[Channel, list[Found]], granularity: Granularity
) -> None:
    channel, found = drawn
    _, derived = derive(finest(channel, *found), [granularity], depth=1_000)
    expected = plainly(channel, found, granularity)
    assert dict(zip(rows(derived), derived.scores.tolist(), strict=True)) == pytest.approx(expected)
    assert derived.channel == Channel(channel.expert, granularity)
    assert derived.scores.tolist() == sorted(derived.scores.tolist(), reverse=True)


@PROPERTY
@given(lists())
def test_hits_bring_the_counts_of_their_sentences_or_of_their_parents(drawn: tuple[Channel, list[Found]]) -> None:
    channel, found = drawn
    by_version = {text.version: text.counts for text, *_ in found}
    for derived in derive(finest(channel, *found), LONGER, depth=1_000):
        counts = iter(derived.hits.counts.tolist())
        for version, first, last in rows(derived):
            own = by_version[version]
            fine = derived.channel.granularity in FINE
            counted = parent(Window(first, last), len(own), PARENT) if fine else Window(first, last)
            assert tuple(next(counts) for _ in range(*counted)) == own[counted.first : counted.last]
        assert not list(counts)


@PROPERTY
@given(lists(), st.integers(1, 30))
def test_fewer_are_the_first_of_more(drawn: tuple[Channel, list[Found]], depth: int) -> None:
    channel, found = drawn
    few, many = (derive(finest(channel, *found), LONGER, depth=most) for most in (depth, 1_000))
    for short, long in zip(few, many, strict=True):
        assert rows(short) == rows(long)[:depth]
        assert short.scores.tolist() == long.scores[:depth].tolist()


@PROPERTY
@given(lists(), st.randoms(use_true_random=False))
def test_the_order_of_the_list_is_irrelevant(drawn: tuple[Channel, list[Found]], random: object) -> None:
    """Down to the last bit: equal scores would change places otherwise."""
    channel, found = drawn
    shuffled = list(found)
    random.shuffle(shuffled)
    one, other = (derive(finest(channel, *order), LONGER, depth=1_000) for order in (found, shuffled))
    for a, b in zip(one[1:], other[1:], strict=True):
        assert (rows(a), a.scores.tolist()) == (rows(b), b.scores.tolist())


@PROPERTY
@given(lists())
def test_lists_can_be_fused_with_parents_as_windows_have_them(drawn: tuple[Channel, list[Found]]) -> None:
    channel, found = drawn
    lengths = {text.version: len(text.counts) for text, *_ in found}
    evidence = [
        to_evidence(derived, normalisation=Normalisation.ZSCORE, temperature=1.0)
        for derived in derive(finest(channel, *found), LONGER, depth=1_000)
        if len(derived.hits)
    ]
    fused = fuse(evidence, [1 / len(evidence)] * len(evidence))
    assert fused.mass.sum() == pytest.approx(1.0)
    for unit in range(len(fused.mass)):
        window = Window(int(fused.first[unit]), int(fused.last[unit]))
        around = Window(int(fused.parent_first[unit]), int(fused.parent_last[unit]))
        sentences = lengths[fused.versions[fused.document[unit]]]
        if window.last - window.first <= G4 and window in windows(sentences, G4) + windows(sentences, G2):
            assert around == parent(window, sentences, PARENT)


def test_the_mean_of_two_tiles_weighs_them_by_their_tokens() -> None:
    text = Text("a", (10, 20, 5, 5))
    _, derived = derive(finest(dense(G2), (text, 0, 0.9), (text, 2, 0.5)), [G4], depth=10)
    assert derived.scores.tolist() == [pytest.approx((30 * 0.9 + 10 * 0.5) / (30 + 10))]


def test_a_missing_tile_counts_less_than_the_lowest_score() -> None:
    text, other = Text("a", (10, 20, 5, 5)), Text("b", (1, 1))
    _, derived = derive(finest(dense(G2), (text, 0, 0.9), (other, 0, 0.4)), [G4], depth=10)
    assert derived.scores.tolist() == [pytest.approx((30 * 0.9 + 10 * 0.7 * 0.4) / (30 + 10)), pytest.approx(0.4)]


def test_a_missing_tile_never_counts_more_than_the_lowest_score() -> None:
    """0.7 times a negative cosine would."""
    text, other = Text("a", (10, 20, 5, 5)), Text("b", (1, 1))
    _, derived = derive(finest(dense(G2), (text, 0, 0.9), (other, 0, -0.4)), [G4], depth=10)
    assert derived.scores.tolist() == [pytest.approx((30 * 0.9 + 10 * -0.4) / (30 + 10)), pytest.approx(-0.4)]


def test_a_soft_maximum_has_nothing_for_missing_tiles() -> None:
    text = Text("a", (9,) * 8)
    _, derived = derive(finest(lexical(G2), (text, 0, 3.0), (text, 4, 2.0)), [G8], depth=10)
    assert derived.scores.tolist() == [pytest.approx((3.0**4 + 2.0**4) ** (1 / 4))]


def test_the_last_tile_of_a_document_of_odd_length_shares_a_sentence() -> None:
    """Sentences 0 to 4 are tiled by (0, 2), (2, 4) and (3, 5)."""
    text = Text("a", (1, 2, 4, 8, 16))
    _, derived = derive(finest(dense(G2), (text, 0, 0.9), (text, 2, 0.6), (text, 3, 0.3)), [G8], depth=10)
    assert derived.scores.tolist() == [pytest.approx((3 * 0.9 + 12 * 0.6 + 24 * 0.3) / (3 + 12 + 24))]


@pytest.mark.parametrize("sentences", [1, 2])
def test_in_a_document_of_one_window_all_lists_have_it_with_its_own_score(sentences: int) -> None:
    """Then it is one unit, with the mass of all."""
    text = Text("a", (7,) * sentences)
    for channel in (dense(G2), lexical(G2)):
        every = derive(finest(channel, (text, 0, 0.6)), LONGER, depth=10)
        assert [rows(derived) for derived in every] == [[(text.version, 0, sentences)]] * 5
        assert [derived.scores.tolist() for derived in every] == [[pytest.approx(0.6)]] * 5


def test_a_document_shorter_than_a_window_has_one_of_all_its_sentences() -> None:
    text = Text("a", (7,) * 6)
    derived = derive(finest(dense(G2), (text, 2, 0.6)), LONGER, depth=10)
    assert [rows(each) for each in derived[1:]] == [
        [(text.version, 0, 4), (text.version, 2, 6)],
        *[[(text.version, 0, 6)]] * 3,
    ]


def test_windows_that_no_longer_one_is_tiled_by_derive_nothing() -> None:
    text = Text("a", (7,) * 10)
    own, *longer = derive(finest(dense(G2), (text, 3, 0.6)), LONGER, depth=10)
    assert rows(own) == [(text.version, 3, 5)]
    assert [(len(each.hits), len(each.scores)) for each in longer] == [(0, 0)] * 4


def test_of_an_empty_list_come_empty_lists() -> None:
    empty = RankedList(dense(G2), Hits((), np.empty((5, 0), np.int64), np.empty(0, np.int32)), np.empty(0))
    assert [len(each.hits) for each in derive(empty, LONGER, depth=10)] == [0] * 5


def test_versions_are_numbered_alike_in_all_lists() -> None:
    """Fusion is faster then, and whoever judges the documents of an answer sees all that scores rest on."""
    listed = finest(dense(G2), *((Text(name, (5,) * 4), 0, 0.5) for name in "abc"))
    assert all(each.hits.distinct is listed.hits.distinct for each in derive(listed, LONGER, depth=1))


@PROPERTY
@given(st.integers(1, 120), st.data())
def test_counts_of_a_tile_reach_over_all_windows_around_it(sentences: int, data: st.DataObject) -> None:
    derived = data.draw(st.lists(st.sampled_from(LONGER), min_size=1, unique=True))
    window = data.draw(st.sampled_from(windows(sentences, FINEST)))
    counted = counted_range(window, FINEST, sentences, derived)
    around = [holder for g in derived for holder in holding(window, sentences, g)] if is_tile(window, sentences) else []
    parents = [parent(holder, sentences, PARENT) for holder in (window, *around) if holder.last - holder.first <= G4]
    assert all(counted.first <= held.first and held.last <= counted.last for held in (window, *around, *parents))
