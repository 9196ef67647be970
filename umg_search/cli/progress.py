"""`umg status`: what there is, what waits, what is being done, and what failed."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ingest.control import known_batch
from umg_search.cli.commands import AsJson, opened, opened_queue
from umg_search.cli.output import err, out, print_json, print_status, status_json
from umg_search.model import DEFAULT_COLLECTION, Backlog, Batch, DocumentState, LedgerEntry
from umg_search.ports import Engine, Queue
from umg_search.ports import Selection as Chosen
from umg_search.settings import load_settings
from umg_search.store.reader import Reader

WATCH_S = 1.0
"""Seconds from one look to the next with --watch."""

SUBMITTING_S = 60.0
"""A submission that is not complete and queues nothing for so long was interrupted."""

PENDING = (DocumentState.QUEUED, DocumentState.ENCODING, DocumentState.WRITING)
"""States of documents that a worker has still to finish."""

LATEST = 5
"""Submissions that `umg status` names."""

BatchId = Annotated[
    str | None, typer.Option("--batch", help="What became of one submission's documents.", show_default=False)
]


def status(
    *,
    batch: BatchId = None,
    failed: Annotated[bool, typer.Option("--failed", help="Name the documents that failed, and why.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until no document waits or is worked on.")] = False,
    as_json: AsJson = False,
) -> int:
    """Count documents by state and show what waits and what is worked on; measure the indices."""
    settings = load_settings()
    with opened(settings) as engine, opened_queue(settings) as queue:
        if batch is not None:
            known_batch(queue, batch)
        if watch:
            _watch(engine, queue, batch)
        if failed:
            return _print_failed(engine, batch, as_json=as_json)
        if batch is not None:
            return _print_batch(engine, queue, batch, as_json=as_json)
        return _print_all(engine, queue, as_json=as_json)


def _print_all(engine: Engine, queue: Queue | None, *, as_json: bool) -> int:
    found = Reader(engine).status()
    at_work = list(engine.entries(held=True))
    backlog = queue.backlog() if queue is not None else None
    batches = queue.batches() if queue is not None else []
    if as_json:
        waiting = _backlog_json(backlog) if backlog else None
        latest = [_batch_json(each) for each in batches]
        print_json({**status_json(found), "backlog": waiting, "at_work": _rows(at_work), "batches": latest})
        return 0
    print_status(found)
    if backlog is not None and backlog.documents:
        size = f"{backlog.documents} texts, {backlog.bytes / 2**20:.1f} MiB"
        out.print(f"In the queue: {size}, of documents that wait, are worked on, or failed")
    for each in batches[:LATEST]:
        begun = "" if each.complete else ", not complete"
        fate = ", cancelled" if each.cancelled else begun
        out.print(f"Submission {each.id}: {each.queued} queued, {each.unchanged} unchanged{fate}", markup=False)
    _print_rows(at_work)
    return 0


def _print_batch(engine: Engine, queue: Queue | None, batch: str, *, as_json: bool) -> int:
    known = known_batch(queue, batch)
    counts = engine.states(batch=batch)
    at_work = list(engine.entries(held=True, batch=batch))
    if as_json:
        print_json({**_batch_json(known), "documents": _sorted(counts), "at_work": _rows(at_work)})
    else:
        out.print(f"{batch}: {_line(counts)}", markup=False)
        if known.queued and not counts:
            err.print("Later submissions have taken its documents over.")
        _print_rows(at_work)
    return 1 if counts.get(DocumentState.FAILED) else 0


def _print_failed(engine: Engine, batch: str | None, *, as_json: bool) -> int:
    chosen = Chosen(state=DocumentState.FAILED)
    if batch is not None:
        chosen["batch"] = batch
    entries = list(engine.entries(**chosen))
    if as_json:
        print_json({"failed": _rows(entries)})
    else:
        _print_rows(entries)
        out.print(f"{len(entries)} failed.")
    return 1 if entries else 0


def _watch(engine: Engine, queue: Queue | None, batch: str | None) -> None:
    """Show counts whenever they change, on one line where a person watches, until nothing is pending.

    A submission that is still being made may have nothing pending for now.
    """
    last: Mapping[DocumentState, int] | None = None
    changed = time.monotonic()
    with err.status("") as line:
        while True:
            being_made = batch is not None and _is_being_made(known_batch(queue, batch))  # before what it has queued
            counts = engine.states(batch=batch)
            if counts != last:
                changed = time.monotonic()
                line.update(_line(counts))
                if not err.is_terminal:
                    err.print(_line(counts))
            if not any(counts.get(state) for state in PENDING) and not (
                being_made and time.monotonic() - changed < SUBMITTING_S
            ):
                return
            last = counts
            time.sleep(WATCH_S)


def _is_being_made(batch: Batch) -> bool:
    return not batch.complete and not batch.cancelled


def _rows(entries: list[LedgerEntry]) -> list[dict[str, Any]]:
    return [_row(entry) for entry in sorted(entries, key=lambda entry: entry.changed_at)]


def _row(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "document": entry.key.id if entry.key else "",
        "collection": entry.key.collection if entry.key else "",
        "batch": entry.batch,
        "state": entry.state.value,
        "stage": entry.stage,
        "error": entry.error_class,
        "reason": entry.error,
        "attempts": entry.job.attempts if entry.job else 0,
        "since": datetime.fromtimestamp(entry.changed_at, UTC).isoformat(timespec="seconds"),
    }


def _print_rows(entries: list[LedgerEntry]) -> None:
    for row in _rows(entries):
        out.print(_told(row), markup=False)


def _told(row: Mapping[str, Any]) -> str:
    """Return what is known of a document as a line, with nothing cut off however narrow the screen is."""
    where = "" if row["collection"] == DEFAULT_COLLECTION else f" (collection {row['collection']})"
    stage = f" in {row['stage']}" if row["stage"] else ""
    times = f"{row['attempts']} {'attempt' if row['attempts'] == 1 else 'attempts'}"
    why = ": ".join(text for text in (row["error"], row["reason"]) if text)
    return f"{row['document']}{where}: {row['state']}{stage} since {row['since']}, {times}{f'; {why}' if why else ''}"


def _line(counts: Mapping[DocumentState, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in _sorted(counts).items()) or "no document"


def _sorted(counts: Mapping[DocumentState, int]) -> dict[str, int]:
    """Return counts in the order of a document's life."""
    return {state.value: counts[state] for state in DocumentState if counts.get(state)}


def _backlog_json(backlog: Backlog) -> dict[str, Any]:
    return {"documents": backlog.documents, "bytes": backlog.bytes, "free_bytes": backlog.free_bytes}


def _batch_json(batch: Batch) -> dict[str, Any]:
    return {
        "batch": batch.id,
        "created_at": datetime.fromtimestamp(batch.created_at, UTC).isoformat(timespec="seconds"),
        "submitted": {"queued": batch.queued, "unchanged": batch.unchanged, "failed": batch.failed},
        "complete": batch.complete,
        "cancelled": batch.cancelled,
    }
