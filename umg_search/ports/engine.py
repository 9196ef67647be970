"""Encoders and search engines, and what goes to and from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict, Unpack

from umg_search.granularity import Granularity
from umg_search.model import (
    DenseModel,
    DocumentHash,
    DocumentState,
    DocumentVersion,
    EncodedQuery,
    EngineInfo,
    FieldValue,
    Filter,
    Finding,
    IndexSet,
    LedgerEntry,
    Retrieval,
    SetSpec,
    SparseModel,
    SparseVector,
    StoredSet,
    StoredVector,
    TextBlock,
    Vectors,
)


class TokenCounter(Protocol):
    """Counts tokens as the index set defines them."""

    @property
    def name(self) -> str:
        """Name of the tokenizer, as kept in the index set."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, without special tokens."""
        ...


class DenseEncoder(Protocol):
    """Turns texts into vectors of norm 1."""

    @property
    def model(self) -> DenseModel:
        """Name, dimensions and prompts."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest text that the model reads whole, in tokens, special tokens and prompt excluded."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return float32 of shape (len(texts), dims); texts over the limit are read in pieces, never cut."""
        ...

    def encode_query(self, text: str) -> Vectors:
        """Return float32 of shape (dims,)."""
        ...


class SparseEncoder(Protocol):
    """Turns texts into positive term weights over a vocabulary."""

    @property
    def model(self) -> SparseModel:
        """Name of the model."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        """Return one sparse vector a text; texts over the limit are read in pieces, never cut."""
        ...

    def encode_query(self, text: str) -> SparseVector:
        """Return the query's term weights."""
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may see, applied inside every list.

    `principals` None: no access control. No `collections` means all of them. `filter` is on metadata.
    """

    collections: tuple[str, ...] = ()
    principals: tuple[str, ...] | None = None
    filter: Filter | None = None


@dataclass(frozen=True, slots=True)
class Attributes:
    """What every chunk entry of a document holds of the document itself, and what changes without its text.

    `fields` has the values of each declared field, also of those without any; `labels` stand for all other metadata.
    `title` is None where the set does not search titles.
    """

    acl: tuple[str, ...]
    fields: Mapping[str, tuple[FieldValue, ...]]
    labels: tuple[str, ...]
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """One entry of a chunk index: what searches ask for, and `unit`, the packed value that ranking reads.

    `text` is the window's and `title` its document's; both None where the set has no lexical expert.
    """

    granularity: Granularity
    version: DocumentVersion
    first: int
    unit: bytes
    collection: str
    attributes: Attributes
    dense: StoredVector | None = None
    sparse: SparseVector | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ChunkId:
    """Identity of a chunk entry; engines derive their own ids from it."""

    granularity: Granularity
    version: DocumentVersion
    first: int


@dataclass(frozen=True, slots=True)
class BlockId:
    """Identity of a text block."""

    version: DocumentVersion
    number: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """Answer to one real-time read: what exists of the entries and blocks that were asked for."""

    entries: Mapping[DocumentHash, LedgerEntry]
    blocks: Mapping[BlockId, TextBlock]


@dataclass(frozen=True, slots=True)
class IndexSize:
    """Entries of an index, and the bytes it takes on disk."""

    entries: int
    bytes: int


class Selection(TypedDict, total=False):
    """Conditions on ledger entries, all of which they meet; times are seconds since the epoch.

    `retired_before`: some generation was retired before. `state`, `batch`, `collection`, `source`: as the entry has it.
    `held`: a run has its pending job. `sent_before`: its pending job is held by nobody, and was last sent before.
    """

    retired_before: float
    state: DocumentState
    batch: str
    collection: str
    source: str
    held: bool
    sent_before: float


class Engine(Protocol):
    """What a search engine must be able to do; the order of a write and of a read is decided above it.

    Errors: EngineUnreachable, EngineBusy, EngineError. Bulk methods return a reason for each id that failed and store
    the rest; they retry by themselves what is worth a retry.
    """

    def info(self) -> EngineInfo:
        """Return name, version and place of the engine."""
        ...

    def active_set(self) -> IndexSet | None:
        """Return the set that searches use, None if there is none yet."""
        ...

    def create_set(self, spec: SetSpec) -> IndexSet:
        """Create version 1 of the data and make it active; return the active set if another writer was first."""
        ...

    def sets(self) -> Sequence[StoredSet]:
        """Return all sets as they are at this moment, by version."""
        ...

    def build_set(self, spec: SetSpec) -> IndexSet:
        """Create a set beside the others, with a version that no set had before; the role is `building`."""
        ...

    def activate(self, index: IndexSet) -> None:
        """Make a set active and the one before previous, in one step; every search sees either the one or the other."""
        ...

    def seconds_to_follow(self) -> float:
        """Return how long a process may go on with the set that was active before, once another one is."""
        ...

    def drop_set(self, index: IndexSet) -> None:
        """Delete a set that is not active, with all its entries; what is gone already is no failure."""
        ...

    def hold(self, owner: str, seconds: float) -> str:
        """Take or renew the lease on changes of sets; return who has it for the time being."""
        ...

    def release(self, owner: str) -> None:
        """Give the lease back, if it is still this owner's."""
        ...

    def ranked_lists(self, index: IndexSet, query: EncodedQuery, *, depth: int, scope: Scope) -> Retrieval:
        """Ask every channel for its `depth` best windows, in one request; dense scores are cosines.

        The channels are those of `index.spec`, which may name fewer experts and granularities than the set has.
        """
        ...

    def fetch(self, index: IndexSet | None, documents: Sequence[DocumentHash], blocks: Sequence[BlockId]) -> Fetched:
        """Read ledger entries and text blocks as they are now, in one request; without a set there are no blocks."""
        ...

    def write_entries(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry | None]:
        """Write ledger entries, each only if its `token` is still the current one (None: if there is none yet).

        Returns each entry with its new token, None where somebody else changed it before.
        """
        ...

    def write_chunks(self, index: IndexSet, chunks: Iterable[Chunk]) -> Mapping[ChunkId, str]:
        """Write chunk entries, taken a batch at a time; return a reason for each that failed."""
        ...

    def write_blocks(self, index: IndexSet, blocks: Iterable[TextBlock]) -> Mapping[BlockId, str]:
        """Write text blocks; return a reason for each that failed."""
        ...

    def update_attributes(
        self, index: IndexSet, changes: Iterable[tuple[Sequence[ChunkId], Attributes]]
    ) -> Mapping[ChunkId, str]:
        """Replace the attributes on chunk entries of several documents; every expert must find them afterwards."""
        ...

    def delete(
        self, index: IndexSet, chunks: Sequence[ChunkId], blocks: Sequence[BlockId]
    ) -> Mapping[ChunkId | BlockId, str]:
        """Delete exactly these entries; one that is missing already is no failure."""
        ...

    def publish(self, index: IndexSet) -> None:
        """Make all earlier writes to the set durable and visible to searches."""
        ...

    def entries(self, **selection: Unpack[Selection]) -> Iterator[LedgerEntry]:
        """Go through the ledger: all entries, or those that meet the conditions."""
        ...

    def delete_entries(self, entries: Sequence[LedgerEntry]) -> int:
        """Delete ledger entries whose `token` is still the current one; return how many were."""
        ...

    def states(self, *, batch: str | None = None) -> Mapping[DocumentState, int]:
        """Count the ledger's documents by state: all of them, or those that a submission touched last."""
        ...

    def collections(self, most: int) -> Sequence[str]:
        """Return the names of collections that have documents, those with most documents first, `most` at most."""
        ...

    def sizes(self, index: IndexSet) -> Mapping[str, IndexSize]:
        """Return the size of each index of the set, by name."""
        ...

    def diagnose(self, wanted: SetSpec | None) -> Sequence[Finding]:
        """Check the engine and its indices without changing anything; what goes wrong is a finding, not an error.

        `wanted` is the specification that a new set would have; None where it is not known.
        """
        ...

    def close(self) -> None:
        """Release connections, files and locks."""
        ...
