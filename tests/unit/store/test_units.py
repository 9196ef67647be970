import struct
from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY
from umg_search.granularity import FINE, PARENT, Granularity
from umg_search.model import DocumentVersion
from umg_search.store.units import MOST_TOKENS, pack, unpack
from umg_search.windows import Window, parent, windows

VERSION = DocumentVersion(bytes(range(20)))


def test_the_layout_is_fixed() -> None:
    """It is on disk: version, first sentence, sentences, lead, the counts of the parent (4, 12), and zeros up to 45."""
    counts = tuple(range(100, 112))
    expected = VERSION + struct.pack(">IBBB", 7, 2, 7 - 4, 8) + struct.pack(">8H", *range(104, 112)) + bytes(2)
    assert b64decode(pack(VERSION, Window(7, 9), Granularity.G2, counts)) == expected


def test_a_long_window_has_the_counts_of_its_own_sentences() -> None:
    counts = tuple(range(40))
    packed = b64decode(pack(VERSION, Window(8, 24), Granularity.G16, counts))
    assert packed == VERSION + struct.pack(">IBBB", 8, 16, 0, 16) + struct.pack(">16H", *range(8, 24)) + bytes(1)


def test_a_count_beyond_two_bytes_is_the_largest_of_two_bytes() -> None:
    (found,) = unpack([[pack(VERSION, Window(0, 1), Granularity.G32, (10**6,)).decode()]])
    (value,) = found.counts
    assert value == MOST_TOKENS == 2**16 - 1


def test_nothing_is_unpacked_to_nothing() -> None:
    assert unpack([]) == []
    for found in unpack([[], []]):
        assert len(found) == 0
        assert (found.first.tolist(), found.last.tolist(), found.counts.tolist()) == ([], [], [])


def test_a_packed_value_needs_no_padding() -> None:
    """Only so can values be joined and decoded at once."""
    assert not any(b"=" in pack(VERSION, Window(0, n), Granularity.G32, (1,) * n) for n in range(1, 33))


def test_lists_that_are_unpacked_together_number_the_same_versions() -> None:
    """Ascending, whatever order they come in."""
    low, high = VERSION, DocumentVersion(bytes(reversed(VERSION)))
    of = [pack(version, Window(0, 1), Granularity.G2, (5,)).decode() for version in (high, low)]
    first, second = unpack([of, of[:1]])
    assert first.distinct is second.distinct
    assert first.distinct == (low, high)
    assert (first.versions, second.versions) == ((high, low), (high,))


@pytest.mark.parametrize("granularity", Granularity)
def test_a_packed_value_is_short_enough_for_a_keyword_field(granularity: Granularity) -> None:
    """Lucene refuses terms over 32,766 bytes; ours have 40 to 124."""
    longest = max(len(pack(VERSION, w, granularity, (1,) * 100)) for w in windows(100, granularity))
    assert longest <= -(-(20 + 4 + 1 + 1 + 1 + 2 * 32) // 3) * 4


@PROPERTY
@given(st.lists(st.integers(0, MOST_TOKENS), min_size=1, max_size=60).map(tuple), st.data())
def test_what_was_packed_comes_back_in_the_order_given(counts: tuple[int, ...], data: st.DataObject) -> None:
    every = [(g, w) for g in Granularity for w in windows(len(counts), g)]
    chosen = data.draw(st.lists(st.sampled_from(every), max_size=12))
    versions = data.draw(
        st.lists(st.binary(min_size=20, max_size=20).map(DocumentVersion), min_size=len(chosen), max_size=len(chosen))
    )
    packed = [pack(v, w, g, counts) for v, (g, w) in zip(versions, chosen, strict=True)]
    (found,) = unpack([[value.decode() for value in packed]])
    assert list(found.versions) == versions
    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True)) == [tuple(w) for _, w in chosen]
    counted = [parent(w, len(counts), PARENT) if g in FINE else w for g, w in chosen]
    assert found.count_first.tolist() == [w.first for w in counted]
    assert found.count_length.tolist() == [w.last - w.first for w in counted]
    assert found.counts.tolist() == [count for w in counted for count in counts[w.first : w.last]]


@PROPERTY
@given(st.integers(2**31, 2**32 - 40))
def test_sentence_numbers_may_fill_four_bytes(first: int) -> None:
    raw = pack(VERSION, Window(0, 2), Granularity.G16, (1, 2))
    moved = VERSION + struct.pack(">I", first) + b64decode(raw)[24:]
    (found,) = unpack([[b64encode(moved).decode()]])
    assert (found.first.tolist(), found.last.tolist(), found.count_first.tolist()) == ([first], [first + 2], [first])
