"""Fusion: the weighted evidence of all channels, added up on the units they share.

Source: UMG-RAG (Jung & Wang 2026, arXiv 2606.13550): P(u) = sum_c w_c p_c(u), R(u) = P(u) / l(u)^alpha.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from umg_search.model import (
    Candidates,
    Counts,
    Evidence,
    FloatArray,
    Fused,
    Hits,
    IntArray,
    ranges,
    unit_keys,
)


def fuse(evidence: Sequence[Evidence], weights: Sequence[float]) -> Fused:
    """Return every distinct window of the lists with the weighted mass that each channel gives it.

    A unit that is absent from a list gets nothing from it. The result depends neither on the order of the lists nor on
    the order of equal hits.
    """
    pairs = sorted(zip(evidence, weights, strict=True), key=lambda pair: pair[0].ranked.channel)
    hits = _concatenate([item.ranked.hits for item, _ in pairs])
    document = hits.table[0]
    _, rows, unit = np.unique(unit_keys(document, hits.first, hits.last), return_index=True, return_inverse=True)
    lengths = [len(item.mass) for item, _ in pairs]
    channel = np.repeat(np.arange(len(pairs)), lengths)
    masses = np.concatenate([item.mass for item, _ in pairs]) * np.repeat([weight for _, weight in pairs], lengths)
    mass: FloatArray = np.asarray(np.bincount(channel * len(rows) + unit, masses, len(pairs) * len(rows)), np.float64)
    low, offset, tokens = _sentence_axis(hits)
    return Fused(
        channels=tuple(item.ranked.channel for item, _ in pairs),
        versions=hits.distinct,
        document=document[rows],
        first=hits.first[rows],
        last=hits.last[rows],
        parent_first=hits.count_first[rows],
        parent_last=(hits.count_first + hits.count_length)[rows],
        mass=mass.reshape(len(pairs), len(rows)),
        low=low,
        offset=offset,
        tokens=tokens,
    )


def units(fused: Fused) -> Candidates:
    """Return every unit as a candidate, scored by its mass P(u)."""
    return Candidates(fused.document, fused.first, fused.last, fused.mass.sum(axis=0))


def by_length(fused: Fused, candidates: Candidates, *, alpha: float, floor: int) -> Candidates:
    """Return the candidates best first, their mass divided by (tokens, but at least `floor`) ** alpha.

    Ties keep the order of document version, first and last sentence.
    """
    tokens = fused.lengths(candidates.document, candidates.first, candidates.last)
    score = candidates.score / np.maximum(tokens, max(1, floor)) ** float(alpha)  # a whole alpha would overflow int64
    order = np.argsort(-score, kind="stable")
    return Candidates(candidates.document[order], candidates.first[order], candidates.last[order], score[order])


def _concatenate(hits: Sequence[Hits]) -> Hits:
    """Return the windows of all lists, their versions numbered in order."""
    distinct = sorted(set(chain.from_iterable(part.distinct for part in hits)))
    number = {version: i for i, version in enumerate(distinct)}
    table = np.concatenate([part.table for part in hits], axis=1)
    names = [part.distinct for part in hits]
    renumbered = np.array([number[version] for version in chain.from_iterable(names)], dtype=np.int64)
    begin = np.cumsum([0, *map(len, names[:-1])])
    table[0] = renumbered[table[0] + np.repeat(begin, [len(part) for part in hits])]
    return Hits(tuple(distinct), table, np.concatenate([part.counts for part in hits]))


def _sentence_axis(hits: Hits) -> tuple[IntArray, IntArray, Counts]:
    document, documents = hits.table[0], len(hits.distinct)
    low = np.full(documents, np.iinfo(np.int64).max)
    high = np.zeros(documents, dtype=np.int64)
    np.minimum.at(low, document, hits.count_first)
    np.maximum.at(high, document, hits.count_first + hits.count_length)
    ends = np.cumsum(high - low)
    offset = ends - (high - low)
    tokens = np.zeros(int(ends[-1]) if documents else 0, dtype=np.int32)
    starts = offset[document] + hits.count_first - low[document]
    tokens[ranges(starts, hits.count_length)] = hits.counts
    return low, offset, tokens
