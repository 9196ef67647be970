import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, G4, G8, G16, G32, PROPERTY, Text, dense, fused, lexical, ranked, ranked_lists
from umg_search.granularity import Granularity
from umg_search.model import Evidence, Fused, RankedList
from umg_search.ranking.evidence import Normalisation, to_evidence
from umg_search.ranking.fusion import by_length, fuse, units
from umg_search.ranking.weights import Weighting, weights

A = Text("a", (10, 20, 30, 40, 50, 60, 70, 80, 90, 100))
B = Text("b", (5, 5, 5))


def fuse_all(lists: list[RankedList]) -> Fused:
    evidence = [to_evidence(item, normalisation=Normalisation.ZSCORE, temperature=1.0) for item in lists]
    return fuse(evidence, weights(evidence, Weighting.ENTROPY, depth=100).tolist())


def test_the_mass_of_a_unit_is_the_weighted_sum_over_the_lists_that_hold_it() -> None:
    first = Evidence(ranked(dense(G2), (A, 0, 2.0), (A, 4, 1.0)), np.array([0.75, 0.25]), 0.0, 1.0)
    second = Evidence(ranked(lexical(G2), (A, 4, 9.0), (B, 1, 3.0)), np.array([0.9, 0.1]), 0.0, 1.0)
    found = fuse([first, second], [0.4, 0.6])
    assert [(found.versions[d], f, e) for d, f, e in zip(found.document, found.first, found.last, strict=True)] == [
        (A.version, 0, 2),
        (A.version, 4, 6),
        (B.version, 1, 3),
    ]
    shares = zip(found.shares.channel.tolist(), found.shares.unit.tolist(), found.shares.mass.tolist(), strict=True)
    assert sorted(shares) == [
        (0, 0, pytest.approx(0.4 * 0.75)),
        (0, 1, pytest.approx(0.4 * 0.25)),
        (1, 1, pytest.approx(0.6 * 0.9)),
        (1, 2, pytest.approx(0.6 * 0.1)),
    ]
    assert units(found).score == pytest.approx([0.4 * 0.75, 0.4 * 0.25 + 0.6 * 0.9, 0.6 * 0.1])


def test_windows_of_several_granularities_over_the_same_sentences_are_one_unit() -> None:
    """A document of two sentences is one window at all five granularities: their masses add."""
    short = Text("s", (7, 8))
    found = fused(*((short, granularity, 0, 0.2) for granularity in Granularity))
    assert (found.first.tolist(), found.last.tolist()) == ([0], [2])
    assert units(found).score == pytest.approx([5 * 0.2])
    assert found.channels == tuple(dense(granularity) for granularity in Granularity)


def test_windows_that_start_together_but_end_apart_are_different_units() -> None:
    found = fused((A, G2, 0, 0.5), (A, G4, 0, 0.3), (A, G8, 0, 0.2))
    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True)) == [(0, 2), (0, 4), (0, 8)]


def test_lengths_are_sums_of_the_tokens_of_the_sentences() -> None:
    found = fused((A, G2, 3, 0.4), (A, G8, 0, 0.3), (B, G2, 0, 0.3))
    assert found.lengths(units(found)).tolist() == [10 + 20 + 30 + 40 + 50 + 60 + 70 + 80, 40 + 50, 5 + 5]


def test_small_units_know_their_parent_and_long_ones_are_their_own() -> None:
    found = fused((A, G2, 3, 0.25), (A, G4, 6, 0.25), (A, G8, 0, 0.25), (A, G16, 0, 0.25))
    parents = list(zip(found.parent_first.tolist(), found.parent_last.tolist(), strict=True))
    windows = list(zip(found.first.tolist(), found.last.tolist(), strict=True))
    assert dict(zip(windows, parents, strict=True)) == {
        (3, 5): (0, 8),
        (6, 10): (4, 10),
        (0, 8): (0, 8),
        (0, 10): (0, 10),
    }


def test_length_divides_the_mass_by_a_power_of_the_tokens() -> None:
    found = fused((A, G2, 0, 0.3), (A, G2, 8, 0.7))
    ranked_ = by_length(found, units(found), alpha=0.5, floor=16)
    assert ranked_.score == pytest.approx([0.3 / (10 + 20) ** 0.5, 0.7 / (90 + 100) ** 0.5])
    assert ranked_.first.tolist() == [0, 8]


