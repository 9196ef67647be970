"""Ranked lists, evidence and what is selected of them, as columns.

One numpy array an attribute, one row a hit; arrays are never changed once they are in a value. Sentence numbers count
from 0 within a document; ranges are half open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from umg_search.granularity import Channel
from umg_search.model.identity import DocumentVersion

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Windows that an engine found, one column of `table` a window.

    `distinct` is ascending. The rows of `table` are: number of the document version in it; first and last sentence;
    first sentence whose token count is known, and how many are. `counts` holds the token counts of all windows one
    after the other. They cover a window's own sentences, for 2- and 4-sentence windows those of their whole parent.
    """

    distinct: tuple[DocumentVersion, ...]
    table: IntArray
    counts: Counts

    def __len__(self) -> int:
        return self.table.shape[1]

    @property
    def versions(self) -> tuple[DocumentVersion, ...]:
        """Document version of each window."""
        return tuple(self.distinct[number] for number in self.table[0].tolist())

    @property
    def first(self) -> IntArray:
        """First sentence of each window."""
        return self.table[1]

    @property
    def last(self) -> IntArray:
        """Sentence after the last of each window."""
        return self.table[2]

    @property
    def count_first(self) -> IntArray:
        """First counted sentence of each window."""
        return self.table[3]

    @property
    def count_length(self) -> IntArray:
        """Number of counted sentences of each window."""
        return self.table[4]

    def take(self, rows: IntArray) -> "Hits":
        """Return some of the windows, with their token counts."""
        starts = np.cumsum(self.count_length) - self.count_length
        picked = ranges(starts[rows], self.count_length[rows])
        table = self.table[:, rows]
        kept, table[0] = np.unique(table[0], return_inverse=True)
        return Hits(tuple(self.distinct[number] for number in kept.tolist()), table, self.counts[picked])


def ranges(starts: IntArray, lengths: IntArray) -> Counts:
    """Return the whole numbers of several ranges, one range after the other.

    They are 32-bit, like token counts: with both at 64 bits a fusion took 0.59 ms, not 0.35.
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    numbers = np.repeat((starts - (ends - lengths)).astype(np.int32), lengths)
    numbers += np.arange(total, dtype=np.int32)
    return numbers


def unit_keys(document: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """Return one whole number a unit that orders units by document number, first and last sentence.

    A window has fewer than 256 sentences and sentence numbers are below 2^32 (the packed value holds no more).
    """
    return document << 40 | first << 8 | (last - first)


@dataclass(frozen=True, slots=True, eq=False)
class RankedList:
    """The hits of one channel, best first, with raw similarities (dense: cosines) of shape (hits,)."""

    channel: Channel
    hits: Hits
    scores: FloatArray

    def head(self, most: int) -> "RankedList":
        """Return the list's first hits, at most `most` of them."""
        if len(self.hits) <= most:
            return self
        return RankedList(self.channel, self.hits.take(np.arange(most)), self.scores[:most])

    def without(self, excluded: frozenset[DocumentVersion]) -> "RankedList":
        """Return the list less the hits of some document versions."""
        if excluded.isdisjoint(self.hits.distinct):
            return self
        rows = np.flatnonzero([version not in excluded for version in self.hits.versions])
        return RankedList(self.channel, self.hits.take(rows), self.scores[rows])


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What an engine answered to one question: ranked lists, and a reason for each channel that failed."""

    lists: tuple[RankedList, ...]
    failed: Mapping[Channel, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A ranked list as a distribution: `mass` sums to 1; `entropy` and `confidence` lie in [0, 1]."""

    ranked: RankedList
    mass: FloatArray
    entropy: float
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Who gave what to which unit: number of the channel, number of the unit and weighted mass, one row a hit."""

    channel: IntArray
    unit: IntArray
    mass: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """All units (distinct windows) of all lists, with their mass; `hits` are the windows of all lists.

    Units are sorted by (document version, first, last): unit u is sentences first[u] to last[u] of
    versions[document[u]]. `mass` is P(u), of shape (units,); its sum is 1. `parent_first` and `parent_last` name the
    unit's parent where it is a 2- or 4-sentence window with a longer one, else the unit itself. The token count of the
    unit's first sentence is at `place[u]` of the hits' counts, those of its other sentences and its parent beside it.
    """

    channels: tuple[Channel, ...]
    hits: Hits
    document: IntArray
    first: IntArray
    last: IntArray
    parent_first: IntArray
    parent_last: IntArray
    place: IntArray
    mass: FloatArray
    shares: Shares

    @property
    def versions(self) -> tuple[DocumentVersion, ...]:
        """Document versions, ascending."""
        return self.hits.distinct

    def lengths(self, candidates: "Candidates") -> IntArray:
        """Return the tokens of candidates."""
        sums = np.concatenate(([0], np.cumsum(self.hits.counts)))
        length: IntArray = sums[candidates.place + candidates.last - candidates.first] - sums[candidates.place]
        return length

    def selected(self, document: int, first: int, last: int, place: int, score: float) -> "Selected":
        """Return sentences of document number `document`, the first of which is at `place`, as a selection."""
        counts = tuple(self.hits.counts[place : place + last - first].tolist())
        return Selected(self.versions[document], first, last, score, counts)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Ranges of sentences that compete for the answer, with a score each.

    `document` indexes `Fused.versions`; the count of the first sentence is at `place` of the hits' counts.
    """

    document: IntArray
    first: IntArray
    last: IntArray
    place: IntArray
    score: FloatArray


@dataclass(frozen=True, slots=True)
class Selected:
    """A range of sentences that was chosen as context, with its score (comparable within one question only).

    `counts` are the token counts of its sentences; `cut` says that the token budget left whole sentences out.
    """

    version: DocumentVersion
    first: int
    last: int
    score: float
    counts: tuple[int, ...]
    cut: bool = False

    @property
    def tokens(self) -> int:
        """Tokens of all its sentences."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Shared:
    """A selection whose text stands in other places too, `copies`, better ones first."""

    item: Selected
    copies: tuple[Selected, ...]
