"""The write path: what is new replaces what is live, and no reader sees a hole or a mixture.

Order: name the generation in the ledger -> write chunks and text -> publish -> ledger says `live = N`, on condition
that nobody else changed the entry -> delete what is replaced. A crash at any point leaves the older generation live,
and the ledger names what is left over.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum, StrEnum

from umg_search.errors import DocumentNotFound, IndexMismatch, WriteConflict
from umg_search.model import (
    DeclaredField,
    Document,
    DocumentHash,
    DocumentKey,
    DocumentState,
    DocumentVersion,
    EncodedDocument,
    IndexSet,
    IngestReport,
    LedgerEntry,
    Outcome,
    Retired,
    SetSpec,
    version_of,
)
from umg_search.ports import BlockId, ChunkId, Engine
from umg_search.store import ledger
from umg_search.store.attributes import attributes_of, misfit
from umg_search.store.entries import Ids, blocks_of, chunks_of, ids_of
from umg_search.windows import window_count

GRACE_SECONDS = 60.0
"""How long replaced text stays readable for searches that began before; longer than any search."""

ATTEMPTS = 3
"""How often a write is begun anew after another writer was faster."""

CONFLICT = "Another writer changed the document at the same time: ingest it again."


Seen = Mapping[DocumentHash, LedgerEntry]
"""What the ledger said of documents at one moment; those that it did not know are missing."""


class Change(StrEnum):
    """What an ingest has to do for a document."""

    TEXT = "text"
    ATTRIBUTES = "attributes"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class _Write:
    """A new generation on its way: the ledger entry that names it, and whether an older one is live."""

    encoded: EncodedDocument
    entry: LedgerEntry
    number: int
    existed: bool

    @property
    def document(self) -> Document:
        return self.encoded.split.document

    @property
    def version(self) -> DocumentVersion:
        return version_of(self.entry.document, self.number)


class Writer:
    """Stores encoded documents in the active index set."""

    def __init__(self, engine: Engine, *, grace: float = GRACE_SECONDS, clock: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._grace = grace
        self._clock = clock

    def prepare(self, spec: SetSpec) -> IndexSet:
        """Return the active set, made if there is none; IndexMismatch where it differs from `spec`."""
        index = self._engine.active_set() or self._engine.create_set(spec)
        check_same(index.spec, spec)
        return index

    def seen(self, index: IndexSet, documents: Iterable[Document]) -> Seen:
        """Return what the ledger says of documents now, for a plan and for the writes that rest on it."""
        return self._entries(index, [document.key for document in documents])

    def plan(self, index: IndexSet, documents: Sequence[Document], seen: Seen | None = None) -> list[Change]:
        """Return what each document needs, by what was `seen` of it; without, from one read of the ledger."""
        entries = self.seen(index, documents) if seen is None else seen
        return [_change(entries.get(document.key.hash), document, index.label) for document in documents]

    def replace(
        self, index: IndexSet, documents: Sequence[EncodedDocument], seen: Seen | None = None
    ) -> list[IngestReport]:
        """Store new generations of documents with distinct keys; one report a document, in their order.

        A document that fails, in part or as a whole, keeps the generation that was live. `seen` is what the ledger
        said before the documents were encoded (without: what it says now). A deletion or a change of title, metadata
        or ACL that another writer reported since then holds, and the document fails.
        """
        reports = {d.key: self.mark_failed(index, d, why) for d, why in _misfits(index, documents)}
        waiting = [encoded for encoded in documents if encoded.split.document.key not in reports]
        seen = self._entries(index, _keys(waiting)) if seen is None else seen
        for _ in range(ATTEMPTS):
            reports |= self._attempt(index, waiting, seen)
            waiting = [encoded for encoded in waiting if encoded.split.document.key not in reports]
            if not waiting:
                break
            before, seen = seen, self._entries(index, _keys(waiting))
            waiting = [e for e in waiting if _still_wanted(e.split.document, before, seen)]
        lost = [e.split.document for e in documents if e.split.document.key not in reports]
        reports |= {document.key: failure(document, CONFLICT) for document in lost}
        return [reports[encoded.split.document.key] for encoded in documents]

    def update_attributes(self, index: IndexSet, document: Document, seen: Seen | None = None) -> IngestReport:
        """Store title, metadata and ACL of a document whose text is unchanged, without encoding anything.

        The ledger comes first: a revocation holds from that write on. WriteConflict where others are always faster, or
        changed title, metadata or ACL since the document was `seen`; DocumentNotFound where it was deleted meanwhile.
        """
        why = misfit(document, index.spec)
        if why:
            return self.mark_failed(index, document, why)
        entry = self._set_attributes(index, document, seen)
        for _ in range(ATTEMPTS):
            failed = self._publish_attributes(index, entry)
            if failed:
                return self.mark_failed(index, document, _first(failed))
            mine = ledger.same_attributes(entry, document) and not entry.attributes_fingerprint
            done = replace(entry, attributes_fingerprint=ledger.attributes_fingerprint(document)) if mine else entry
            if self._engine.write_entries([done]) != [None]:
                if mine:
                    return IngestReport(document.id, document.collection, Outcome.UPDATED)
                break
            # Another writer's may have reached the chunks before ours: what the ledger says now goes there again.
            entry = self._live_entry(index, document)
        raise WriteConflict(CONFLICT)

    def delete(self, index: IndexSet, keys: Sequence[DocumentKey]) -> list[bool]:
        """Delete documents; False for one that the ledger does not know. Nothing but a tombstone remains."""
        return [self._delete(index, key) for key in keys]

    def mark_failed(self, index: IndexSet, document: Document, reason: str) -> IngestReport:
        """Note in the ledger why a document could not be stored; the text that was live stays."""
        entry = self._entries(index, [document.key]).get(document.key.hash) or ledger.blank(document.key)
        self._engine.write_entries([ledger.fail(replace(entry, key=document.key), reason, self._clock())])
        return failure(document, reason)

    def sweep(self, index: IndexSet) -> int:
        """Delete what was replaced or left unfinished before the grace; return how many documents had any."""
        before = self._clock() - self._grace
        old = list(self._engine.entries(retired_before=before))
        if not old:
            return 0
        # The fence comes first: a writer that is still busy with such a generation must not make it live any more.
        held = _present(self._engine.write_entries([ledger.fence(entry, self._clock()) for entry in old]))
        self._clear(index, held, before=before)
        return len(held)

    # --- one attempt at a batch ---------------------------------------------------------------------------------

    def _attempt(
        self, index: IndexSet, documents: Sequence[EncodedDocument], entries: Mapping[DocumentHash, LedgerEntry]
    ) -> dict[DocumentKey, IngestReport]:
        """Return a report of each document that is settled; those that another writer got hold of are missing."""
        begun = self._begin(index, documents, entries)
        failed = self._write(index, begun)
        self._engine.publish(index)
        finished = self._finish(index, [write for write in begun if write.version not in failed])
        self._tidy(index, begun, finished)
        reports = {w.document.key: _stored(w, index) for w in begun if w.entry.document in finished}
        for write in begun:
            if write.version in failed:
                reports[write.document.key] = self.mark_failed(index, write.document, failed[write.version])
        return reports

    def _begin(
        self, index: IndexSet, documents: Sequence[EncodedDocument], entries: Mapping[DocumentHash, LedgerEntry]
    ) -> list[_Write]:
        """Name the new generations in the ledger, whose entries were just read."""
        before = [entries.get(e.split.document.key.hash) or ledger.blank(e.split.document.key) for e in documents]
        named = [
            ledger.begin(entry, encoded.split.document, index.label, encoded.split.sentences, self._clock())
            for entry, encoded in zip(before, documents, strict=True)
        ]
        accepted = self._engine.write_entries([entry for entry, _ in named])
        return [
            _Write(encoded, entry, number, existed=old.in_set(index.label).live is not None)
            for encoded, old, entry, (_, number) in zip(documents, before, accepted, named, strict=True)
            if entry is not None
        ]

    def _write(self, index: IndexSet, writes: Sequence[_Write]) -> dict[DocumentVersion, str]:
        """Write chunks and text; return a reason for each version that is incomplete."""
        chunks = (chunk for write in writes for chunk in chunks_of(write.encoded, write.version, index.spec))
        blocks = (block for write in writes for block in blocks_of(write.encoded.split, write.version))
        failed: list[tuple[ChunkId | BlockId, str]] = [
            *self._engine.write_blocks(index, blocks).items(),
            *self._engine.write_chunks(index, chunks).items(),
        ]
        return {part.version: f"{_name(part)}: {reason}" for part, reason in failed}

    def _finish(self, index: IndexSet, writes: Sequence[_Write]) -> dict[DocumentHash, LedgerEntry]:
        """Make the new generations live; documents that another writer changed meanwhile are missing."""
        now = self._clock()
        entries = [ledger.finish(write.entry, write.document, index.label, write.number, now) for write in writes]
        return {entry.document: entry for entry in _present(self._engine.write_entries(entries))}

    def _tidy(self, index: IndexSet, begun: Sequence[_Write], finished: Mapping[DocumentHash, LedgerEntry]) -> None:
        """Take what is replaced out of searches, and what failed out of everything.

        The text of the generation that was live stays for a while, for searches that began before; `sweep` deletes it.
        """
        chunks: list[ChunkId] = []
        blocks: list[BlockId] = []
        for write in begun:
            entry = finished.get(write.entry.document)
            own = Retired(write.number, write.encoded.split.sentences, 0)
            for retired in (own,) if entry is None else entry.in_set(index.label).retired:
                ids = _ids(write.entry.document, retired, index)
                chunks += ids.chunks
                blocks += ids.blocks if entry is None else []
        if chunks:
            self._engine.delete(index, chunks, blocks)
            self._engine.publish(index)

    # --- single documents ---------------------------------------------------------------------------------------

    def _publish_attributes(self, index: IndexSet, entry: LedgerEntry) -> Mapping[ChunkId, str]:
        """Give the chunk entries of a document the attributes of its ledger entry."""
        live = entry.in_set(index.label).live
        if live is None:
            return {}
        version = version_of(entry.document, live.number)
        chunks = ids_of(version, live.sentences, index.spec.granularities).chunks
        failed = self._engine.update_attributes(index, chunks, attributes_of(entry, index.spec))
        self._engine.publish(index)
        return failed

    def _live_entry(self, index: IndexSet, document: Document) -> LedgerEntry:
        entry = self._entries(index, [document.key]).get(document.key.hash)
        if entry is None or entry.in_set(index.label).live is None:
            raise DocumentNotFound(f"Document {document.id!r} was deleted meanwhile: ingest it again.")
        return entry

    def _set_attributes(self, index: IndexSet, document: Document, seen: Seen | None = None) -> LedgerEntry:
        for _ in range(ATTEMPTS):
            entry = self._live_entry(index, document)
            if seen is not None and not ledger.still_wanted(document, seen.get(entry.document), entry):
                break
            written = self._engine.write_entries([ledger.with_attributes(entry, document, self._clock())])[0]
            if written is not None:
                return written
        raise WriteConflict(CONFLICT)

    def _delete(self, index: IndexSet, key: DocumentKey) -> bool:
        for _ in range(ATTEMPTS):
            entry = self._entries(index, [key]).get(key.hash)
            if entry is None or entry.key is None:
                return False
            tombstone = self._engine.write_entries([ledger.remove(entry, self._clock())])[0]
            if tombstone is not None:
                self._clear(index, [tombstone])
                return True
        raise WriteConflict(f"Document {key.id!r} is being changed by another writer: delete it again.")

    def _clear(self, index: IndexSet, entries: Sequence[LedgerEntry], *, before: float = float("inf")) -> None:
        """Delete retired generations of before a time, and let the ledger forget those that are gone."""
        gone = [(e, [r for r in e.in_set(index.label).retired if r.since <= before]) for e in entries]
        ids = [_ids(entry.document, retired, index) for entry, items in gone for retired in items]
        failed = self._engine.delete(
            index, [chunk for item in ids for chunk in item.chunks], [block for item in ids for block in item.blocks]
        )
        self._engine.publish(index)
        kept = {part.version for part in failed}
        self._engine.write_entries(
            [ledger.forget(entry, index.label, _numbers(entry.document, items, kept)) for entry, items in gone if items]
        )

    def _entries(self, index: IndexSet, keys: Sequence[DocumentKey]) -> Mapping[DocumentHash, LedgerEntry]:
        return self._engine.fetch(index, [key.hash for key in keys], []).entries


def check_same(stored: SetSpec, wanted: SetSpec) -> None:
    """Raise IndexMismatch, naming both values of every field in which two specifications differ."""
    differences = [
        f"{field.name}: the index has {_shown(getattr(stored, field.name))}, "
        f"the settings say {_shown(getattr(wanted, field.name))}"
        for field in fields(SetSpec)
        if getattr(stored, field.name) != getattr(wanted, field.name)
    ]
    if differences:
        raise IndexMismatch(
            f"The settings differ from the index set ({'; '.join(differences)}): "
            "change the settings back, or ingest into a new set, under another UMG_PREFIX on a server "
            "or in another folder of the embedded engine."
        )


def _shown(value: object) -> str:
    if isinstance(value, tuple) and not isinstance(value, DeclaredField):
        return ", ".join(_shown(part) for part in value) or "none"
    if is_dataclass(value):
        return ", ".join(f"{field.name} {_shown(getattr(value, field.name)) or 'none'}" for field in fields(value))
    return "none" if value is None else str(value.value if isinstance(value, Enum) else value)


def failure(document: Document, reason: str) -> IngestReport:
    """Return the report of a document that could not be stored."""
    return IngestReport(document.id, document.collection, Outcome.FAILED, reason=reason)


def _still_wanted(document: Document, before: Seen, now: Seen) -> bool:
    return ledger.still_wanted(document, before.get(document.key.hash), now.get(document.key.hash))


def _misfits(index: IndexSet, documents: Iterable[EncodedDocument]) -> Iterator[tuple[Document, str]]:
    for encoded in documents:
        why = misfit(encoded.split.document, index.spec)
        if why:
            yield encoded.split.document, why


def _keys(documents: Iterable[EncodedDocument]) -> list[DocumentKey]:
    return [encoded.split.document.key for encoded in documents]


def _change(entry: LedgerEntry | None, document: Document, label: str) -> Change:
    if entry is None or entry.in_set(label).live is None:
        return Change.TEXT
    if entry.text_fingerprint != ledger.text_fingerprint(document.text):
        return Change.TEXT
    same = entry.attributes_fingerprint == ledger.attributes_fingerprint(document)
    return Change.NONE if same and entry.state is DocumentState.SEARCHABLE else Change.ATTRIBUTES


def _stored(write: _Write, index: IndexSet) -> IngestReport:
    split = write.encoded.split
    return IngestReport(
        split.document.id,
        split.document.collection,
        Outcome.UPDATED if write.existed else Outcome.NEW,
        chunks=sum(window_count(split.sentences, granularity) for granularity in index.spec.granularities),
        tokens=sum(split.counts),
    )


def _ids(document: DocumentHash, retired: Retired, index: IndexSet) -> Ids:
    return ids_of(version_of(document, retired.number), retired.sentences, index.spec.granularities)


def _numbers(document: DocumentHash, items: Iterable[Retired], kept: set[DocumentVersion]) -> frozenset[int]:
    return frozenset(item.number for item in items if version_of(document, item.number) not in kept)


def _present(entries: Iterable[LedgerEntry | None]) -> list[LedgerEntry]:
    return [entry for entry in entries if entry is not None]


def _name(part: ChunkId | BlockId) -> str:
    if isinstance(part, ChunkId):
        return f"chunk {part.granularity.label} from sentence {part.first}"
    return f"text block {part.number}"


def _first(failed: Mapping[ChunkId, str]) -> str:
    chunk, reason = next(iter(failed.items()))
    return f"{_name(chunk)}: {reason}"
