"""Derivation: lists of longer windows out of the list of the finest ones, so that one index answers for all lengths.

A longer window is tiled by finest windows (`umg_search.windows.tiles`). Its dense score is the mean of their cosines,
weighted by tokens: the cosine of its composed vector but for a norm, and one norm for a whole list cancels out of every
normalisation. Its sparse or lexical score is (sum s^p)^(1/p), a soft maximum. Windows of all lengths are computed
together: arrays are short, and a call of numpy costs more than its work.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from umg_search.granularity import FINE, FINEST, PARENT, Channel, Expert, Granularity
from umg_search.model import FloatArray, Hits, IntArray, RankedList, ranges, unit_keys

POWER = 4.0
"""p of the soft maximum."""

ABSENT = 0.7
"""A tile that is not in a dense list counts as this share of the list's lowest cosine, where that is positive."""

PLACE, LENGTH = 33, 55
"""Bits of a sort key for the number of a window in its document, and for that and the document's."""


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """Windows, a column of `table` each: granularity, document, first and last sentence, origin, end.

    The token count of sentence i of the document is at origin + i of the hits' counts, up to the end: there the
    document ends, or it goes on and no window is cut short. `score` and `weight` are sums over the tiles that are in
    the list, scores weighted.
    """

    table: IntArray
    score: FloatArray
    weight: FloatArray


def derive(finest: RankedList, granularities: Sequence[Granularity], *, depth: int) -> tuple[RankedList, ...]:
    """Return the `depth` best of a list of finest windows, and as many longer ones of each granularity, ascending.

    Every window that holds a tile of the list competes; ties keep the order of document version and place. A hit must
    bring the counts of all windows of the longest granularity that hold it.
    """
    expert, longer = finest.channel.expert, sorted(granularities)
    sums = np.concatenate(([0], np.cumsum(finest.hits.counts)))
    places = _places(finest.hits)
    found = _longer(_tiles(finest, places, sums), longer)
    scores = _cosines(finest, found, sums) if expert is Expert.DENSE else found.score ** (1 / POWER)
    best = list(_best(found.table[0], scores, longer, depth))
    rows = np.concatenate(best, dtype=np.int64) if best else np.empty(0, dtype=np.int64)
    table = np.concatenate((places[:, :depth], found.table[:, rows]), axis=1)
    chosen = [finest.scores[:depth], *(scores[some] for some in best)]
    channels = (Channel(expert, granularity) for granularity in (FINEST, *longer))
    parts = zip(channels, _hits(finest.hits, table, list(map(len, chosen))), chosen, strict=True)
    return tuple(RankedList(channel, own, own_scores) for channel, own, own_scores in parts)


def _places(hits: Hits) -> IntArray:
    document, first, last, count_first, count_length = hits.table
    origin = np.cumsum(count_length) - count_length - count_first
    return np.stack((np.full(len(hits), FINEST), document, first, last, origin, count_first + count_length))


def _tiles(finest: RankedList, places: IntArray, sums: IntArray) -> _Windows:
    _, document, first, last, origin, end = places
    # Longer windows begin at even sentences, so that only a document's last one has a tile that begins at an odd one.
    rows = np.flatnonzero((first % FINEST == 0) | (last == end))
    rows = rows[np.argsort(unit_keys(document, first, last)[rows], kind="stable")]
    scores = finest.scores[rows]
    if finest.channel.expert is not Expert.DENSE:
        return _Windows(places[:, rows], scores**POWER, np.zeros_like(scores))
    weight = np.maximum(sums[origin + last] - sums[origin + first], 1)[rows].astype(np.float64)
    return _Windows(places[:, rows], scores * weight, weight)


