import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY
from umg_search.granularity import FINE, FINEST, PARENT, Granularity
from umg_search.windows import Window, holding, is_tile, overlap, parent, tiles, window_at, window_count, windows

LENGTHS = st.integers(1, 200)
GRANULARITIES = st.sampled_from(Granularity)


def test_windows_of_nine_sentences() -> None:
    assert windows(9, Granularity.G2) == tuple(Window(i, i + 2) for i in range(8))
    assert windows(9, Granularity.G4) == ((0, 4), (2, 6), (4, 8), (6, 9))
    assert windows(9, Granularity.G8) == ((0, 8), (4, 9))
    assert windows(9, Granularity.G16) == ((0, 9),)


def test_no_window_follows_the_first_one_that_ends_with_the_document() -> None:
    """(4, 8) would be a window too, but (0, 8) has ended the document already."""
    assert windows(8, Granularity.G8) == ((0, 8),)
    assert windows(12, Granularity.G8) == ((0, 8), (4, 12))


@pytest.mark.parametrize("granularity", Granularity)
@pytest.mark.parametrize("sentences", [0, -1])
def test_an_empty_document_has_no_window(granularity: Granularity, sentences: int) -> None:
    assert windows(sentences, granularity) == ()
    assert window_count(sentences, granularity) == 0


@pytest.mark.parametrize("granularity", Granularity)
def test_a_document_of_fewer_sentences_has_one_window(granularity: Granularity) -> None:
    for sentences in range(1, granularity + 1):
        assert windows(sentences, granularity) == ((0, sentences),)


@PROPERTY
@given(LENGTHS, GRANULARITIES)
def test_windows_cover_the_document_at_the_stride_and_the_last_alone_ends_with_it(
    sentences: int, granularity: Granularity
) -> None:
    found = windows(sentences, granularity)
    assert [window.first for window in found] == [i * granularity.stride for i in range(len(found))]
    assert all(window.last - window.first == granularity for window in found[:-1])
    assert [window for window in found if window.last == sentences] == [found[-1]]
    assert {i for window in found for i in range(*window)} == set(range(sentences))


@PROPERTY
@given(LENGTHS, GRANULARITIES)
def test_a_last_window_is_longer_than_half(sentences: int, granularity: Granularity) -> None:
    """So that no window lies inside its neighbour."""
    *_, last = windows(sentences, granularity)
    assert last.last - last.first > granularity // 2 or sentences <= granularity // 2


@PROPERTY
@given(LENGTHS, GRANULARITIES)
def test_counting_and_listing_agree(sentences: int, granularity: Granularity) -> None:
    found = windows(sentences, granularity)
    assert window_count(sentences, granularity) == len(found)
    assert all(window_at(i, sentences, granularity) == window for i, window in enumerate(found))


def test_the_parent_is_the_nearest_by_centre_and_the_earlier_on_a_tie() -> None:
    """Centres of (0, 8) and (4, 12) are 4 and 8: that of (4, 6) is 5, of (5, 7) is 6, of (6, 8) is 7."""
    assert parent(Window(4, 6), 20, PARENT) == (0, 8)
    assert parent(Window(5, 7), 20, PARENT) == (0, 8)
    assert parent(Window(6, 8), 20, PARENT) == (4, 12)


@PROPERTY
@given(LENGTHS, st.sampled_from(list(Granularity)), GRANULARITIES, st.data())
def test_the_parent_holds_all_of_the_window_and_no_other_that_does_is_nearer(
    sentences: int, granularity: Granularity, longer: Granularity, data: st.DataObject
) -> None:
    if longer < granularity:
        granularity, longer = longer, granularity
    window = data.draw(st.sampled_from(windows(sentences, granularity)))
    found = parent(window, sentences, longer)
    holding = [w for w in windows(sentences, longer) if w.first <= window.first and window.last <= w.last]
    assert found in holding
    centre = window.first + window.last
    assert found == min(holding, key=lambda w: (abs(w.first + w.last - centre), w.first))


@PROPERTY
@given(LENGTHS)
def test_a_window_is_its_own_parent_at_its_own_granularity(sentences: int) -> None:
    for granularity in Granularity:
        assert all(parent(w, sentences, granularity) == w for w in windows(sentences, granularity))


@PROPERTY
@given(LENGTHS)
def test_small_windows_differ_from_their_parent_unless_the_document_is_that_short(sentences: int) -> None:
    for granularity in FINE:
        same = [w for w in windows(sentences, granularity) if parent(w, sentences, PARENT) == w]
        assert same == ([(0, sentences)] if sentences <= granularity else [])


@PROPERTY
@given(st.tuples(st.integers(0, 40), st.integers(1, 32)), st.tuples(st.integers(0, 40), st.integers(1, 32)))
def test_overlap_is_the_number_of_common_sentences(one: tuple[int, int], other: tuple[int, int]) -> None:
    a, b = Window(one[0], sum(one)), Window(other[0], sum(other))
    assert overlap(a, b) == overlap(b, a) == len(set(range(*a)) & set(range(*b)))


def test_tiles_of_an_odd_window_end_with_its_last_two_sentences() -> None:
    assert tiles(Window(4, 9)) == ((4, 6), (6, 8), (7, 9))
    assert tiles(Window(4, 8)) == ((4, 6), (6, 8))
    assert tiles(Window(0, 1)) == ((0, 1),)


@PROPERTY
@given(LENGTHS, GRANULARITIES)
def test_tiles_cover_a_window_exactly_and_are_finest_windows_of_the_same_document(
    sentences: int, granularity: Granularity
) -> None:
    finest = set(windows(sentences, FINEST))
    for window in windows(sentences, granularity):
        parts = tiles(window)
        assert {i for part in parts for i in range(*part)} == set(range(*window))
        assert set(parts) <= finest
        assert len(parts) == -(-(window.last - window.first) // 2)


@PROPERTY
@given(st.integers(1, 120), GRANULARITIES)
def test_a_finest_window_is_a_tile_where_some_longer_window_has_it_among_its_tiles(
    sentences: int, granularity: Granularity
) -> None:
    """Of every length: whatever tiles 32-sentence windows tiles those of 4 sentences too, and the other way round."""
    if granularity is FINEST:
        return
    used = {tile for window in windows(sentences, granularity) for tile in tiles(window)}
    assert used == {window for window in windows(sentences, FINEST) if is_tile(window, sentences)}


@PROPERTY
@given(st.integers(1, 120), GRANULARITIES, st.data())
def test_the_windows_that_hold_a_window_are_all_that_contain_it(
    sentences: int, granularity: Granularity, data: st.DataObject
) -> None:
    window = data.draw(st.sampled_from(windows(sentences, FINEST)))
    around = [w for w in windows(sentences, granularity) if w.first <= window.first and window.last <= w.last]
    assert list(holding(window, sentences, granularity)) == around


@PROPERTY
@given(st.integers(1, 120), st.data())
def test_the_longest_windows_around_a_tile_hold_all_others_around_it(sentences: int, data: st.DataObject) -> None:
    """So the counts of the longest are enough; of a tile only, since others straddle bounds."""
    tile = data.draw(st.sampled_from([w for w in windows(sentences, FINEST) if is_tile(w, sentences)]))
    longest = holding(tile, sentences, Granularity.G32)
    for granularity in Granularity:
        around = holding(tile, sentences, granularity)
        assert longest[0].first <= around[0].first
        assert around[-1].last <= longest[-1].last
