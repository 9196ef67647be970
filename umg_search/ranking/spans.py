"""Evidence spans: mass added up on sentences, the best sentences under a token budget, joined into runs.

This project's own method. E(d, i) = sum over units u of d that contain sentence i of P(u) / (sentences of u).
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from umg_search.model import Counts, FloatArray, Fused, IntArray, Selected

HEAD = 256
"""Sentences of the most evidence that are sorted first."""

ROUNDING = 1e-12
"""What is left of a running sum after everything was taken away; real evidence is far above."""


def spans(fused: Fused, *, budget: int, min_sentences: int = 1) -> list[Selected]:
    """Return runs of neighbouring sentences, best first, that together hold at most `budget` tokens.

    Sentences are taken by evidence, highest first; one that does not fit is passed over for smaller ones. No sentence
    is returned twice. A run shorter than `min_sentences` takes its better neighbour while the budget allows. Where not
    even one sentence fits, the best one is returned whole, for the caller to cut.
    """
    evidence = sentence_evidence(fused)
    chosen, left = _best(evidence, fused.tokens, budget)
    if not chosen:
        chosen, left = [int(evidence.argmax())], 0
    for _ in range(1, min_sentences):
        left = _widen(chosen, fused, evidence, left, min_sentences)
    chosen.sort()
    value = dict(zip(chosen, evidence[chosen].tolist(), strict=True))
    offsets = fused.offset.tolist()
    runs = [_selected(fused, offsets, run, sum(value[i] for i in run)) for run in _runs(chosen, frozenset(offsets))]
    return sorted(runs, key=lambda run: (-run.score, run.version, run.first))


def sentence_evidence(fused: Fused) -> FloatArray:
    """Return E(d, i) for every place of the flat axis; its sum is the whole mass.

    Each unit adds its density where it starts and takes it away where it ends; the running sum is E, equal to the last
    bit for sentences that the same units hold.
    """
    density = fused.mass.sum(axis=0) / (fused.last - fused.first)
    size = len(fused.tokens) + 1
    change = np.bincount(fused.position(fused.document, fused.first), density, size)
    change -= np.bincount(fused.position(fused.document, fused.last), density, size)
    evidence = change[:-1].cumsum()
    evidence[evidence < ROUNDING] = 0.0
    return evidence


def _best(evidence: FloatArray, tokens: Counts, budget: int) -> tuple[list[int], int]:
    """Return the places of the sentences that fit, and the tokens left."""
    # Thousands of sentences carry some evidence and a few dozen fit. So only the head is sorted; of the rest, what
    # still fits after the head.
    places = evidence.nonzero()[0]
    value = evidence[places]
    head = value >= (np.partition(value, -HEAD)[-HEAD] if len(value) > HEAD else 0.0)
    chosen, left = _fill(_descending(places[head], value[head]), tokens, budget)
    rest = ~head
    rest &= tokens[places] <= left
    more, left = _fill(_descending(places[rest], value[rest]), tokens, left)
    return chosen + more, left


def _descending(places: IntArray, value: FloatArray) -> IntArray:
    return places[(-value).argsort(kind="stable")]


def _fill(order: IntArray, tokens: Counts, budget: int) -> tuple[list[int], int]:
    needed = tokens[order]
    whole = int(np.searchsorted(np.cumsum(needed), budget, side="right"))
    chosen = order[:whole].tolist()
    left = budget - int(needed[:whole].sum())
    rest = order[whole:]
    while len(rest := rest[tokens[rest] <= left]):
        chosen.append(int(rest[0]))
        left -= int(tokens[rest[0]])
        rest = rest[1:]
    return chosen, left


def _widen(chosen: list[int], fused: Fused, evidence: FloatArray, left: int, min_sentences: int) -> int:
    starts = frozenset(fused.offset.tolist())
    for short in [run for run in _runs(sorted(chosen), starts) if len(run) < min_sentences]:
        run = next(run for run in _runs(sorted(chosen), starts) if short[0] in run)
        if len(run) > len(short):  # a neighbour's widening joined it to that one
            continue
        beside = [i for i in _neighbours(run, starts, len(fused.tokens)) if 0 < fused.tokens[i] <= left]
        if beside:
            best = max(beside, key=lambda place: (evidence[place], -place))
            chosen.append(best)
            left -= int(fused.tokens[best])
    return left


def _neighbours(run: Sequence[int], starts: frozenset[int], end: int) -> Iterator[int]:
    if run[0] not in starts:
        yield run[0] - 1
    if run[-1] + 1 < end and run[-1] + 1 not in starts:
        yield run[-1] + 1


def _runs(places: Sequence[int], starts: frozenset[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for place in places:
        if run and (place != run[-1] + 1 or place in starts):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _selected(fused: Fused, offsets: Sequence[int], run: Sequence[int], score: float) -> Selected:
    document = bisect_right(offsets, run[0]) - 1
    first = run[0] - offsets[document] + int(fused.low[document])
    return fused.selected(document, first, first + len(run), score)
