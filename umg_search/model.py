"""The values that pass between stages: documents, encodings, ranked lists, evidence, contexts.

Ranking works on columns: one numpy array an attribute, one row a hit. Arrays are never changed once they are in a
value. Sentence numbers count from 0 within a document; ranges are half open; text offsets are code points.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple, NewType

import numpy as np
from numpy.typing import NDArray

from umg_search.granularity import Channel, Expert, Granularity

DEFAULT_COLLECTION = "default"
EVERYBODY = "*"
"""The reserved principal: an ACL that holds it is readable by everybody."""

DocumentHash = NewType("DocumentHash", bytes)
"""16 bytes that stand for (collection, id) wherever an engine needs an id."""

DocumentVersion = NewType("DocumentVersion", bytes)
"""20 bytes: a document's hash and a generation of its windows (big-endian), so that versions sort and compare fast."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Vectors = NDArray[np.float32]


class DocumentKey(NamedTuple):
    """What the user calls a document: the same id may exist in several collections."""

    collection: str
    id: str

    @property
    def hash(self) -> DocumentHash:
        """Hash of both parts, each with its length, so that ("a", "bc") and ("ab", "c") differ."""
        parts = [part.encode("utf-8", "surrogatepass") for part in self]
        framed = b"".join(struct.pack(">I", len(part)) + part for part in parts)
        return DocumentHash(blake2b(framed, digest_size=16).digest())


def version_of(document: DocumentHash, generation: int) -> DocumentVersion:
    """Join a document's hash and a generation number."""
    return DocumentVersion(document + generation.to_bytes(4, "big"))


def document_of(version: DocumentVersion) -> DocumentHash:
    """Return the document's hash in a version."""
    return DocumentHash(version[:16])


def generation_of(version: DocumentVersion) -> int:
    """Return the generation number in a version."""
    return int.from_bytes(version[16:], "big")


# --- what is ingested -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """A document as a reader delivers it.

    `text` is the stored text: line ends kept, NUL and lone surrogates already replaced. `acl` lists the principals
    who may read it; empty means nobody where access control is on.
    """

    id: str
    text: str
    title: str = ""
    collection: str = DEFAULT_COLLECTION
    metadata: Mapping[str, Any] = field(default_factory=dict)
    acl: tuple[str, ...] = ()

    @property
    def key(self) -> DocumentKey:
        """Collection and id."""
        return DocumentKey(self.collection, self.id)


@dataclass(frozen=True, slots=True)
class SplitDocument:
    """A document with its sentences.

    `bounds` has one entry more than there are sentences, so that sentence i is text[bounds[i]:bounds[i + 1]];
    bounds[0] is 0 and the last bound is len(text). `counts` are the tokens of each sentence.
    """

    document: Document
    bounds: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return len(self.counts)

    def text_of(self, first: int, last: int) -> str:
        """Return the exact text of sentences `first` to `last` (excluded)."""
        return self.document.text[self.bounds[first] : self.bounds[last]]


class SparseVector(NamedTuple):
    """Non-zero terms of one sparse encoding: vocabulary ids, ascending, and their positive weights."""

    terms: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """A split document and the encodings of its windows, granularity by granularity, in the order of the windows.

    `dense` holds float32 arrays of shape (windows, dims) with rows of norm 1; empty where the set has no such expert.
    """

    split: SplitDocument
    dense: Mapping[Granularity, Vectors]
    sparse: Mapping[Granularity, Sequence[SparseVector]]


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """A question as each expert reads it; None where the index set has no such expert.

    `dense` is float32 of norm 1 and shape (dims,).
    """

    text: str
    dense: Vectors | None = None
    sparse: SparseVector | None = None


# --- index sets -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DenseModel:
    """What a query encoder must know to match the vectors of a set."""

    name: str
    dims: int
    query_prompt: str = ""
    passage_prompt: str = ""


@dataclass(frozen=True, slots=True)
class SparseModel:
    """What a query encoder must know to match the sparse terms of a set."""

    name: str


class Encoding(StrEnum):
    """How windows longer than the finest are encoded: from the finest encodings, or from their own text."""

    COMPOSED = "composed"
    DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class SetSpec:
    """Everything that must be equal between a writer and the index set it writes to; stored as `_meta`."""

    schema: int
    granularities: tuple[Granularity, ...]
    experts: tuple[Expert, ...]
    tokenizer: str
    encoding: Encoding
    analyzer: str
    access_control: bool
    dense: DenseModel | None = None
    sparse: SparseModel | None = None

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Every expert at every granularity, in a fixed order."""
        return tuple(Channel(e, g) for e in self.experts for g in self.granularities)


@dataclass(frozen=True, slots=True)
class IndexSet:
    """One version of the searchable data; `version` counts from 1 and is part of every index name."""

    version: int
    spec: SetSpec

    @property
    def label(self) -> str:
        """Name of the version (`v1`), the key of this set in ledger entries."""
        return f"v{self.version}"


