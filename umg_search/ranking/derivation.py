"""Derivation: lists of longer windows out of the list of the finest ones, so that one index answers for all lengths.

A longer window is tiled by finest windows (`umg_search.windows.tiles`). Its dense score is the mean of their cosines,
weighted by tokens, over the norm of the mean of their vectors, as the cosine of its composed vector is. Its sparse or
lexical score is (sum s^p)^(1/p), a soft maximum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from umg_search.granularity import FINE, FINEST, PARENT, Channel, Expert, Granularity
from umg_search.model import FloatArray, Hits, IntArray, RankedList, ranges, unit_keys

POWER = 4.0
"""p of the soft maximum."""

ABSENT = 0.7
"""A tile that is not in a dense list counts as this share of the list's lowest cosine, where that is positive."""

BITS = 33
"""Bits of the number of a window in its document."""


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Windows as columns: the count of sentence i is at `origin` + i of the hits' counts, known from some to `end`.

    At `end` the document ends, or no window is cut short there.
    """

    document: IntArray
    first: IntArray
    last: IntArray
    end: IntArray
    origin: IntArray

    def take(self, rows: IntArray) -> "_Places":
        return _Places(*(column[rows] for column in (self.document, self.first, self.last, self.end, self.origin)))


@dataclass(frozen=True, slots=True, eq=False)
class _Tiles:
    """Finest windows, by document and place, with what the windows that they tile add up: scores, and their weights."""

    places: _Places
    score: FloatArray
    weight: FloatArray


def derive(
    finest: RankedList, granularities: Sequence[Granularity], *, depth: int, closeness: float = 1.0
) -> tuple[RankedList, ...]:
    """Return the `depth` best of a list of finest windows, and as many longer windows of each of the granularities.

    Every window that holds a tile of the list competes; ties keep the order of document version and place. A hit must
    bring the counts of all windows of the longest granularity that hold it. `closeness` is the mean cosine of two tiles
    of one window: the lower, the shorter is the mean of their vectors.
    """
    places = _places(finest.hits)
    tiles = _tiles(finest, places)
    best = places.take(np.arange(min(depth, len(finest.hits))))
    own = RankedList(finest.channel, _hits(finest.hits, best, FINEST), finest.scores[:depth])
    longer = (_derived(finest, tiles, granularity, depth, closeness) for granularity in granularities)
    return own, *longer


def _places(hits: Hits) -> _Places:
    document, first, last, count_first, count_length = hits.table
    starts = np.cumsum(count_length) - count_length
    return _Places(document, first, last, count_first + count_length, starts - count_first)


def _tiles(finest: RankedList, places: _Places) -> _Tiles:
    # Longer windows begin at even sentences, so that only a document's last one has a tile that begins at an odd one.
    rows = np.flatnonzero((places.first % FINEST == 0) | (places.last == places.end))
    rows = rows[np.argsort(unit_keys(places.document, places.first, places.last)[rows], kind="stable")]
    own, scores = places.take(rows), finest.scores[rows]
    if finest.channel.expert is not Expert.DENSE:
        return _Tiles(own, scores**POWER, np.zeros_like(scores))
    weight = np.maximum(_tokens(finest.hits, own), 1).astype(np.float64)
    return _Tiles(own, scores * weight, weight)


def _derived(finest: RankedList, tiles: _Tiles, granularity: Granularity, depth: int, closeness: float) -> RankedList:
    found = _windows(tiles, granularity)
    dense = finest.channel.expert is Expert.DENSE
    scores = _cosines(finest, found, closeness) if dense else found.score ** (1 / POWER)
    best = np.lexsort((found.places.first, found.places.document, -scores))[:depth]
    hits = _hits(finest.hits, found.places.take(best), granularity)
    return RankedList(Channel(finest.channel.expert, granularity), hits, scores[best])


def _windows(tiles: _Tiles, granularity: Granularity) -> _Tiles:
    """Return the windows that hold a tile, with the sums over their tiles, in no order.

    A window is two blocks of half its length, and a tile lies in the block of its last sentence: one that begins in the
    block before ends its document, so that no window begins with that block.
    """
    half = granularity.stride
    block = (tiles.places.last - 1) // half
    key = tiles.places.document << BITS | block
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    block, key = block[begins], key[begins]
    neighbours = np.flatnonzero(np.diff(key) == 1)
    preceded = np.zeros(len(block), dtype=np.bool_)
    preceded[neighbours + 1] = True
    highest = np.maximum((tiles.places.end[begins] - half - 1) // half, 0)
    opening = np.flatnonzero(block <= highest)
    closing = np.flatnonzero((block > 0) & ~preceded)
    rows = np.concatenate((opening, closing))
    first = half * np.concatenate((block[opening], block[closing] - 1))
    near = tiles.places.take(begins[rows])
    places = _Places(near.document, first, np.minimum(first + granularity, near.end), near.end, near.origin)

    def summed(values: FloatArray) -> FloatArray:
        alone = np.add.reduceat(values, begins) if len(begins) else values
        both = alone.copy()
        both[neighbours] += alone[neighbours + 1]
        return np.concatenate((both[opening], alone[closing]))

    return _Tiles(places, summed(tiles.score), summed(tiles.weight))


def _cosines(finest: RankedList, found: _Tiles, closeness: float) -> FloatArray:
    places, counts = found.places, finest.hits.counts
    length = places.last - places.first
    twice = (length > 1) & (length % FINEST == 1)  # the last two tiles share a sentence
    tokens = _tokens(finest.hits, places) + np.where(twice, counts[places.origin + places.last - FINEST], 0)
    weight = np.maximum(tokens, found.weight)
    low = finest.scores.min(initial=1.0)
    mean = (found.score + (weight - found.weight) * min(low, ABSENT * low)) / weight
    tiles = -(-length // FINEST)
    return mean / np.sqrt((1 + (tiles - 1) * closeness) / tiles)


def _tokens(hits: Hits, places: _Places) -> IntArray:
    sums = np.concatenate(([0], np.cumsum(hits.counts)))
    tokens: IntArray = sums[places.origin + places.last] - sums[places.origin + places.first]
    return tokens


def _hits(hits: Hits, places: _Places, granularity: Granularity) -> Hits:
    """Return windows with their own counts, or those of their parents."""
    first, last = _parents(places) if granularity in FINE else (places.first, places.last)
    table = np.stack((places.document, places.first, places.last, first, last - first))
    return Hits(hits.distinct, table, hits.counts[ranges(places.origin + first, last - first)])


def _parents(places: _Places) -> tuple[IntArray, IntArray]:
    """Return the parents of 2- and 4-sentence windows; the vectorised form of `umg_search.windows.parent`.

    At most two windows hold one of them.
    """
    later = np.minimum(places.first // PARENT.stride, np.maximum(-(-(places.end - PARENT) // PARENT.stride), 0))
    starts = PARENT.stride * np.stack((later - 1, later))
    ends = np.minimum(starts + PARENT, places.end)
    distance = np.abs(starts + ends - places.first - places.last)
    earlier = (starts[0] >= 0) & (ends[0] >= places.last) & (distance[0] <= distance[1])
    return np.where(earlier, starts[0], starts[1]), np.where(earlier, ends[0], ends[1])
