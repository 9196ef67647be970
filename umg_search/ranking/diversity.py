"""Diversity: at most so many candidates of one document."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from umg_search.model import Candidates


def spread(rows: Iterable[int], candidates: Candidates, *, most: int, used: Mapping[int, int]) -> Iterator[int]:
    """Yield rows, in their order, while their document has not yielded `most`; `used` says what it has before."""
    counts = Counter(used)
    for row in rows:
        document = int(candidates.document[row])
        if counts[document] < most:
            counts[document] += 1
            yield row
