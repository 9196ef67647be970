"""Batches for a model: texts of about the same length together, bounded in texts and in padded tokens."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from umg_search.model import IntArray

T = TypeVar("T")


def batches(lengths: IntArray, *, texts: int, tokens: int) -> Iterator[IntArray]:
    """Yield the row numbers of each batch, longest texts first, so that a lack of memory shows at once.

    A batch holds at most `texts` texts and, padded to its longest, at most `tokens` tokens; one text always fits.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        longest = max(1, int(lengths[order[start]]))
        size = max(1, min(texts, tokens // longest))
        yield order[start : start + size]
        start += size


def halved_on_shortage(run: Callable[[list[str]], T], texts: Sequence[str]) -> list[T]:
    """Run a batch; where memory runs out, run its halves, down to single texts.

    Returns the results of the parts, in order. The error of a single text is raised.
    """
    try:
        return [run(list(texts))]
    except (MemoryError, RuntimeError) as error:
        # torch.OutOfMemoryError is a RuntimeError, and so is what older drivers and CPU allocators raise.
        if len(texts) == 1 or not (isinstance(error, MemoryError) or "memory" in str(error).lower()):
            raise
    half = len(texts) // 2
    return [*halved_on_shortage(run, texts[:half]), *halved_on_shortage(run, texts[half:])]