# --- ranked lists and evidence ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Windows that an engine found, one row a window.

    `versions[i]` is the document version, `first[i]` and `last[i]` the sentences of row i. `counts` holds the token
    counts of all rows one after the other: row i has `count_length[i]` of them, for the sentences from
    `count_first[i]` on. They cover the row's own sentences, for 2- and 4-sentence windows those of their whole parent.
    """

    versions: tuple[DocumentVersion, ...]
    first: IntArray
    last: IntArray
    count_first: IntArray
    count_length: IntArray
    counts: IntArray

    def __len__(self) -> int:
        return len(self.versions)

    def take(self, rows: IntArray) -> "Hits":
        """Return the given rows (ascending or not), with their token counts."""
        starts = np.cumsum(self.count_length) - self.count_length
        lengths = self.count_length[rows]
        return Hits(
            tuple(self.versions[i] for i in rows.tolist()),
            self.first[rows],
            self.last[rows],
            self.count_first[rows],
            lengths,
            self.counts[ranges(starts[rows], lengths)],
        )


def ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return the whole numbers of several ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)


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

    def without(self, excluded: frozenset[DocumentVersion]) -> "RankedList":
        """Return the list less the hits of some document versions."""
        keep = [i for i, version in enumerate(self.hits.versions) if version not in excluded]
        if len(keep) == len(self.hits):
            return self
        rows = np.asarray(keep, dtype=np.int64)
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
class Fused:
    """All units (distinct windows) of all lists with the mass that each channel gives them.

    Units are sorted by (document version, first, last): unit u is sentences first[u] to last[u] of
    versions[document[u]]. `mass` has shape (channels, units); its sum is 1. `parent_first` and `parent_last` name the
    unit's parent where it is a 2- or 4-sentence window with a longer one, else the unit itself.

    Sentences that have a known token count lie on one flat axis: sentence i of document d is at offset[d] + i - low[d],
    for i in low[d] to high[d] (excluded); `tokens` holds the counts (0: not known).
    """

    channels: tuple[Channel, ...]
    versions: tuple[DocumentVersion, ...]
    document: IntArray
    first: IntArray
    last: IntArray
    parent_first: IntArray
    parent_last: IntArray
    mass: FloatArray
    low: IntArray
    offset: IntArray
    tokens: IntArray

    def position(self, document: IntArray, sentence: IntArray) -> IntArray:
        """Return the place of sentences on the flat axis."""
        place: IntArray = self.offset[document] + sentence - self.low[document]
        return place

    def lengths(self, document: IntArray, first: IntArray, last: IntArray) -> IntArray:
        """Return the tokens of ranges of sentences."""
        sums = np.concatenate(([0], np.cumsum(self.tokens)))
        length: IntArray = sums[self.position(document, last)] - sums[self.position(document, first)]
        return length

    def selected(self, document: int, first: int, last: int, score: float) -> "Selected":
        """Return a range of sentences of document number `document` as a selection."""
        start = int(self.offset[document] + first - self.low[document])
        counts = tuple(self.tokens[start : start + last - first].tolist())
        return Selected(self.versions[document], first, last, score, counts)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Ranges of sentences that compete for the answer, with a score each; `document` indexes `Fused.versions`."""

    document: IntArray
    first: IntArray
    last: IntArray
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


# --- what is stored ---------------------------------------------------------------------------------------------

BLOCK_SENTENCES = 32
"""Sentences in a text block; blocks do not overlap."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Sentences number * 32 to (number + 1) * 32 of one document version, as stored text.

    `start` is the code-point offset of the block in the document, `bounds` the offsets of its sentences within the
    block (one more than there are sentences), `counts` their tokens.
    """

    version: DocumentVersion
    number: int
    start: int
    text: str
    bounds: tuple[int, ...]
    counts: tuple[int, ...]


class DocumentState(StrEnum):
    """Where a document is on its way to being searchable."""

    WRITING = "writing"
    SEARCHABLE = "searchable"
    FAILED = "failed"
    DELETED = "deleted"


class Generation(NamedTuple):
    """A generation of a document's windows; chunk ids follow from the number and the count of sentences."""

    number: int
    sentences: int


class Retired(NamedTuple):
    """A generation whose entries are to be deleted: never finished, replaced, or of a deleted document.

    `since` is the time (seconds since the epoch) at which it was replaced; 0 for one that was never live.
    """

    number: int
    sentences: int
    since: float


@dataclass(frozen=True, slots=True)
class SetState:
    """What one index set holds of a document: the live generation (None: nothing), and what is to be deleted."""

    live: Generation | None = None
    retired: tuple[Retired, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What is known of one document outside the index sets; the authority on what is live and who may read it.

    `token` is the engine's own mark of the entry's last change (None: not stored yet), for conditional writes.
    Fingerprints are hex digests, empty when unknown. `error` is empty unless the state is `failed`.
    """

    document: DocumentHash
    key: DocumentKey | None
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    acl: tuple[str, ...] = ()
    text_fingerprint: str = ""
    attributes_fingerprint: str = ""
    state: DocumentState = DocumentState.WRITING
    error: str = ""
    changed_at: float = 0.0
    characters: int = 0
    next_generation: int = 1
    sets: Mapping[str, SetState] = field(default_factory=dict)
    token: tuple[int, int] | None = None

    def in_set(self, label: str) -> SetState:
        """Return what a set holds of the document."""
        return self.sets.get(label, SetState())


# --- answers ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Context:
    """A piece of a document that answers a question; text == stored text[start:end].

    `relevance` is the largest cosine that the dense expert gave to a finest window that overlaps the context, None
    where it gave none. `channels` (only when an explanation was asked for) is the mass that each channel contributed.
    """

    document_id: str
    collection: str
    title: str
    first: int
    last: int
    start: int
    end: int
    text: str
    tokens: int
    score: float
    relevance: float | None
    granularities: tuple[Granularity, ...]
    truncated: bool
    channels: Mapping[Channel, float] = field(default_factory=dict)


class Outcome(StrEnum):
    """What became of one document of an ingest."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of one document: entries written in the chunk indices, tokens of its text, and why it failed."""

    document_id: str
    collection: str
    outcome: Outcome
    chunks: int = 0
    tokens: int = 0
    reason: str = ""
