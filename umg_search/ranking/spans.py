"""Evidence spans: mass added up on sentences, the best sentences under a token budget, joined into runs.

This project's own method. E(d, i) = sum over units u of d that contain sentence i of P(u) / (sentences of u).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from umg_search.model import FloatArray, Fused, IntArray, Selected, ranges

HEAD = 256
"""Sentences of the most evidence that are looked at first."""

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
        chosen, left = [int(evidence.edges[evidence.value.argmax()])], 0
    for _ in range(1, min_sentences):
        left = _widen(chosen, fused, evidence, left, min_sentences)
    runs = [_selected(fused, evidence, run) for run in _runs(sorted(chosen), _document_starts(fused))]
    return sorted(runs, key=lambda run: (-run.score, run.version, run.first))


class SentenceEvidence(NamedTuple):
    """E as a step function on the flat axis: value[i] holds for places edges[i] to edges[i + 1] (excluded)."""

    edges: IntArray
    value: FloatArray

    def at(self, places: IntArray) -> FloatArray:
        """Return E at places of the flat axis."""
        step = np.searchsorted(self.edges, places, side="right") - 1
        inside = (step >= 0) & (step < len(self.value))
        return np.where(inside, self.value[np.clip(step, 0, len(self.value) - 1)], 0.0)


def sentence_evidence(fused: Fused) -> SentenceEvidence:
    """Return E(d, i) of every sentence; its sum is the whole mass.

    E changes only where a unit begins or ends: each adds its density there and takes it away again, so that sentences
    held by the same units have the same E to the last bit.
    """
    density = fused.mass.sum(axis=0) / (fused.last - fused.first)
    starts = fused.position(fused.document, fused.first)
    ends = fused.position(fused.document, fused.last)
    edges, edge = np.unique(np.concatenate((starts, ends)), return_inverse=True)
    begun = np.bincount(edge[: len(starts)], density, len(edges))
    ended = np.bincount(edge[len(starts) :], density, len(edges))
    value = np.cumsum(begun - ended)[:-1]
    value[value < ROUNDING] = 0.0
    return SentenceEvidence(edges, value)


def _best(evidence: SentenceEvidence, tokens: IntArray, budget: int) -> tuple[list[int], int]:
    """Return the places of the sentences that fit, and the tokens left."""
    # Thousands of sentences carry some evidence and a few dozen fit. So only the head is laid out one by one; of the
    # rest, what still fits after the head.
    steps = np.argsort(-evidence.value, kind="stable")[: int(np.count_nonzero(evidence.value))]
    starts, lengths = evidence.edges[steps], np.diff(evidence.edges)[steps]
    head = int(np.searchsorted(np.cumsum(lengths), HEAD)) + 1
    chosen, left = _fill(ranges(starts[:head], lengths[:head]), tokens, budget)
    rest = ranges(starts[head:], lengths[head:])
    more, left = _fill(rest[tokens[rest] <= left], tokens, left)
    return chosen + more, left


def _fill(order: IntArray, tokens: IntArray, budget: int) -> tuple[list[int], int]:
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


def _widen(chosen: list[int], fused: Fused, evidence: SentenceEvidence, left: int, min_sentences: int) -> int:
    starts = _document_starts(fused)
    for short in [run for run in _runs(sorted(chosen), starts) if len(run) < min_sentences]:
        run = next(run for run in _runs(sorted(chosen), starts) if short[0] in run)
        if len(run) > len(short):  # a neighbour's widening joined it to that one
            continue
        beside = [i for i in _neighbours(run, starts, len(fused.tokens)) if 0 < fused.tokens[i] <= left]
        if beside:
            values = evidence.at(np.asarray(beside))
            best = beside[int(values.argmax())]
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


def _document_starts(fused: Fused) -> frozenset[int]:
    return frozenset(fused.offset.tolist())


def _selected(fused: Fused, evidence: SentenceEvidence, run: Sequence[int]) -> Selected:
    document = int(np.searchsorted(fused.offset, run[0], side="right")) - 1
    first = run[0] - int(fused.offset[document]) + int(fused.low[document])
    score = float(evidence.at(np.arange(run[0], run[-1] + 1)).sum())
    return fused.selected(document, first, first + len(run), score)
