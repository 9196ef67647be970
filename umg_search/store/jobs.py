"""Jobs in ledger entries, as pure functions like those of `ledger`: queued, taken, handed back, lost, cancelled."""

from dataclasses import replace

from umg_search.model import Document, DocumentState, Job, LedgerEntry, TextKey, Ticket
from umg_search.ports import Selection
from umg_search.store import ledger


def fingerprint(document: Document) -> str:
    """Return a digest of everything that a job is to store."""
    attributes = ledger.attributes_fingerprint(document)
    return ledger.text_fingerprint(f"{ledger.text_fingerprint(document.text)} {attributes}")


def queued(entry: LedgerEntry, document: Document, batch: str, source: str, now: float) -> LedgerEntry:
    """Return the entry with a new job in place of any other; its message counts as sent from now on."""
    job = Job(batch, entry.next_generation, fingerprint(document), len(document.text), sent_at=now)
    return replace(
        _waiting(entry, job, now),
        key=document.key,
        batch=batch,
        source=source or entry.source,
        next_generation=job.number + 1,
    )


def joined(entry: LedgerEntry, job: Job, batch: str, source: str) -> LedgerEntry:
    """Return the entry whose job, which is for the same text, belongs to a later submission from now on."""
    return replace(entry, job=replace(job, batch=batch), batch=batch, source=source or entry.source)


def taken(entry: LedgerEntry, job: Job, run: str, now: float) -> LedgerEntry:
    """Return the entry with its job in the hands of a run; that counts as an attempt, whatever comes of it."""
    held = replace(job, run=run, attempts=job.attempts + 1)
    return replace(entry, state=DocumentState.ENCODING, job=held, changed_at=now)


def handed_back(entry: LedgerEntry, job: Job, now: float, *, died: bool = False) -> LedgerEntry:
    """Return the entry with its job in nobody's hands; `died`: since the run ended without a word."""
    return _waiting(entry, replace(job, run="", deaths=job.deaths + died), now)


def sent(entry: LedgerEntry, job: Job, at: float) -> LedgerEntry:
    """Return the entry whose job's message was sent at a time; 0: it is known to be lost."""
    return replace(entry, job=replace(job, sent_at=at))


def retried(entry: LedgerEntry, job: Job, now: float) -> LedgerEntry:
    """Return the entry of a failed document with its job queued again, as if it had never been tried."""
    return _waiting(entry, replace(job, run="", attempts=0, deaths=0, sent_at=now), now)


def cancelled(entry: LedgerEntry, now: float) -> LedgerEntry:
    """Return the entry without its job; what is live stays live."""
    return replace(entry, state=DocumentState.CANCELLED, job=None, changed_at=now)


def ticket_of(entry: LedgerEntry, job: Job) -> Ticket:
    """Return what a message says of a job."""
    return Ticket(entry.document, job.number)


def text_key(entry: LedgerEntry, job: Job) -> TextKey:
    """Return what a job's text is called in the queue."""
    return TextKey(entry.document, job.number, job.fingerprint)


def held_by(entry: LedgerEntry | None, run: str) -> bool:
    """Tell whether a run has the document's job."""
    return entry is not None and entry.pending is not None and entry.pending.run == run


def meets(entry: LedgerEntry, selection: Selection) -> bool:
    """Tell whether an entry meets the conditions; the same as servers are asked for."""
    job = entry.pending
    held = job is not None and bool(job.run)
    facts = {
        "state": entry.state,
        "batch": entry.batch,
        "collection": entry.key.collection if entry.key else None,
        "source": entry.source,
        "held": held,
    }
    times = {
        "retired_before": ledger.oldest_retired(entry),
        "sent_before": None if job is None or held else job.sent_at,
    }
    return all(
        facts[name] == value if name in facts else _is_before(times[name], value) for name, value in selection.items()
    )


def _is_before(time: float | None, limit: object) -> bool:
    return time is not None and isinstance(limit, float | int) and time < limit


def _waiting(entry: LedgerEntry, job: Job, now: float) -> LedgerEntry:
    return replace(entry, state=DocumentState.QUEUED, job=job, error="", stage="", error_class="", changed_at=now)