def test_a_two_word_chunk_cannot_win_by_being_short() -> None:
    tiny, answer = Text("tiny", (1, 1)), Text("answer", (32, 32))
    found = fused((tiny, G2, 0, 0.02), (answer, G2, 0, 0.05))
    assert 0.02 / (1 + 1) ** 0.5 > 0.05 / (32 + 32) ** 0.5
    without = by_length(found, units(found), alpha=0.5, floor=0)
    assert found.versions[without.document[0]] == tiny.version
    assert 0.02 / 16**0.5 < 0.05 / (32 + 32) ** 0.5
    floored = by_length(found, units(found), alpha=0.5, floor=16)
    assert found.versions[floored.document[0]] == answer.version
    assert floored.score == pytest.approx([0.05 / 64**0.5, 0.02 / 16**0.5])


def test_alpha_zero_ranks_by_mass_alone() -> None:
    found = fused((A, G2, 0, 0.3), (A, G32, 0, 0.7))
    assert by_length(found, units(found), alpha=0, floor=16).score == pytest.approx([0.7, 0.3])


def test_units_without_tokens_are_no_division_by_zero() -> None:
    found = fused((Text("z", (0, 0)), G2, 0, 1.0))
    assert by_length(found, units(found), alpha=0.5, floor=0).score == pytest.approx([1.0])


def test_equal_scores_are_ordered_by_version_first_and_last_sentence() -> None:
    same = Text("c", (8,) * 12)
    earlier = Text("b", (8,) * 12)
    found = fused((same, G2, 4, 0.25), (same, G2, 2, 0.25), (earlier, G2, 9, 0.25), (earlier, G2, 5, 0.25))
    ordered = by_length(found, units(found), alpha=0.5, floor=16)
    places = [(found.versions[d], f) for d, f in zip(ordered.document, ordered.first, strict=True)]
    assert places == [(earlier.version, 5), (earlier.version, 9), (same.version, 2), (same.version, 4)]


def test_two_generations_of_a_document_are_two_documents_here() -> None:
    old, new = Text("a", (5, 5), generation=1), Text("a", (5, 5), generation=2)
    assert fused((new, G2, 0, 0.5), (old, G2, 0, 0.5)).versions == (old.version, new.version)


def test_sentence_numbers_up_to_the_limit_of_the_packed_value_keep_units_apart() -> None:
    item = ranked(dense(G2), (Text("a", (1, 1)), 0, 1.0), (Text("b", (1, 1)), 0, 1.0))
    far = 2**32 - 3
    hits = item.hits
    moved = type(hits)(hits.distinct, hits.table + np.array([[0], [far], [far], [far], [0]]), hits.counts)
    found = fuse([Evidence(RankedList(item.channel, moved, item.scores), np.array([0.5, 0.5]), 0.0, 1.0)], [1.0])
    assert found.first.tolist() == [far, far]
    assert found.lengths(units(found)).tolist() == [2, 2]


@PROPERTY
@given(ranked_lists())
def test_the_whole_mass_is_one(lists: list[RankedList]) -> None:
    found = fuse_all(lists)
    assert found.mass.sum() == pytest.approx(1)
    assert (found.mass >= 0).all()


@PROPERTY
@given(ranked_lists())
def test_every_window_of_the_lists_is_one_unit_and_units_are_in_order(lists: list[RankedList]) -> None:
    found = fuse_all(lists)
    there = [
        (found.versions[d], f, e)
        for d, f, e in zip(found.document.tolist(), found.first.tolist(), found.last.tolist(), strict=True)
    ]
    given_ = {
        (version, first, last)
        for item in lists
        for version, first, last in zip(
            item.hits.versions, item.hits.first.tolist(), item.hits.last.tolist(), strict=True
        )
    }
    assert there == sorted(given_)


@PROPERTY
@given(ranked_lists(), st.randoms(use_true_random=False))
def test_order_of_the_lists_does_not_matter(lists: list[RankedList], random: object) -> None:
    shuffled = list(lists)
    random.shuffle(shuffled)
    one, other = fuse_all(lists), fuse_all(shuffled)
    assert one.versions == other.versions
    assert one.channels == other.channels
    for column in ("document", "first", "last", "parent_first", "parent_last"):
        assert getattr(one, column).tolist() == getattr(other, column).tolist()
    assert other.mass == pytest.approx(one.mass, abs=1e-12)


@PROPERTY
@given(ranked_lists())
def test_order_of_equal_hits_does_not_matter(lists: list[RankedList]) -> None:
    """A list is sorted by score; among equal scores engines answer in any order."""
    turned = []
    for item in lists:
        rows = np.lexsort((-np.arange(len(item.scores)), -item.scores))
        turned.append(RankedList(item.channel, item.hits.take(rows), item.scores[rows]))
    one, other = fuse_all(lists), fuse_all(turned)
    assert one.mass.tolist() == other.mass.tolist()
    assert one.lengths(units(one)).tolist() == other.lengths(units(other)).tolist()
