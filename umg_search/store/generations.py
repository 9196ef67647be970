"""Generations of documents in index sets: written whole, taken out of searches, and erased by exact ids."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from umg_search.model import (
    BLOCK_SENTENCES,
    Document,
    DocumentHash,
    DocumentVersion,
    EncodedDocument,
    IndexSet,
    LedgerEntry,
    Retired,
    document_of,
    version_of,
)
from umg_search.ports import BlockId, ChunkId, Engine
from umg_search.store import ledger
from umg_search.store.entries import Ids, blocks_of, chunks_of, ids_of


@dataclass(frozen=True, slots=True)
class Write:
    """A new generation on its way: the ledger entry that names it, and whether an older one is live.

    Jobs up to the number `job` are settled by it.
    """

    encoded: EncodedDocument
    entry: LedgerEntry
    number: int
    existed: bool
    job: int = 0

    @property
    def document(self) -> Document:
        """The document as it will be stored."""
        return self.encoded.split.document

    @property
    def version(self) -> DocumentVersion:
        """The version that the generation makes."""
        return version_of(self.entry.document, self.number)


def write(engine: Engine, index: IndexSet, writes: Sequence[Write]) -> dict[DocumentVersion, str]:
    """Write and publish chunks and text; return a reason for each version that is incomplete."""
    chunks = (chunk for item in writes for chunk in chunks_of(item.encoded, item.version, index.spec))
    blocks = (block for item in writes for block in blocks_of(item.encoded.split, item.version))
    failed: list[tuple[ChunkId | BlockId, str]] = [
        *engine.write_blocks(index, blocks).items(),
        *engine.write_chunks(index, chunks).items(),
    ]
    engine.publish(index)
    return {part.version: f"{name(part)}: {reason}" for part, reason in failed}


def tidy(engine: Engine, index: IndexSet, begun: Sequence[Write], finished: Mapping[DocumentHash, LedgerEntry]) -> None:
    """Take what is replaced out of searches, and what failed out of everything.

    The text of the generation that was live stays for a while, for searches that began before; a sweep deletes it.
    """
    chunks: list[ChunkId] = []
    blocks: list[BlockId] = []
    for item in begun:
        entry = finished.get(item.entry.document)
        own = Retired(item.number, item.encoded.split.sentences, 0)
        for retired in (own,) if entry is None else entry.in_set(index.label).retired:
            ids = _ids(item.entry.document, retired, index)
            chunks += ids.chunks
            blocks += ids.blocks if entry is None else []
    if chunks:
        engine.delete(index, chunks, blocks)
        engine.publish(index)


def sets_of(engine: Engine, index: IndexSet | None, entries: Iterable[LedgerEntry]) -> Mapping[str, IndexSet]:
    """Return the sets that hold something of documents, by label; a set that was dropped meanwhile is missing.

    `index` is a set that the caller knows of (None: of none): where no other is concerned, the engine is not asked.
    """
    if index is not None and {label for entry in entries for label in entry.sets} <= {index.label}:
        return {index.label: index}
    return {stored.index.label: stored.index for stored in engine.sets()}


def clear(
    engine: Engine,
    sets: Mapping[str, IndexSet],
    entries: Sequence[LedgerEntry],
    *,
    before: float = float("inf"),
    busy: Collection[int] = (),
) -> dict[DocumentHash, str]:
    """Delete retired generations of before a time from every set, and let the ledger forget those that are gone.

    Return a reason for each document that the engine keeps entries of, which the ledger remembers for a later sweep.
    `busy` are generations that somebody may still be writing: deleted too, but remembered for a later sweep.
    """
    kept: dict[DocumentVersion, str] = {}
    for label, index in sets.items():
        old = [(entry, item) for entry in entries for item in _before(entry, label, before)]
        if old:
            ids = [_ids(entry.document, item, index) for entry, item in old]
            failed = engine.delete(index, [c for item in ids for c in item.chunks], [b for i in ids for b in i.blocks])
            engine.publish(index)
            kept |= {part.version: f"{name(part)}: {reason}" for part, reason in failed.items()}
    forgotten = [ledger.forget(entry, _gone(entry, before, kept), busy=busy) for entry in entries]
    engine.write_entries([new for new, entry in zip(forgotten, entries, strict=True) if new != entry])
    return {document_of(version): reason for version, reason in kept.items()}


def name(part: ChunkId | BlockId) -> str:
    """Return what a reason calls a chunk or a block; people count sentences from 1."""
    if isinstance(part, ChunkId):
        return f"chunk {part.granularity.label} from sentence {part.first + 1}"
    return f"text block from sentence {part.number * BLOCK_SENTENCES + 1}"


def _before(entry: LedgerEntry, label: str, before: float) -> list[Retired]:
    return [item for item in entry.in_set(label).retired if item.since <= before]


def _gone(entry: LedgerEntry, before: float, kept: Collection[DocumentVersion]) -> set[int]:
    old = [item for label in entry.sets for item in _before(entry, label, before)]
    return {item.number for item in old if version_of(entry.document, item.number) not in kept}


def _ids(document: DocumentHash, retired: Retired, index: IndexSet) -> Ids:
    return ids_of(version_of(document, retired.number), retired.sentences, index.spec.granularities)
