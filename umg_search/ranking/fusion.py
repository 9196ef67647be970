"""Fusion: the weighted evidence of all channels, added up on the units they share.

Source: UMG-RAG (Jung & Wang 2026, arXiv 2606.13550): P(u) = sum_c w_c p_c(u), R(u) = P(u) / l(u)^alpha.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from umg_search.model import (
    Candidates,
    Evidence,
    Fused,
    Hits,
    Shares,
    unit_keys,
)


def fuse(evidence: Sequence[Evidence], weights: Sequence[float]) -> Fused:
    """Return every distinct window of the lists with the weighted mass that each channel gives it.

    A unit that is absent from a list gets nothing from it. The result depends neither on the order of the lists nor on
    the order of equal hits.
    """
    pairs = sorted(zip(evidence, weights, strict=True), key=lambda pair: pair[0].ranked.channel)
    hits = _concatenate([item.ranked.hits for item, _ in pairs])
    key = unit_keys(hits.table[0], hits.first, hits.last)
    _, rows, unit = np.unique(key, return_index=True, return_inverse=True)
    share = np.concatenate([weight * item.mass for item, weight in pairs])
    document, first, last, counted, length = hits.table[:, rows]
    starts = np.cumsum(hits.count_length) - hits.count_length
    return Fused(
        channels=tuple(item.ranked.channel for item, _ in pairs),
        hits=hits,
        document=document,
        first=first,
        last=last,
        parent_first=counted,
        parent_last=counted + length,
        place=starts[rows] + first - counted,
        mass=np.asarray(np.bincount(unit, share, len(rows)), np.float64),
        shares=Shares(np.repeat(np.arange(len(pairs)), [len(item.mass) for item, _ in pairs]), unit, share),
    )


def units(fused: Fused) -> Candidates:
    """Return every unit as a candidate, scored by its mass P(u)."""
    return Candidates(fused.document, fused.first, fused.last, fused.place, fused.mass)


def by_length(fused: Fused, candidates: Candidates, *, alpha: float, floor: int) -> Candidates:
    """Return the candidates best first, their mass divided by (tokens, but at least `floor`) ** alpha.

    Ties keep the order of document version, first and last sentence.
    """
    tokens = fused.lengths(candidates)
    score = candidates.score / np.maximum(tokens, max(1, floor)) ** float(alpha)  # a whole alpha would overflow int64
    order = np.argsort(-score, kind="stable")
    return Candidates(
        candidates.document[order],
        candidates.first[order],
        candidates.last[order],
        candidates.place[order],
        score[order],
    )


def _concatenate(hits: Sequence[Hits]) -> Hits:
    """Return the windows of all lists, their versions numbered in order."""
    table = np.concatenate([part.table for part in hits], axis=1)
    counts = np.concatenate([part.counts for part in hits])
    distinct = hits[0].distinct
    if any(part.distinct is not distinct for part in hits):  # lists of one answer number the same versions
        distinct = tuple(sorted(set(chain.from_iterable(part.distinct for part in hits))))
        number = {version: i for i, version in enumerate(distinct)}
        table[0] = list(chain.from_iterable(map(number.__getitem__, part.versions) for part in hits))
    return Hits(distinct, table, counts)
