"""The write path: what is new replaces what is live, and no reader sees a hole or a mixture.

Order: name the generation in the ledger -> write chunks and text -> publish -> ledger says `live = N`, on condition
that nobody else changed the entry -> delete what is replaced. A crash at any point leaves the older generation live,
and the ledger names what is left over.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum

from umg_search.errors import DocumentNotFound, IndexMismatch, WriteConflict
from umg_search.model import (
    DeclaredField,
    Document,
    DocumentHash,
    DocumentKey,
    EncodedDocument,
    Failure,
    IndexSet,
    IngestReport,
    LedgerEntry,
    Outcome,
    SetRole,
    SetSpec,
    Stage,
    version_of,
)
from umg_search.ports import ChunkId, Engine, Queue
from umg_search.store import generations, ledger
from umg_search.store.attributes import attributes_of, misfit
from umg_search.store.entries import ids_of
from umg_search.store.generations import Write
from umg_search.store.jobs import held_by, text_key
from umg_search.store.plans import Change, Seen, change_of, is_held, is_live, job_of, jobs_of, still_wanted
from umg_search.windows import window_count

GRACE_SECONDS = 60.0
"""How long replaced text stays readable for searches that began before; longer than any search."""

ATTEMPTS = 3
"""How often a write is begun anew after another writer was faster."""

CONFLICT = "Another writer changed the document at the same time: ingest it again."

_REBUILD = "run `umg index rebuild`, which builds a set with these settings beside it, then `umg index activate`"


class Writer:
    """Stores encoded documents in the active index set.

    Where a `run` is named, each document's pending job is in its hands, and every write is on condition of that; the
    document fails where the job was superseded, cancelled, or taken by another run. Without one, jobs that were known
    when the documents were `seen` are superseded by the write.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        grace: float = GRACE_SECONDS,
        queue: Queue | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`queue` is where texts of deleted documents may wait, None if none do."""
        self._engine = engine
        self._queue = queue
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
        return [change_of(entries.get(document.key.hash), document, index.label) for document in documents]

    def replace(
        self, index: IndexSet, documents: Sequence[EncodedDocument], seen: Seen | None = None, *, run: str = ""
    ) -> list[IngestReport]:
        """Store new generations of documents with distinct keys; one report a document, in their order.

        A document that fails, in part or as a whole, keeps the generation that was live. `seen` is what the ledger
        said before the documents were encoded (without: what it says now). A deletion or a change of title, metadata
        or ACL that another writer reported since then holds, and the document fails. IndexMismatch where another set,
        with another specification, became active meanwhile.
        """
        reports = _by_key(self.mark_failed(index, list(_misfits(index, documents)), run=run))
        waiting = [encoded for encoded in documents if encoded.split.document.key not in reports]
        seen = self._entries(index, _keys(waiting)) if seen is None else seen
        jobs = jobs_of(seen)
        waiting = [e for e in waiting if is_held(e.split.document, seen, run)]
        for _ in range(ATTEMPTS):
            reports |= self._attempt(index, waiting, seen, jobs, run)
            waiting = [encoded for encoded in waiting if encoded.split.document.key not in reports]
            if not waiting:
                break
            index = self._followed(index)
            before, seen = seen, self._entries(index, _keys(waiting))
            waiting = [e for e in waiting if still_wanted(e.split.document, before, seen, run)]
        lost = [e.split.document for e in documents if e.split.document.key not in reports]
        reports |= {document.key: failure(document, CONFLICT) for document in lost}
        return [reports[encoded.split.document.key] for encoded in documents]

    def update_attributes(
        self, index: IndexSet, document: Document, seen: Seen | None = None, *, run: str = ""
    ) -> IngestReport:
        """Store title, metadata and ACL of a document whose text is unchanged, without encoding anything.

        The ledger comes first: a revocation holds from that write on. WriteConflict where others are always faster, or
        changed title, metadata or ACL since the document was `seen`; DocumentNotFound where it was deleted meanwhile.
        """
        why = misfit(document, index.spec)
        if why:
            return self.mark_failed(index, [(document, Failure(why, Stage.WRITING))], run=run)[0]
        entry = self._set_attributes(index, document, seen, run)
        job = jobs_of(seen).get(entry.document, 0) if seen is not None else job_of(entry)
        for _ in range(ATTEMPTS):
            failed = self._publish_attributes(index, entry)
            if failed:
                return self.mark_failed(index, [(document, Failure(_first(failed), Stage.WRITING))], run=run)[0]
            fingerprint = ledger.attributes_fingerprint(document)
            mine = ledger.same_attributes(entry, document) and entry.attributes_fingerprint in {"", fingerprint}
            mine = mine and (not run or held_by(entry, run))
            settled = ledger.settle(replace(entry, attributes_fingerprint=fingerprint), self._clock(), job=job)
            done = settled if mine else entry
            if self._engine.write_entries([done]) != [None]:
                if mine:
                    return IngestReport(document.id, document.collection, Outcome.UPDATED)
                break
            # Another writer's may have reached the chunks before ours: what the ledger says now goes there again.
            entry = self._live_entry(index, document)
        raise WriteConflict(CONFLICT)

    def delete(self, index: IndexSet | None, keys: Sequence[DocumentKey]) -> list[bool]:
        """Delete documents from all sets; False for one that the ledger does not know. A tombstone remains."""
        return [self._delete(index, key) for key in keys]

    def confirm(
        self, index: IndexSet, documents: Sequence[Document], seen: Seen | None = None, *, run: str = ""
    ) -> list[IngestReport]:
        """Note in the ledger that what is live of documents is what they are to be; one report a document."""
        entries = self.seen(index, documents) if seen is None else seen
        jobs = jobs_of(entries)
        waiting = {document.key.hash: document for document in documents}
        for _ in range(ATTEMPTS):
            fit = [
                entries[key] for key, d in waiting.items() if is_held(d, entries, run) and is_live(d, entries, index)
            ]
            settled = [ledger.settle(entry, self._clock(), job=jobs.get(entry.document, 0)) for entry in fit]
            for entry in _present(self._engine.write_entries(settled)):
                del waiting[entry.document]
            if not waiting:
                break
            entries = self.seen(index, list(waiting.values()))
        return [
            failure(d, CONFLICT) if d.key.hash in waiting else IngestReport(d.id, d.collection, Outcome.UNCHANGED)
            for d in documents
        ]

    def mark_failed(
        self, index: IndexSet | None, failures: Sequence[tuple[Document, Failure]], *, run: str = ""
    ) -> list[IngestReport]:
        """Note in the ledger why documents could not be stored; the text that was live stays.

        So does a job that waits or that somebody else has: it is for another text.
        """
        waiting = {document.key.hash: (document, why) for document, why in failures}
        for _ in range(ATTEMPTS):
            if not waiting:
                break
            entries = self._entries(index, [document.key for document, _ in waiting.values()])
            before = {key: entries.get(key) or ledger.blank(document.key) for key, (document, _) in waiting.items()}
            mine = [key for key, entry in before.items() if (held_by(entry, run) if run else not entry.pending)]
            failed = [
                ledger.fail(replace(before[key], key=waiting[key][0].key), waiting[key][1], self._clock())
                for key in mine
            ]
            written = self._engine.write_entries(failed)
            waiting = {key: waiting[key] for key, entry in zip(mine, written, strict=True) if entry is None}
        return [failure(document, why.reason) for document, why in failures]

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
        if not entry.attributes_fingerprint and not self._publish_attributes(index, entry):
            done = replace(entry, attributes_fingerprint=ledger.attributes_fingerprint(entry))
            self._engine.write_entries([done])

    # --- one attempt at a batch ---------------------------------------------------------------------------------

    def _attempt(
        self,
        index: IndexSet,
        documents: Sequence[EncodedDocument],
        entries: Seen,
        jobs: Mapping[DocumentHash, int],
        run: str,
    ) -> dict[DocumentKey, IngestReport]:
        """Return a report of each document that is settled; those that another writer got hold of are missing."""
        begun = [replace(w, job=jobs.get(w.entry.document, 0)) for w in self._begin(index, documents, entries)]
        if self._active(index) != index:  # it may be dropped by now, and a server would make its indices anew
            return {}
        failed = generations.write(self._engine, index, begun)
        whole = [write for write in begun if write.version not in failed]
        # Asked after the ledger named the write: whoever flips later sees the name, and fences or repeats the write.
        finished = self._finish(index, whole) if self._active(index) == index else {}
        generations.tidy(self._engine, index, begun, finished)
        reports = {w.document.key: stored(w, index) for w in begun if w.entry.document in finished}
        broken = [(w.document, Failure(failed[w.version], Stage.WRITING)) for w in begun if w.version in failed]
        return reports | _by_key(self.mark_failed(index, broken, run=run))

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
        entries = [ledger.finish(w.entry, w.document, index.label, w.number, now, job=w.job) for w in writes]
        return {entry.document: entry for entry in _present(self._engine.write_entries(entries))}

    # --- single documents ---------------------------------------------------------------------------------------

    def _publish_attributes(self, index: IndexSet, entry: LedgerEntry) -> Mapping[ChunkId, str]:
        """Give the chunk entries of a document, in every set, the attributes of its ledger entry."""
        failed: dict[ChunkId, str] = {}
        for each in self._sets_of(index, [entry]).values():
            live = entry.in_set(each.label).live
            if live is not None:
                version = version_of(entry.document, live.number)
                chunks = ids_of(version, live.sentences, each.spec.granularities).chunks
                failed |= self._engine.update_attributes(each, chunks, attributes_of(entry, each.spec))
                self._engine.publish(each)
        return failed

    def _live_entry(self, index: IndexSet, document: Document) -> LedgerEntry:
        entry = self._entries(index, [document.key]).get(document.key.hash)
        if entry is None or entry.in_set(index.label).live is None:
            raise DocumentNotFound(f"Document {document.id!r} was deleted meanwhile: ingest it again.")
        return entry

    def _set_attributes(
        self, index: IndexSet, document: Document, seen: Seen | None = None, run: str = ""
    ) -> LedgerEntry:
        for _ in range(ATTEMPTS):
            entry = self._live_entry(index, document)
            if seen is not None and not ledger.still_wanted(document, seen.get(entry.document), entry):
                break
            if run and not held_by(entry, run):
                break
            written = self._engine.write_entries([self._with_attributes(index, entry, document)])[0]
            if written is not None:
                return written
        raise WriteConflict(CONFLICT)

    def _with_attributes(self, index: IndexSet, entry: LedgerEntry, document: Document) -> LedgerEntry:
        """Return the entry with new attributes; a set beside this one that they do not fit loses the document.

        A rebuild then finds the document missing there, and tells why.
        """
        changed = ledger.with_attributes(entry, document, self._clock())
        for each in self._sets_of(index, [entry]).values():
            if entry.in_set(each.label).live is not None and misfit(document, each.spec):
                changed = ledger.retire(changed, each.label, self._clock())
        return changed

    def _delete(self, index: IndexSet | None, key: DocumentKey) -> bool:
        for _ in range(ATTEMPTS):
            entry = self._entries(index, [key]).get(key.hash)
            if entry is None or entry.key is None:
                return False
            busy = {item.number for state in entry.sets.values() for item in ledger.unfinished(state)}
            tombstone = self._engine.write_entries([ledger.remove(entry, self._clock())])[0]
            if tombstone is not None:
                if self._queue is not None and entry.job is not None:
                    self._queue.delete_texts([text_key(entry, entry.job)])
                generations.clear(self._engine, self._sets_of(index, [tombstone]), [tombstone], busy=busy)
                return True
        raise WriteConflict(f"Document {key.id!r} is being changed by another writer: delete it again.")

    def _sets_of(self, index: IndexSet | None, entries: Sequence[LedgerEntry]) -> Mapping[str, IndexSet]:
        return generations.sets_of(self._engine, index, entries)

    def _entries(self, index: IndexSet | None, keys: Sequence[DocumentKey]) -> Mapping[DocumentHash, LedgerEntry]:
        return self._engine.fetch(index, [key.hash for key in keys], []).entries


def check_same(stored: SetSpec, wanted: SetSpec, *, what: str = "index set", remedy: str = _REBUILD) -> None:
    """Raise IndexMismatch, naming both values of every field in which two specifications differ."""
    differences = [
        f"{field.name}: the index has {_shown(getattr(stored, field.name))}, "
        f"the settings say {_shown(getattr(wanted, field.name))}"
        for field in fields(SetSpec)
        if getattr(stored, field.name) != getattr(wanted, field.name)
    ]
    if differences:
        raise IndexMismatch(
            f"The settings differ from the {what} ({'; '.join(differences)}): change the settings back, or {remedy}."
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


def _by_key(reports: Iterable[IngestReport]) -> dict[DocumentKey, IngestReport]:
    return {DocumentKey(report.collection, report.document_id): report for report in reports}


def _misfits(index: IndexSet, documents: Iterable[EncodedDocument]) -> Iterator[tuple[Document, Failure]]:
    for encoded in documents:
        why = misfit(encoded.split.document, index.spec)
        if why:
            yield encoded.split.document, Failure(why, Stage.WRITING)


def _keys(documents: Iterable[EncodedDocument]) -> list[DocumentKey]:
    return [encoded.split.document.key for encoded in documents]


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


def _first(failed: Mapping[ChunkId, str]) -> str:
    chunk, reason = next(iter(failed.items()))
    return f"{generations.name(chunk)}: {reason}"
