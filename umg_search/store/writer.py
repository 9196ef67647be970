"""The write path: what is new replaces what is live, and no reader sees a hole or a mixture.

Order: name the generation in the ledger -> write chunks and text -> publish -> ledger says `live = N`, on condition
that nobody else changed the entry -> delete what is replaced. A crash at any point leaves the older generation live,
and the ledger names what is left over.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from umg_search.errors import IndexMismatch, SetDropped, WriteConflict
from umg_search.model import (
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
)
from umg_search.ports import Engine, Queue
from umg_search.store import generations, ledger
from umg_search.store.attribute_changes import ATTEMPTS, AttributeChanges
from umg_search.store.attributes import misfit, unstorable
from umg_search.store.differences import differences
from umg_search.store.generations import Write
from umg_search.store.jobs import held_by, text_key
from umg_search.store.plans import Change, Seen, change_of, is_held, is_live, job_of, jobs_of, still_wanted
from umg_search.store.reports import CONFLICT, by_key, failure, stored

GRACE_SECONDS = 60.0
"""How long replaced text stays readable for searches that began before; longer than any search."""

UNFINISHED_GRACES = 60
"""After so many graces a write that nobody holds a lease for counts as abandoned: an hour by default.

A batch of large documents is written for longer than one grace, and its writer may be any process.
"""

_PAGE = 500

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
        self._attributes = AttributeChanges(engine, clock)
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
        reports = by_key(self.mark_failed(index, list(_misfits(index, documents)), seen, run=run))
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
        self, index: IndexSet, documents: Sequence[Document], seen: Seen | None = None, *, run: str = ""
    ) -> list[IngestReport]:
        """Store title, metadata and ACL of documents with distinct keys whose text is unchanged; nothing is encoded.

        One report a document, in their order. The ledger comes first: a revocation holds from that write on. A document
        fails where others are always faster, deleted it, or changed title, metadata or ACL since it was `seen`.
        """
        wrong = [(d, Failure(why, Stage.WRITING)) for d in documents if (why := misfit(d, index.spec))]
        reports = by_key(self.mark_failed(index, wrong, seen, run=run))
        lost, changing = self._attributes.write(index, [d for d in documents if d.key not in reports], seen, run)
        reports |= lost
        jobs = {entry.document: job_of(entry) for _, entry in changing} if seen is None else jobs_of(seen)
        for _ in range(ATTEMPTS):
            if not changing:
                break
            failed = self._attributes.publish(index, [entry for _, entry in changing])
            broken = [(d, Failure(failed[e.document], Stage.WRITING)) for d, e in changing if e.document in failed]
            reports |= by_key(self.mark_failed(index, broken, {e.document: e for _, e in changing}, run=run))
            whole = [(d, e) for d, e in changing if e.document not in failed]
            settled, overtaken = self._attributes.settle(whole, jobs, run)
            reports |= settled
            # Another writer's may have reached the chunks before ours: what the ledger says now goes there again.
            lost, changing = self._attributes.live(index, overtaken)
            reports |= lost
        reports |= {document.key: failure(document, CONFLICT) for document, _ in changing}
        return [reports[document.key] for document in documents]

    def delete(
        self,
        index: IndexSet | None,
        keys: Sequence[DocumentKey],
        *,
        refused: Callable[[DocumentKey, str], None] = lambda _key, _reason: None,
    ) -> list[bool]:
        """Delete documents from all sets; False for one that the ledger does not know. A tombstone remains.

        `refused` is told of each whose entries the engine keeps for now, and why: no search shows them, and a later
        sweep tries again.
        """
        return [self._delete(index, key, refused) for key in keys]

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
        self,
        index: IndexSet | None,
        failures: Sequence[tuple[Document, Failure]],
        seen: Seen | None = None,
        *,
        run: str = "",
    ) -> list[IngestReport]:
        """Note in the ledger why documents could not be stored, except of those that it could not store either.

        The text that was live stays. So does a job that waits or that somebody else has: it is for another text. One
        that failed goes, where a later text failed without a job. A document that was deleted since it was `seen`
        stays deleted.
        """
        waiting = {document.key.hash: (document, why) for document, why in failures if not unstorable(document)}
        for _ in range(ATTEMPTS):
            if not waiting:
                break
            entries = self._entries(index, [document.key for document, _ in waiting.values()])
            if seen is not None:
                gone = [key for key in waiting if ledger.deleted_since(seen.get(key), entries.get(key))]
                waiting = {key: item for key, item in waiting.items() if key not in gone}
            before = {key: entries.get(key) or ledger.blank(document.key) for key, (document, _) in waiting.items()}
            mine = [key for key, entry in before.items() if (held_by(entry, run) if run else not entry.pending)]
            # Without a run the document came directly, after the one whose job had failed: that is not tried again.
            kept = {key: before[key].job if run else None for key in mine}
            failed = [
                ledger.fail(
                    replace(before[key], key=waiting[key][0].key, job=kept[key]), waiting[key][1], self._clock()
                )
                for key in mine
            ]
            written = self._engine.write_entries(failed)
            waiting = {key: waiting[key] for key, entry in zip(mine, written, strict=True) if entry is None}
        return [failure(document, why.reason) for document, why in failures]

    def sweep(self, index: IndexSet) -> int:
        """Delete what was replaced or left unfinished before the grace; return how many documents had any.

        Documents that somebody is writing are left for a later sweep: a large one is written for longer than the grace,
        and would never be done.
        """
        before = self._clock() - self._grace
        old = (entry for entry in self._engine.entries(retired_before=before) if not self._is_being_written(entry))
        count = 0
        while page := list(islice(old, _PAGE)):
            # The fence comes first: a writer that is still busy with such a generation must not make it live any more.
            held = _present(self._engine.write_entries([ledger.fence(entry, self._clock()) for entry in page]))
            generations.clear(self._engine, self._sets_of(index, held), held, before=before)
            count += len(held)
        return count

    def settle(self, index: IndexSet, document: DocumentHash) -> None:
        """Finish a change of attributes that a crash cut short: every chunk entry gets what the ledger says."""
        entry = self._engine.fetch(index, [document], []).entries[document]
        if not entry.attributes_fingerprint and not self._attributes.publish(index, [entry]):
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
        try:
            failed = generations.write(self._engine, index, begun)
        except SetDropped:  # what was begun went with it
            return {}
        whole = [write for write in begun if write.version not in failed]
        # Asked after the ledger named the write: whoever flips later sees the name, and fences or repeats the write.
        finished = self._finish(index, whole) if self._active(index) == index else {}
        generations.tidy(self._engine, index, begun, finished)
        reports = {w.document.key: stored(w, index) for w in begun if w.entry.document in finished}
        broken = [(w.document, Failure(failed[w.version], Stage.WRITING)) for w in begun if w.version in failed]
        return reports | by_key(self.mark_failed(index, broken, entries, run=run))

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

    def _delete(self, index: IndexSet | None, key: DocumentKey, refused: Callable[[DocumentKey, str], None]) -> bool:
        for _ in range(ATTEMPTS):
            entry = self._entries(index, [key]).get(key.hash)
            if entry is None or entry.key is None:
                return False
            busy = {item.number for state in entry.sets.values() for item in ledger.unfinished(state)}
            tombstone = self._engine.write_entries([ledger.remove(entry, self._clock())])[0]
            if tombstone is not None:
                if self._queue is not None and entry.job is not None:
                    self._queue.delete_texts([text_key(entry, entry.job)])
                kept = generations.clear(self._engine, self._sets_of(index, [tombstone]), [tombstone], busy=busy)
                for reason in kept.values():
                    refused(key, reason)
                return True
        raise WriteConflict(f"Document {key.id!r} is being changed by another writer: delete it again.")

    def _is_being_written(self, entry: LedgerEntry) -> bool:
        """Tell whether a run has the document's job, or a write without one may be going on."""
        if entry.key is None:
            return False
        begun = [item.since for state in entry.sets.values() for item in ledger.unfinished(state)]
        recent = self._clock() - UNFINISHED_GRACES * self._grace
        return bool(entry.pending and entry.pending.run) or any(since > recent for since in begun)

    def _sets_of(self, index: IndexSet | None, entries: Sequence[LedgerEntry]) -> Mapping[str, IndexSet]:
        return generations.sets_of(self._engine, index, entries)

    def _entries(self, index: IndexSet | None, keys: Sequence[DocumentKey]) -> Mapping[DocumentHash, LedgerEntry]:
        return self._engine.fetch(index, [key.hash for key in keys], []).entries


def check_same(stored: SetSpec, wanted: SetSpec, *, what: str = "index set", remedy: str = _REBUILD) -> None:
    """Raise IndexMismatch, naming both values of every field in which two specifications differ."""
    found = differences(stored, wanted)
    if found:
        raise IndexMismatch(f"The settings differ from the {what} ({found}): change the settings back, or {remedy}.")


def _misfits(index: IndexSet, documents: Iterable[EncodedDocument]) -> Iterator[tuple[Document, Failure]]:
    for encoded in documents:
        why = misfit(encoded.split.document, index.spec)
        if why:
            yield encoded.split.document, Failure(why, Stage.WRITING)


def _keys(documents: Iterable[EncodedDocument]) -> list[DocumentKey]:
    return [encoded.split.document.key for encoded in documents]


def _present(entries: Iterable[LedgerEntry | None]) -> list[LedgerEntry]:
    return [entry for entry in entries if entry is not None]
