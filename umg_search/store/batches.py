"""Things in their order, cut into batches by size."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")


def batches(items: Iterable[_Item], size_of: Callable[[_Item], int], most: int) -> Iterator[list[_Item]]:
    """Yield batches whose sizes add up to at most `most`; a single larger item goes alone.

    Items are taken as they are needed: at most one beyond the batch.
    """
    batch: list[_Item] = []
    size = 0
    for item in items:
        if batch and size + size_of(item) > most:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += size_of(item)
    if batch:
        yield batch
