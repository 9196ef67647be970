"""Derived lists over an index that holds longer windows too: what the index of a set that derives them brings is added.

There a finest window brings the token counts of all windows around it; here these come from the stored texts.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from umg_search.evaluation.texts import Layouts
from umg_search.granularity import FINEST, Channel, Granularity
from umg_search.model import Hits, RankedList
from umg_search.ranking.derivation import derive
from umg_search.store.units import counted_range
from umg_search.windows import Window


def with_derived(
    lists: Sequence[RankedList], derived: Sequence[Channel], layouts: Layouts, depth: int
) -> list[RankedList]:
    """Return lists of `depth` hits: those that are there, and those of the `derived` channels."""
    return [found for ranked in lists for found in _with_derived(ranked, derived, layouts, depth)]


def _with_derived(ranked: RankedList, derived: Sequence[Channel], layouts: Layouts, depth: int) -> Iterator[RankedList]:
    expert, granularity = ranked.channel.expert, ranked.channel.granularity
    longer = tuple(channel.granularity for channel in derived if channel.expert is expert)
    if longer and granularity is FINEST:
        whole = RankedList(ranked.channel, _widened(ranked.hits, longer, layouts), ranked.scores)
        yield from derive(whole, longer, depth=depth)
    else:
        yield ranked.head(depth)


def _widened(hits: Hits, derived: Sequence[Granularity], layouts: Layouts) -> Hits:
    """Return finest windows with the counts that they would bring."""
    every = [layouts[version].counts for version in hits.distinct]
    places = zip(hits.table[0].tolist(), hits.first.tolist(), hits.last.tolist(), strict=True)
    ranges = [
        (every[document], counted_range(Window(first, last), FINEST, len(every[document]), derived))
        for document, first, last in places
    ]
    table = hits.table.copy()
    table[3] = [counted.first for _, counted in ranges]
    table[4] = [counted.last - counted.first for _, counted in ranges]
    counts = [count for own, counted in ranges for count in own[counted.first : counted.last]]
    return Hits(hits.distinct, table, np.array(counts, dtype=np.int32))
