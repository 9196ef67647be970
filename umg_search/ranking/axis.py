"""The axis of sentences: all sentences that lists know something of, laid one after the other."""

from dataclasses import dataclass

import numpy as np

from umg_search.model import Counts, Fused, IntArray, ranges

BITS = 33
"""Bits of a sentence number, or of the number after the last one: the packed value holds 32."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Sentences with known token counts, by document and number, in stretches of neighbours.

    Stretch number s begins at sentence `first[s]` of document number `document[s]`, which lies at place `offset[s]`.
    The first sentence of unit u is at `place[u]`; `tokens` holds the counts, a place each.
    """

    document: IntArray
    first: IntArray
    offset: IntArray
    place: IntArray
    tokens: Counts


def axis_of(fused: Fused) -> Axis:
    """Return the axis of the sentences of all units and of their parents.

    Units come sorted by document and first sentence. A stretch ends where no later unit's sentences begin at or before
    what the earlier ones reach.
    """
    base = fused.document << BITS
    reached = np.maximum.accumulate(base + fused.parent_last)
    ahead = np.minimum.accumulate((base + fused.parent_first)[::-1])[::-1]
    rows = np.concatenate(([0], (ahead[1:] > reached[:-1]).nonzero()[0] + 1, [len(base)]))
    start, stop = ahead[rows[:-1]], reached[rows[1:] - 1]
    ends = np.cumsum(stop - start)
    offset = ends - (stop - start)
    shift = base + np.repeat(offset - start, np.diff(rows))
    hits = fused.hits
    tokens = np.empty(int(ends[-1]), dtype=np.int32)
    tokens[ranges(shift[fused.shares.unit] + hits.count_first, hits.count_length)] = hits.counts
    return Axis(start >> BITS, start & (1 << BITS) - 1, offset, shift + fused.first, tokens)
