"""Sentence windows: pure arithmetic on half-open ranges of sentence numbers.

Windows of g sentences start every max(1, g/2) sentences, up to the first window that ends with the document;
that one may be shorter. A document of fewer than g sentences has one window.
"""

from typing import NamedTuple

from umg_search.granularity import FINEST, Granularity


class Window(NamedTuple):
    """Sentences `first` (included) to `last` (excluded) of one document."""

    first: int
    last: int


def windows(sentences: int, granularity: Granularity) -> tuple[Window, ...]:
    """Return the windows of a document of `sentences` sentences, in order; none for an empty document."""
    return tuple(window_at(i, sentences, granularity) for i in range(window_count(sentences, granularity)))


def window_count(sentences: int, granularity: Granularity) -> int:
    """Return how many windows a document of `sentences` sentences has."""
    if sentences <= 0:
        return 0
    beyond_first = max(0, sentences - granularity)
    return 1 + -(-beyond_first // granularity.stride)


def window_at(index: int, sentences: int, granularity: Granularity) -> Window:
    """Return window number `index` of a document of `sentences` sentences."""
    first = index * granularity.stride
    return Window(first, min(first + granularity, sentences))


def parent(window: Window, sentences: int, granularity: Granularity) -> Window:
    """Return the window of `granularity` that contains all of `window` and whose centre is nearest.

    The earlier of two equally near ones is taken. `window` must be one of the document's windows of a granularity
    that is not longer.
    """
    centre = window.first + window.last
    around = holding(window, sentences, granularity)
    return min(around, key=lambda w: (abs(w.first + w.last - centre), w.first))


def holding(window: Window, sentences: int, granularity: Granularity) -> tuple[Window, ...]:
    """Return the windows of `granularity` that contain all of `window`, at least one; it must not be longer."""
    last_index = window_count(sentences, granularity) - 1
    lowest = max(0, -(-(window.last - granularity) // granularity.stride))
    highest = min(window.first // granularity.stride, last_index)
    return tuple(window_at(i, sentences, granularity) for i in range(min(lowest, highest), highest + 1))


def overlap(a: Window, b: Window) -> int:
    """Return the number of sentences that both windows hold."""
    return max(0, min(a.last, b.last) - max(a.first, b.first))


def tiles(window: Window) -> tuple[Window, ...]:
    """Return the finest windows that tile `window`; an odd tail is covered by the last two sentences.

    Each tile is a finest window of the same document, since those start at every sentence.
    """
    if window.last - window.first <= FINEST:
        return (window,)
    step = int(FINEST)
    even = tuple(Window(i, i + step) for i in range(window.first, window.last - step + 1, step))
    odd = (window.last - window.first) % step
    return (*even, Window(window.last - step, window.last)) if odd else even


def is_tile(window: Window, sentences: int) -> bool:
    """Return whether a finest window tiles longer ones, which begin even, and end even or with the document."""
    return window.first % FINEST == 0 or window.last == sentences