def _longer(tiles: _Windows, granularities: Sequence[Granularity]) -> _Windows:
    """Return the windows that hold a tile, by granularity, document and place.

    A window is two blocks of half its length. It is found as the one that opens with a block of tiles, or, where the
    block before has none, as the one that closes with it.
    """
    begins, keys, shift = _blocks(tiles.table, granularities)
    tile, block = begins % max(1, len(tiles.score)), keys & (1 << PLACE) - 1
    follows = np.concatenate(([False], keys[1:] == keys[:-1] + 1))[: len(keys)]
    beyond = block << shift > np.maximum(tiles.table[5, tile] - (1 << shift) - 1, 0)  # no window begins so late
    opening, closing = np.flatnonzero(~beyond), np.flatnonzero((block > 0) & ~follows)
    found = np.concatenate((keys[opening], keys[closing] - 1))
    order = np.argsort(found, kind="stable")
    source = np.concatenate((opening, closing))[order]
    table, half = tiles.table[:, tile[source]], shift[source]
    table[0] = 2 << half
    table[2] = (found[order] & (1 << PLACE) - 1) << half
    table[3] = np.minimum(table[2] + table[0], table[5])

    def summed(values: FloatArray) -> FloatArray:
        alone = np.add.reduceat(np.tile(values, len(granularities)), begins) if len(begins) else values
        both = alone.copy()
        both[:-1] += alone[1:] * follows[1:]
        return np.concatenate((both[opening], alone[closing]))[order]

    return _Windows(table, summed(tiles.score), summed(tiles.weight))


def _blocks(places: IntArray, granularities: Sequence[Granularity]) -> tuple[IntArray, IntArray, IntArray]:
    """Return the blocks that hold tiles: where each begins among the tiles, repeated a granularity, its key and shift.

    A key holds granularity, document and number of the block; a block is 1 << shift sentences. A tile lies in the block
    of its last sentence: one that begins in the block before ends its document, and no window begins with that block.
    """
    _, document, _, last, _, _ = places
    shift = np.array([granularity.stride.bit_length() - 1 for granularity in granularities], dtype=np.int64)[:, None]
    keys = ((2 << shift) << LENGTH | document << PLACE | (last - 1) >> shift).ravel()
    begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
    return begins, keys[begins], shift[:, 0][begins // max(1, len(last))]


def _cosines(finest: RankedList, found: _Windows, sums: IntArray) -> FloatArray:
    _, _, first, last, origin, _ = found.table
    length = last - first
    tokens = sums[origin + last] - sums[origin + first]
    twice = (length > 1) & (length & 1 == 1)  # the last two tiles share a sentence
    tokens += np.where(twice, finest.hits.counts[origin + last - FINEST], 0)
    weight = np.maximum(tokens, found.weight)
    low = finest.scores.min(initial=1.0)
    mean: FloatArray = (found.score + (weight - found.weight) * min(low, ABSENT * low)) / weight
    return mean


def _best(lengths: IntArray, scores: FloatArray, granularities: Sequence[int], depth: int) -> Iterator[IntArray]:
    """Yield the rows of the best windows of each granularity."""
    bounds = np.searchsorted(lengths, [*granularities, max(granularities, default=0) + 1]).tolist()
    for start, stop in pairwise(bounds):
        yield start + np.argsort(-scores[start:stop], kind="stable")[:depth]


def _hits(hits: Hits, table: IntArray, sizes: Sequence[int]) -> Iterator[Hits]:
    """Yield windows in parts of these sizes, with the counts of their sentences or of their parents."""
    length, document, first, last, origin, end = table
    counted_first, counted_last = _counted(length, first, last, end)
    rows = np.stack((document, first, last, counted_first, counted_last - counted_first))
    counts = hits.counts[ranges(origin + counted_first, rows[4])]
    ends = np.concatenate(([0], np.cumsum(rows[4])))
    for start, stop in pairwise(accumulate(sizes, initial=0)):
        yield Hits(hits.distinct, rows[:, start:stop], counts[ends[start] : ends[stop]])


def _counted(length: IntArray, first: IntArray, last: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """Return the sentences of windows, of short ones those of their parents, as `umg_search.windows.parent` has them.

    At most two windows hold a short one.
    """
    stride = PARENT.stride
    latest = np.maximum(end - PARENT + stride - 1, 0)  # the last parent begins at the last multiple of the stride here
    later = np.minimum(first, latest) // stride * stride
    starts = np.stack((later - stride, later))
    ends = np.minimum(starts + PARENT, end)
    distance = np.abs(starts + ends - first - last)
    earlier = (starts[0] >= 0) & (ends[0] >= last) & (distance[0] <= distance[1])
    fine = length <= max(FINE)
    return (
        np.where(fine, np.where(earlier, starts[0], starts[1]), first),
        np.where(fine, np.where(earlier, ends[0], ends[1]), last),
    )
