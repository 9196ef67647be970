"""De-duplication: of two candidates that share most of their sentences, the better one is kept."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from umg_search.model import Candidates


def deduplicate(candidates: Candidates, *, share: float, taken: Iterable[tuple[int, int, int]] = ()) -> Iterator[int]:
    """Yield row numbers, best first, skipping what overlaps a kept row of the same document too much.

    A row is skipped when the sentences it shares with a kept one exceed `share` of the shorter of the two. `taken` are
    ranges (document, first, last) that count as kept from the beginning; what equals one is skipped at any share.
    Lazy: what is not asked for is not computed.
    """
    before = frozenset(taken)
    kept: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for document, first, last in before:
        kept[document].append((first, last))
    rows = zip(candidates.document.tolist(), candidates.first.tolist(), candidates.last.tolist(), strict=True)
    for row, (document, first, last) in enumerate(rows):
        if (document, first, last) in before:
            continue
        if any(_too_close(first, last, *other, share) for other in kept[document]):
            continue
        kept[document].append((first, last))
        yield row


def _too_close(first: int, last: int, other_first: int, other_last: int, share: float) -> bool:
    shared = min(last, other_last) - max(first, other_first)
    return shared > share * min(last - first, other_last - other_first)
