"""The lists of a set that has an index for the finest windows only, or for some more: what is asked, what is ranked."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from umg_search.granularity import FINEST, Channel
from umg_search.model import RankedList, SetSpec
from umg_search.ranking.derivation import derive
from umg_search.search.options import MOST_DEPTH

DEEPER = 5
"""How many times as many finest windows are asked for where lists are derived from them."""


def asked_depth(spec: SetSpec, depth: int) -> int:
    """Return how many hits a channel is asked for, so that lists of `depth` come of them."""
    return min(DEEPER * depth, MOST_DEPTH) if spec.derived else depth


def completed(lists: Sequence[RankedList], spec: SetSpec, depth: int) -> Sequence[RankedList]:
    """Return the lists that are ranked, of `depth` hits each: those of an engine, and those that are derived."""
    return list(_completed(lists, spec, depth)) if spec.derived else lists


def fallen(failed: Collection[Channel], spec: SetSpec) -> tuple[Channel, ...]:
    """Return the channels that are missing, sorted: those that failed, and those derived from them."""
    experts = [channel.expert for channel in failed if channel.granularity is FINEST]
    return tuple(sorted({*failed, *(Channel(expert, g) for expert in experts for g in spec.derived)}))


def _completed(lists: Iterable[RankedList], spec: SetSpec, depth: int) -> Iterator[RankedList]:
    for ranked in lists:
        if ranked.channel.granularity is FINEST:
            yield from derive(ranked, spec.derived, depth=depth)
        else:
            yield ranked.head(depth)
