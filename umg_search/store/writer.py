"""The write path: what is new replaces what is live, and no reader sees a hole or a mixture.

Order: name the generation in the ledger -> write chunks and text -> publish -> ledger says `live = N`, on condition
that nobody else changed the entry -> delete what is replaced. A crash at any point leaves the older generation live,
and the ledger names what is left over.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from umg_search.errors import IndexMismatch, SetDropped, WriteConflict
from umg_search.model import (
    Document,
    DocumentHash,
    DocumentKey,
    DocumentState,
    EncodedDocument,
    IndexSet,
    IngestReport,
    LedgerEntry,
    Outcome,
    SetRole,
    SetSpec,
    SetState,
    document_of,
    version_of,
)
from umg_search.ports import ChunkId, Engine
from umg_search.store import generations, ledger
from umg_search.store.attributes import attributes_of, misfit, unstorable
from umg_search.store.differences import differences
from umg_search.store.entries import ids_of
from umg_search.store.generations import Write
from umg_search.windows import window_count

GRACE_SECONDS = 60.0
"""How long replaced text stays readable for searches that began before; longer than any search."""

ATTEMPTS = 3
"""How often a write is begun anew after another writer was faster."""

CONFLICT = "Another writer changed the document at the same time: ingest it again."

DELETED = "It was deleted meanwhile: ingest it again."

_REBUILD = "run `umg index rebuild`, which builds a set with these settings beside it, then `umg index activate`"


Seen = Mapping[DocumentHash, LedgerEntry]
"""What the ledger said of documents at one moment; those that it did not know are missing."""

Reports = dict[DocumentKey, IngestReport]
Changing = tuple[Document, LedgerEntry]
"""A document whose title, metadata or ACL are to change, and its entry in the ledger."""


class Change(StrEnum):
    """What an ingest has to do for a document."""

    TEXT = "text"
    ATTRIBUTES = "attributes"
    NONE = "none"


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
        or ACL that another writer reported since then holds, and the document fails. IndexMismatch where another set,
        with another specification, became active meanwhile.
        """
        reports = {d.key: self.mark_failed(index, d, why) for d, why in _misfits(index, documents)}
        waiting = [encoded for encoded in documents if encoded.split.document.key not in reports]
        seen = self._entries(index, _keys(waiting)) if seen is None else seen
        for _ in range(ATTEMPTS):
            reports |= self._attempt(index, waiting, seen)
            waiting = [encoded for encoded in waiting if encoded.split.document.key not in reports]
            if not waiting:
                break
            index = self._followed(index)
            before, seen = seen, self._entries(index, _keys(waiting))
            waiting = [e for e in waiting if _still_wanted(e.split.document, before, seen)]
        lost = [e.split.document for e in documents if e.split.document.key not in reports]
        reports |= {document.key: failure(document, CONFLICT) for document in lost}
        return [reports[encoded.split.document.key] for encoded in documents]

    def update_attributes(
        self, index: IndexSet, documents: Sequence[Document], seen: Seen | None = None
    ) -> list[IngestReport]:
        """Store title, metadata and ACL of documents with distinct keys whose text is unchanged; nothing is encoded.

        One report a document, in their order. The ledger comes first: a revocation holds from that write on. A document
        fails where others are always faster, deleted it, or changed title, metadata or ACL since it was `seen`.
        """
        reports = {d.key: self.mark_failed(index, d, why) for d in documents if (why := misfit(d, index.spec))}
        lost, changing = self._set_attributes(index, [d for d in documents if d.key not in reports], seen)
        reports |= lost
        for _ in range(ATTEMPTS):
            if not changing:
                break
            failed = self._publish_attributes(index, [entry for _, entry in changing])
            reports |= {
                d.key: self.mark_failed(index, d, failed[e.document]) for d, e in changing if e.document in failed
            }
            settled, overtaken = self._settle_attributes([pair for pair in changing if pair[1].document not in failed])
            reports |= settled
            # Another writer's may have reached the chunks before ours: what the ledger says now goes there again.
            lost, changing = self._live(index, overtaken)
            reports |= lost
        reports |= {document.key: failure(document, CONFLICT) for document, _ in changing}
        return [reports[document.key] for document in documents]

    def delete(
        self,
        index: IndexSet,
        keys: Sequence[DocumentKey],
        *,
        refused: Callable[[DocumentKey, str], None] = lambda _key, _reason: None,
    ) -> list[bool]:
        """Delete documents from all sets; False for one that the ledger does not know. A tombstone remains.

        `refused` is told of each whose entries the engine keeps for now, and why: no search shows them, and a later
        sweep tries again.
        """
        return [self._delete(index, key, refused) for key in keys]

    def mark_failed(self, index: IndexSet, document: Document, reason: str) -> IngestReport:
        """Note in the ledger why a document could not be stored, unless that cannot be stored either.

        The text that was live stays.
        """
        if unstorable(document):
            return failure(document, reason)
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
        generations.clear(self._engine, self._sets_of(index, held), held, before=before)
        return len(held)

    def settle(self, index: IndexSet, document: DocumentHash) -> None:
        """Finish a change of attributes that a crash cut short: every chunk entry gets what the ledger says."""
        entry = self._engine.fetch(index, [document], []).entries[document]
        if not entry.attributes_fingerprint and not self._publish_attributes(index, [entry]):
            done = replace(entry, attributes_fingerprint=ledger.attributes_fingerprint(entry))
            self._engine.write_entries([done])

    # --- one attempt at a batch ---------------------------------------------------------------------------------

    def _attempt(
        self, index: IndexSet, documents: Sequence[EncodedDocument], entries: Mapping[DocumentHash, LedgerEntry]
    ) -> dict[DocumentKey, IngestReport]:
        """Return a report of each document that is settled; those that another writer got hold of are missing."""
        begun = self._begin(index, documents, entries)
        try:
            failed = generations.write(self._engine, index, begun)
        except SetDropped:  # what was begun went with it
            return {}
        whole = [write for write in begun if write.version not in failed]
        # Asked after the ledger named the write: whoever flips later sees the name, and fences or repeats the write.
        finished = self._finish(index, whole) if self._active(index) == index else {}
        generations.tidy(self._engine, index, begun, finished)
        reports = {w.document.key: stored(w, index) for w in begun if w.entry.document in finished}
        for write in begun:
            if write.version in failed:
                reports[write.document.key] = self.mark_failed(index, write.document, failed[write.version])
        return reports

    def _active(self, index: IndexSet) -> IndexSet:
        """Return the set that is active at this moment."""
        return next((stored.index for stored in self._engine.sets() if stored.role is SetRole.ACTIVE), index)

    def _followed(self, index: IndexSet) -> IndexSet:
        """Return the active set, which may have changed; IndexMismatch where the encodings are not for it."""
        active = self._active(index)
        check_same(active.spec, index.spec)
        return active

    def _begin(
        self, index: IndexSet, documents: Sequence[EncodedDocument], entries: Mapping[DocumentHash, LedgerEntry]
    ) -> list[Write]:
        """Name the new generations in the ledger, whose entries were just read."""
        before = [entries.get(e.split.document.key.hash) or ledger.blank(e.split.document.key) for e in documents]
        named = [
            ledger.begin(entry, encoded.split.document, index.label, encoded.split.sentences, self._clock())
            for entry, encoded in zip(before, documents, strict=True)
        ]
        accepted = self._engine.write_entries([entry for entry, _ in named])
        return [
            Write(encoded, entry, number, existed=old.in_set(index.label).live is not None)
            for encoded, old, entry, (_, number) in zip(documents, before, accepted, named, strict=True)
            if entry is not None
        ]

    def _finish(self, index: IndexSet, writes: Sequence[Write]) -> dict[DocumentHash, LedgerEntry]:
        """Make the new generations live; documents that another writer changed meanwhile are missing."""
        now = self._clock()
        entries = [ledger.finish(write.entry, write.document, index.label, write.number, now) for write in writes]
        return {entry.document: entry for entry in _present(self._engine.write_entries(entries))}

    # --- attributes ---------------------------------------------------------------------------------------------

    def _set_attributes(
        self, index: IndexSet, documents: Sequence[Document], seen: Seen | None = None
    ) -> tuple[Reports, list[Changing]]:
        """Write attributes into the ledger; return reports of documents that failed, and the entries of the others."""
        reports: Reports = {}
        changing: list[Changing] = []
        waiting = documents
        for _ in range(ATTEMPTS if documents else 0):
            lost, found = self._live(index, waiting)
            reports |= lost
            wanted = [(d, e) for d, e in found if seen is None or ledger.still_wanted(d, seen.get(e.document), e)]
            sets = self._sets_of(index, [entry for _, entry in wanted])
            written = self._engine.write_entries([self._with_attributes(sets, e, d) for d, e in wanted])
            changing += [(d, new) for (d, _), new in zip(wanted, written, strict=True) if new is not None]
            waiting = [d for (d, _), new in zip(wanted, written, strict=True) if new is None]
            if not waiting:
                break
        settled = {*reports, *(document.key for document, _ in changing)}
        return reports | {d.key: failure(d, CONFLICT) for d in documents if d.key not in settled}, changing

    def _live(self, index: IndexSet, documents: Sequence[Document]) -> tuple[Reports, list[Changing]]:
        """Return reports of documents that were deleted, and the entries of the others."""
        entries = self._entries(index, [document.key for document in documents]) if documents else {}
        found = [(d, entries[d.key.hash]) for d in documents if d.key.hash in entries]
        live = [(d, entry) for d, entry in found if entry.in_set(index.label).live is not None]
        keys = {document.key for document, _ in live}
        return {d.key: failure(d, DELETED) for d in documents if d.key not in keys}, live

    def _publish_attributes(self, index: IndexSet, entries: Sequence[LedgerEntry]) -> dict[DocumentHash, str]:
        """Give the chunk entries of documents, in every set, what the ledger says; return why, where that failed."""
        failed: dict[ChunkId, str] = {}
        for each in self._sets_of(index, entries).values():
            live = [(entry, generation) for entry in entries if (generation := entry.in_set(each.label).live)]
            if live:
                changes = (
                    (
                        ids_of(version_of(e.document, g.number), g.sentences, each.spec.granularities).chunks,
                        attributes_of(e, each.spec),
                    )
                    for e, g in live
                )
                failed |= self._engine.update_attributes(each, changes)
                self._engine.publish(each)
        return {
            document_of(chunk.version): f"{generations.name(chunk)}: {why}" for chunk, why in reversed(failed.items())
        }

    def _settle_attributes(self, changing: Sequence[Changing]) -> tuple[Reports, list[Document]]:
        """Note in the ledger that the chunk entries have them; return reports, and documents that changed meanwhile."""
        prints = [ledger.attributes_fingerprint(document) for document, _ in changing]
        done = [
            replace(e, attributes_fingerprint=own)
            if ledger.same_attributes(e, d) and e.attributes_fingerprint in {"", own}
            else e
            for (d, e), own in zip(changing, prints, strict=True)
        ]
        reports: Reports = {}
        for (d, _), own, new in zip(changing, prints, self._engine.write_entries(done), strict=True):
            if new is not None:
                mine = new.attributes_fingerprint == own
                updated = IngestReport(d.id, d.collection, Outcome.UPDATED)
                reports[d.key] = updated if mine else failure(d, CONFLICT)
        return reports, [document for document, _ in changing if document.key not in reports]

    def _with_attributes(self, sets: Mapping[str, IndexSet], entry: LedgerEntry, document: Document) -> LedgerEntry:
        """Return the entry with new attributes; a set beside this one that they do not fit loses the document.

        A rebuild then finds the document missing there, and tells why.
        """
        changed = ledger.with_attributes(entry, document, self._clock())
        for each in sets.values():
            if entry.in_set(each.label).live is not None and misfit(document, each.spec):
                changed = ledger.retire(changed, each.label, self._clock())
        return changed

    # --- single documents ---------------------------------------------------------------------------------------

    def _delete(self, index: IndexSet, key: DocumentKey, refused: Callable[[DocumentKey, str], None]) -> bool:
        for _ in range(ATTEMPTS):
            entry = self._entries(index, [key]).get(key.hash)
            if entry is None or entry.key is None:
                return False
            busy = {item.number for state in entry.sets.values() for item in ledger.unfinished(state)}
            tombstone = self._engine.write_entries([ledger.remove(entry, self._clock())])[0]
            if tombstone is not None:
                kept = generations.clear(self._engine, self._sets_of(index, [tombstone]), [tombstone], busy=busy)
                for reason in kept.values():
                    refused(key, reason)
                return True
        raise WriteConflict(f"Document {key.id!r} is being changed by another writer: delete it again.")

    def _sets_of(self, index: IndexSet, entries: Sequence[LedgerEntry]) -> Mapping[str, IndexSet]:
        return generations.sets_of(self._engine, index, entries)

    def _entries(self, index: IndexSet, keys: Sequence[DocumentKey]) -> Mapping[DocumentHash, LedgerEntry]:
        return self._engine.fetch(index, [key.hash for key in keys], []).entries


