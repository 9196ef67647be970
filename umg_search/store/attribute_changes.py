"""Title, metadata and ACL of documents whose text is unchanged: first in the ledger, then on their chunk entries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from umg_search.model import (
    Document,
    DocumentHash,
    IndexSet,
    IngestReport,
    LedgerEntry,
    Outcome,
    document_of,
    version_of,
)
from umg_search.ports import ChunkId, Engine
from umg_search.store import generations, ledger
from umg_search.store.attributes import attributes_of, misfit
from umg_search.store.entries import ids_of
from umg_search.store.jobs import held_by
from umg_search.store.plans import Change, Seen, change_of
from umg_search.store.reports import CONFLICT, DELETED, Reports, failure

ATTEMPTS = 3
"""How often a write is begun anew after another writer was faster."""

Changing = tuple[Document, LedgerEntry]
"""A document whose title, metadata or ACL are to change, and its entry in the ledger."""


class AttributeChanges:
    """Steps of a change of attributes, each for many documents at once."""

    def __init__(self, engine: Engine, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._clock = clock

    def write(
        self, index: IndexSet, documents: Sequence[Document], seen: Seen | None = None, run: str = ""
    ) -> tuple[Reports, list[Changing]]:
        """Write attributes into the ledger; return reports of documents that failed, and the entries of the others."""
        reports: Reports = {}
        changing: list[Changing] = []
        waiting = documents
        for _ in range(ATTEMPTS if documents else 0):
            lost, found = self.live(index, waiting)
            reports |= lost
            wanted = [(d, e) for d, e in found if seen is None or ledger.still_wanted(d, seen.get(e.document), e)]
            wanted = [(d, e) for d, e in wanted if not run or held_by(e, run)]
            # Another text that became live since then must not get the attributes of this one.
            wanted = [(d, e) for d, e in wanted if change_of(e, d, index.label) is not Change.TEXT]
            sets = generations.sets_of(self._engine, index, [entry for _, entry in wanted])
            written = self._engine.write_entries([self._with_attributes(sets, e, d) for d, e in wanted])
            changing += [(d, new) for (d, _), new in zip(wanted, written, strict=True) if new is not None]
            waiting = [d for (d, _), new in zip(wanted, written, strict=True) if new is None]
            if not waiting:
                break
        settled = {*reports, *(document.key for document, _ in changing)}
        return reports | {d.key: failure(d, CONFLICT) for d in documents if d.key not in settled}, changing

    def live(self, index: IndexSet, documents: Sequence[Document]) -> tuple[Reports, list[Changing]]:
        """Return reports of documents that were deleted, and the entries of the others."""
        entries = self._engine.fetch(index, [d.key.hash for d in documents], []).entries if documents else {}
        found = [(d, entries[d.key.hash]) for d in documents if d.key.hash in entries]
        live = [(d, entry) for d, entry in found if entry.in_set(index.label).live is not None]
        keys = {document.key for document, _ in live}
        return {d.key: failure(d, DELETED) for d in documents if d.key not in keys}, live

    def publish(self, index: IndexSet, entries: Sequence[LedgerEntry]) -> dict[DocumentHash, str]:
        """Give the chunk entries of documents, in every set, what the ledger says; return why, where that failed."""
        failed: dict[ChunkId, str] = {}
        for each in generations.sets_of(self._engine, index, entries).values():
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

    def settle(
        self, changing: Sequence[Changing], jobs: Mapping[DocumentHash, int], run: str
    ) -> tuple[Reports, list[Document]]:
        """Note in the ledger that the chunk entries have them; return reports, and documents that changed meanwhile."""
        now = self._clock()
        done: list[LedgerEntry] = []
        mine: list[bool] = []
        for d, e in changing:
            own = ledger.attributes_fingerprint(d)
            theirs = not ledger.same_attributes(e, d) or e.attributes_fingerprint not in {"", own}
            mine.append(not theirs and (not run or held_by(e, run)))
            settled = ledger.settle(replace(e, attributes_fingerprint=own), now, job=jobs.get(e.document, 0))
            done.append(settled if mine[-1] else e)
        reports: Reports = {}
        for (d, _), is_mine, new in zip(changing, mine, self._engine.write_entries(done), strict=True):
            if new is not None:
                updated = IngestReport(d.id, d.collection, Outcome.UPDATED)
                reports[d.key] = updated if is_mine else failure(d, CONFLICT)
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
