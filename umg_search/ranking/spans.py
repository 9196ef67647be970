"""Evidence spans: mass added up on sentences, the best sentences under a token budget, joined into runs.

This project's own method. E(d, i) = sum over units u of d that contain sentence i of P(u) / (sentences of u).
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from umg_search.model import Counts, DocumentVersion, FloatArray, Fused, IntArray, Selected
from umg_search.ranking.axis import Axis, axis_of

HEAD = 256
"""Sentences of the most evidence that are sorted first."""

ROUNDING = 1e-12
"""What is left of a running sum after everything was taken away; real evidence is far above."""

NONE: Mapping[int, int] = MappingProxyType({})

Run = tuple[Sequence[int], float]
"""Neighbouring places, and their evidence."""


def spans(
    fused: Fused,
    *,
    budget: int,
    min_sentences: int = 1,
    most_sentences: int | None = None,
    max_per_document: int | None = None,
    used: Mapping[int, int] = NONE,
    taken: Sequence[tuple[int, int, int]] = (),
) -> list[Selected]:
    """Return runs of neighbouring sentences, best first, that together hold at most `budget` tokens.

    Sentences are taken by evidence, highest first; one that does not fit is passed over for smaller ones. No sentence
    is returned twice. With `min_sentences`, a sentence comes with as many of its better neighbours as its run needs to
    be that long, and is passed over where the budget has no room for them; the very first takes what fits. Where not
    even one sentence fits, the best one is returned whole, for the caller to cut.

    With `most_sentences` only so many are taken for their evidence, the first by it: the number that a cut of
    `strongest` gave. Neighbours that `min_sentences` asks for may be others.

    With `max_per_document`, a document keeps its best runs and the budget is filled again without its other sentences;
    `used` counts the runs that documents have already. `taken` ranges (document, first, last) are left out, as if
    nothing were known of them.
    """
    axis = axis_of(fused)
    evidence, tokens = sentence_evidence(fused, axis), axis.tokens
    wanted = np.ones(len(tokens), dtype=bool)
    if most_sentences is not None:
        wanted[:] = False
        wanted[_best_first(evidence)[:most_sentences]] = True
    starts = frozenset(axis.offset.tolist())
    barred = np.zeros(len(tokens), dtype=bool)
    for places in _places(axis, taken):
        barred[places] = True
    while True:
        if barred.any():
            evidence, tokens = np.where(barred, 0.0, evidence), np.where(barred, 0, tokens)
        runs = _filled(evidence, np.where(wanted, evidence, 0.0), tokens, starts, budget, min_sentences)
        surplus = _surplus(runs, axis, max_per_document, used)
        if not surplus.any():
            break
        barred |= surplus
    offsets = axis.offset.tolist()
    selected = [_selected(fused.versions, axis, offsets, run, score) for run, score in runs]
    return sorted(selected, key=lambda run: (-run.score, run.version, run.first))


def strongest(fused: Fused, count: int) -> list[float]:
    """Return the evidence of the `count` best sentences, HEAD at most, best first; fewer where fewer have any."""
    evidence = sentence_evidence(fused, axis_of(fused))
    return evidence[_best_first(evidence)[:count]].tolist()


def sentence_evidence(fused: Fused, axis: Axis) -> FloatArray:
    """Return E(d, i) for every place of the axis; its sum is the whole mass.

    Each unit adds its density where it starts and takes it away where it ends; the running sum is E, equal to the last
    bit for sentences that the same units hold.
    """
    length = fused.last - fused.first
    density = fused.mass / length
    bounds = np.concatenate((axis.place, axis.place + length))
    change = np.bincount(bounds, np.concatenate((density, -density)), len(axis.tokens) + 1)
    evidence = change[:-1].cumsum()
    evidence[evidence < ROUNDING] = 0.0
    return evidence


def _filled(  # noqa: PLR0917 - all of it is the state of one fill
    evidence: FloatArray, wanted: FloatArray, tokens: Counts, starts: frozenset[int], budget: int, min_sentences: int
) -> list[Run]:
    """Return the runs that a budget is filled with, in the order of the axis; none where nothing has evidence.

    `wanted` is the evidence of sentences that may be taken for it, 0 for others.
    """
    if min_sentences > 1:
        chosen = _best_runs(evidence, wanted, tokens, starts, budget, min_sentences)
    else:
        chosen = _best(wanted, tokens, budget)
    if not chosen:
        best = int(wanted.argmax())
        chosen = [best] if wanted[best] > 0 else []
    value = dict(zip(chosen, evidence[chosen].tolist(), strict=True))
    return [(run, sum(value[i] for i in run)) for run in _runs(chosen, starts)]


def _surplus(runs: Sequence[Run], axis: Axis, most: int | None, used: Mapping[int, int]) -> NDArray[np.bool_]:
    """Return the places of documents that have more runs than they may have, less those of their best runs."""
    surplus = np.zeros(len(axis.tokens), dtype=bool)
    if most is None:
        return surplus
    document = np.repeat(axis.document, np.diff(axis.offset, append=len(axis.tokens)))
    own: defaultdict[int, list[Run]] = defaultdict(list)
    for run in runs:
        own[int(document[run[0][0]])].append(run)
    for number, found in own.items():
        allowed = max(0, most - used.get(number, 0))
        if len(found) > allowed:
            surplus |= document == number
            for places, _ in sorted(found, key=lambda run: -run[1])[:allowed]:
                surplus[places] = False
    return surplus


def _places(axis: Axis, ranges: Sequence[tuple[int, int, int]]) -> Iterator[slice]:
    for document, first, last in ranges:
        stretch = ((axis.document == document) & (axis.first <= first)).nonzero()[0][-1]
        start = int(axis.offset[stretch] + first - axis.first[stretch])
        yield slice(start, start + last - first)


def _best(evidence: FloatArray, tokens: Counts, budget: int) -> list[int]:
    """Return the places of the sentences that fit, ascending."""
    least = _least_of_head(evidence)
    chosen, left = _fill(_descending(evidence >= least, evidence), tokens, budget)
    more, _ = _fill(_descending((tokens <= left) & (evidence > 0) & (evidence < least), evidence), tokens, left)
    return sorted(chosen + more)


def _least_of_head(evidence: FloatArray) -> float:
    """Return the evidence above which a sentence is one of the HEAD best.

    Thousands of sentences carry some evidence and a few dozen fit. So only the head need be sorted whole; of the rest,
    what still fits after it.
    """
    least = float(np.partition(evidence, -HEAD)[-HEAD]) if len(evidence) > HEAD else 0.0
    return max(least, ROUNDING)


def _best_first(evidence: FloatArray) -> IntArray:
    """Return the places of the head, those of most evidence first."""
    return _descending(evidence >= _least_of_head(evidence), evidence)


def _descending(wanted: NDArray[np.bool_], evidence: FloatArray) -> IntArray:
    places = wanted.nonzero()[0]
    return places[(-evidence[places]).argsort(kind="stable")]


def _fill(order: IntArray, tokens: Counts, budget: int) -> tuple[list[int], int]:
    needed = tokens[order]
    whole = int(needed.cumsum().searchsorted(budget, side="right"))
    chosen: list[int] = order[:whole].tolist()
    left = budget - int(needed[:whole].sum())
    rest = (needed[whole:] <= left).nonzero()[0] + whole
    for place, tokens_needed in zip(order[rest].tolist(), needed[rest].tolist(), strict=True):
        if tokens_needed <= left:
            chosen.append(place)
            left -= tokens_needed
    return chosen, left


def _best_runs(  # noqa: PLR0917 - all of it is the state of one fill
    evidence: FloatArray, wanted: FloatArray, tokens: Counts, starts: frozenset[int], budget: int, min_sentences: int
) -> list[int]:
    """Return the places of sentences that fit together with the neighbours they need, ascending."""
    chosen: set[int] = set()
    left = budget
    least = _least_of_head(wanted)
    for part in (wanted >= least, (wanted > 0) & (wanted < least)):
        order = _descending(part & (tokens <= left), wanted)
        for place, needed in zip(order.tolist(), tokens[order].tolist(), strict=True):
            if needed > left or place in chosen:
                continue
            group, whole = _with_neighbours(place, chosen, evidence, tokens, starts, left, min_sentences)
            if whole or not chosen:
                chosen.update(group)
                left -= sum(tokens[group].tolist())
    return sorted(chosen)


def _with_neighbours(  # noqa: PLR0917 - all of it is the state of one fill
    place: int,
    chosen: set[int],
    evidence: FloatArray,
    tokens: Counts,
    starts: frozenset[int],
    left: int,
    min_sentences: int,
) -> tuple[list[int], bool]:
    """Return a place with the neighbours its run needs, and whether the budget had room for them all."""
    group, low, high = [place], place, place
    left -= int(tokens[place])
    while True:
        while low not in starts and low - 1 in chosen:
            low -= 1
        while high + 1 not in starts and high + 1 in chosen:
            high += 1
        beside = [i for i in _neighbours(low, high, starts, len(tokens)) if tokens[i] > 0]
        if high - low + 1 >= min_sentences or not beside:
            return group, True
        fitting = [i for i in beside if tokens[i] <= left]
        if not fitting:
            return group, False
        best = max(fitting, key=lambda i: (evidence[i], -i))
        group.append(best)
        left -= int(tokens[best])
        low, high = min(low, best), max(high, best)


def _neighbours(low: int, high: int, starts: frozenset[int], end: int) -> Iterator[int]:
    if low not in starts:
        yield low - 1
    if high + 1 < end and high + 1 not in starts:
        yield high + 1


def _runs(places: Sequence[int], starts: frozenset[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for place in places:
        if run and (place != run[-1] + 1 or place in starts):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _selected(
    versions: Sequence[DocumentVersion], axis: Axis, offsets: Sequence[int], run: Sequence[int], score: float
) -> Selected:
    stretch = bisect_right(offsets, run[0]) - 1
    first = run[0] - offsets[stretch] + int(axis.first[stretch])
    counts = tuple(axis.tokens[run[0] : run[0] + len(run)].tolist())
    return Selected(versions[int(axis.document[stretch])], first, first + len(run), score, counts)
