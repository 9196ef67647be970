"""Truncation: where the answer ends, by number of contexts and by tokens."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate

from umg_search.model import Selected


def within_budget(selected: Iterable[Selected], *, budget: int) -> Iterator[Selected]:
    """Yield selections, best first, while they fit a budget of tokens.

    The one that does not fit keeps its leading whole sentences, and filling stops there. Where not even the very first
    sentence fits, it is yielded alone, for the caller to cut.
    """
    left = budget
    for number, item in enumerate(selected):
        if item.tokens <= left:
            left -= item.tokens
            yield item
            continue
        whole = sum(total <= left for total in accumulate(item.counts))
        if whole or not number:
            yield leading(item, max(1, whole))
        return


def leading(item: Selected, sentences: int) -> Selected:
    """Return the first `sentences` sentences of a selection, marked as cut if any are left out."""
    if sentences >= len(item.counts):
        return item
    return replace(item, last=item.first + sentences, counts=item.counts[:sentences], cut=True)