def check_same(stored: SetSpec, wanted: SetSpec, *, what: str = "index set", remedy: str = _REBUILD) -> None:
    """Raise IndexMismatch, naming both values of every field in which two specifications differ."""
    found = differences(stored, wanted)
    if found:
        raise IndexMismatch(f"The settings differ from the {what} ({found}): change the settings back, or {remedy}.")


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
    state = SetState() if entry is None else entry.in_set(label)
    if entry is None or state.live is None or state.text_fingerprint != ledger.text_fingerprint(document.text):
        return Change.TEXT
    same = entry.attributes_fingerprint == ledger.attributes_fingerprint(document)
    return Change.NONE if same and entry.state is DocumentState.SEARCHABLE else Change.ATTRIBUTES


def stored(write: Write, index: IndexSet) -> IngestReport:
    """Return the report of a document that was stored."""
    split = write.encoded.split
    return IngestReport(
        split.document.id,
        split.document.collection,
        Outcome.UPDATED if write.existed else Outcome.NEW,
        chunks=sum(window_count(split.sentences, granularity) for granularity in index.spec.granularities),
        tokens=sum(split.counts),
    )


def _present(entries: Iterable[LedgerEntry | None]) -> list[LedgerEntry]:
    return [entry for entry in entries if entry is not None]
