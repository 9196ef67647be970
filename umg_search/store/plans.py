"""What an ingest has to do for a document, by what the ledger says of it."""

from collections.abc import Mapping
from enum import StrEnum

from umg_search.model import Document, DocumentHash, DocumentState, IndexSet, LedgerEntry, SetState
from umg_search.store import ledger
from umg_search.store.jobs import held_by

Seen = Mapping[DocumentHash, LedgerEntry]
"""What the ledger said of documents at one moment; those that it did not know are missing."""


class Change(StrEnum):
    """What an ingest has to do for a document."""

    TEXT = "text"
    ATTRIBUTES = "attributes"
    STATE = "state"
    NONE = "none"


def change_of(entry: LedgerEntry | None, document: Document, label: str) -> Change:
    """Return what a document needs in a set."""
    state = SetState() if entry is None else entry.in_set(label)
    if entry is None or state.live is None or state.text_fingerprint != ledger.text_fingerprint(document.text):
        return Change.TEXT
    if entry.attributes_fingerprint != ledger.attributes_fingerprint(document):
        return Change.ATTRIBUTES
    return Change.NONE if entry.state is DocumentState.SEARCHABLE else Change.STATE


def still_wanted(document: Document, before: Seen, now: Seen, run: str) -> bool:
    """Tell whether a document may be written that was read when the ledger said `before`."""
    wanted = ledger.still_wanted(document, before.get(document.key.hash), now.get(document.key.hash))
    return wanted and is_held(document, now, run)


def is_held(document: Document, entries: Seen, run: str) -> bool:
    """Tell whether a run has a document's job, or none is named."""
    return not run or held_by(entries.get(document.key.hash), run)


def is_live(document: Document, entries: Seen, index: IndexSet) -> bool:
    """Tell whether text and attributes are live as a document has them."""
    return change_of(entries.get(document.key.hash), document, index.label) in {Change.STATE, Change.NONE}


def jobs_of(entries: Seen) -> dict[DocumentHash, int]:
    """Return the number of the job of each document, 0 where it has none."""
    return {document: job_of(entry) for document, entry in entries.items()}


def job_of(entry: LedgerEntry) -> int:
    """Return the number of a document's job, 0 if it has none."""
    return 0 if entry.job is None else entry.job.number
