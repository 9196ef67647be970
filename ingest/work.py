"""The worker's part of asynchronous ingestion: documents of one message, from the queue to being searchable.

Every write is on condition that the document's job is still in this run's hands, so that a run that was taken for dead,
superseded or cancelled changes nothing any more.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from ingest.leases import RunLease, leased
from ingest.messages import Messages, Waiting, pending
from ingest.pipeline import IngestService
from umg_search.errors import UmgError
from umg_search.model import (
    Document,
    DocumentHash,
    DocumentKey,
    DocumentState,
    Failure,
    IngestReport,
    LedgerEntry,
    Outcome,
    Stage,
    Ticket,
)
from umg_search.ports import Engine, Queue, Sender
from umg_search.store import jobs, ledger
from umg_search.store.reports import CONFLICT
from umg_search.store.writer import Writer

MOST_DEATHS = 3
"""Leases of a document that may end without a word before it is set aside."""

MOST_ATTEMPTS = 10
"""Attempts after which a document that others change each time is set aside."""

Entries = Mapping[DocumentHash, LedgerEntry]

LOST_TEXT = "Its text is not in the queue any more: submit it again."


@dataclass(frozen=True, slots=True)
class WorkReport:
    """What became of a message.

    `reports` has one report for each document that is settled, failed ones included. `dropped` had nothing left to do
    (superseded, done, cancelled or deleted), `separated` are sent again, each alone, since a worker died of one of
    them. `held` are in another run's hands: the message is to be worked again after `wait_s` seconds (0: nothing is).
    """

    reports: tuple[IngestReport, ...] = ()
    dropped: int = 0
    separated: int = 0
    held: int = 0
    wait_s: float = 0.0


@dataclass(slots=True)
class _Message:
    """Documents of a message by what is to be done with them; filled while that is found out."""

    tickets: int
    told: Callable[[IngestReport], object]
    workable: list[Waiting] = field(default_factory=list)
    lost: list[Waiting] = field(default_factory=list)
    held: int = 0
    wait_s: float = 0.0
    separated: int = 0
    reports: list[IngestReport] = field(default_factory=list)

    def settle(self, report: IngestReport) -> None:
        """Note what became of a document, and tell it."""
        self.reports.append(report)
        self.told(report)

    def report(self) -> WorkReport:
        """Return what became of it."""
        dropped = self.tickets - len(self.reports) - self.separated - self.held
        return WorkReport(tuple(self.reports), dropped, self.separated, self.held, self.wait_s)


class WorkService:
    """Does what messages ask for. One message at a time."""

    def __init__(
        self,
        engine: Engine,
        queue: Queue,
        sender: Sender,
        writer: Writer,
        ingest: IngestService,
        *,
        lease_s: float,
        out_of_time: tuple[type[BaseException], ...] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`out_of_time` are the errors by which a task queue's time limit stops the work on a message."""
        self._engine = engine
        self._queue = queue
        self._messages = Messages(engine, sender, batch_chars=1)
        self._writer = writer
        self._ingest = ingest
        self._lease_s = lease_s
        self._out_of_time = out_of_time
        # Whatever else a document makes happen, running out of memory included, must not stop the others.
        self._personal: tuple[type[BaseException], ...] = (Exception, *out_of_time)
        self._clock = clock

    def work(
        self,
        batch: str,
        tickets: Sequence[Ticket],
        *,
        run: str,
        owner: str = "",
        previous_runs: Sequence[str] = (),
        told: Callable[[IngestReport], object] = lambda _: None,
    ) -> WorkReport:
        """Work on the documents of a message and return what became of them.

        `run` names this execution and no other, also where the same message is delivered again; `owner` says to people
        who does it. `previous_runs` are earlier executions for the same message that ended in a transient error.
        Transient errors (EngineBusy, EngineUnreachable) and what else stops the work (SystemExit, KeyboardInterrupt)
        are raised after the documents were handed back, so that the message can be worked again, at once or later.
        `told` is called with the report of each document as soon as it is settled.
        """
        del batch  # the ledger knows it better: a later submission of the same text takes its job over
        message = self._read(tickets, {run, *previous_runs}, told)
        self._bury(message)
        self._separate(message, alone=len(tickets) == 1)
        if message.workable:
            with leased(self._queue, run, owner, self._lease_s, self._clock) as lease:
                taken = self._take(message, run)
                if taken:
                    self._work(message, taken, run, lease)
        return message.report()

    # --- before the work ----------------------------------------------------------------------------------------

    def _read(self, tickets: Sequence[Ticket], own: set[str], told: Callable[[IngestReport], object]) -> _Message:
        """Sort the documents of a message by whose hands they are in."""
        message = _Message(len(set(tickets)), told)
        entries = self._engine.fetch(None, [ticket.document for ticket in tickets], []).entries
        waiting = _named(tickets, entries)
        others = sorted({job.run for _, job in waiting} - own - {""})
        until = self._queue.runs(others)
        now = self._clock()
        for entry, job in waiting:
            if job.run in own or not job.run:
                message.workable.append((entry, job))
            elif until.get(job.run, 0.0) > now:
                message.held += 1
                message.wait_s = max(message.wait_s, until[job.run] - now)
            else:
                message.lost.append((entry, job))
        return message

    def _bury(self, message: _Message) -> None:
        """Count the deaths of workers that had documents, and set aside those that had too many of them."""
        for entry in bury(self._engine, message.lost, self._clock()):
            if entry.pending is not None:
                message.workable.append((entry, entry.pending))
            else:
                message.settle(_failed(entry))

    def _separate(self, message: _Message, *, alone: bool) -> None:
        """Send documents whose worker died in messages of their own, unless this is one."""
        suspect = [entry for entry, job in message.workable if job.deaths and not alone]
        if suspect:
            message.workable = [(entry, job) for entry, job in message.workable if not job.deaths]
            message.separated += self._send_again(suspect)

    def _take(self, message: _Message, run: str) -> list[Waiting]:
        """Take the documents into this run's hands; those that others changed meanwhile are dropped."""
        now = self._clock()
        written = self._engine.write_entries([jobs.taken(entry, job, run, now) for entry, job in message.workable])
        return pending(entry for entry in written if entry is not None)

    # --- the work -----------------------------------------------------------------------------------------------

    def _work(self, message: _Message, taken: list[Waiting], run: str, lease: RunLease) -> None:
        failures: list[IngestReport] = []
        try:
            self._store(message, taken, run, lease, failures)
        except UmgError:  # concerns the engine or the settings, no single document
            self._hand_back(taken, run, lease)
            raise
        except self._personal as error:
            self._conclude(message, taken, run, failures, error)
        except BaseException:
            self._hand_back(taken, run, lease)
            raise
        else:
            self._conclude(message, taken, run, failures)

    def _store(
        self, message: _Message, taken: list[Waiting], run: str, lease: RunLease, failures: list[IngestReport]
    ) -> None:
        """Store the documents, and collect those that failed: the ledger must say so too, or that is no last word."""
        texts = self._queue.texts([jobs.text_key(entry, job) for entry, job in taken])
        lacking = [_named_only(entry) for entry, job in taken if jobs.text_key(entry, job) not in texts]
        why = Failure(LOST_TEXT, Stage.READING)
        failures += self._writer.mark_failed(None, [(document, why) for document in lacking], run=run)

        def documents() -> Iterator[Document]:
            for document in texts.values():
                lease.check()
                yield document

        with closing(self._ingest.ingest(documents(), run=run)) as stored:
            for report in stored:
                if report.outcome is Outcome.FAILED:
                    failures.append(report)
                else:
                    message.settle(report)

    def _conclude(
        self,
        message: _Message,
        taken: list[Waiting],
        run: str,
        failures: Sequence[IngestReport],
        error: BaseException | None = None,
    ) -> None:
        """Forget the texts that are done with, and see to the documents that are not.

        With an `error` that one of them may have caused, each is worked on alone next time, or was it already. Without,
        others changed them each time that they were to be written.
        """
        entries = self._entries(taken)
        self._forget_texts(taken, entries)
        left = _of_run(taken, entries, run)
        if error is None:
            final = [item for item in left if item[1].attempts >= MOST_ATTEMPTS]
            why = Failure(CONFLICT, Stage.WRITING, "WriteConflict")
        else:
            final = left if len(taken) == 1 else []
            why = self._failure(error)
        again = [item for item in left if item not in final]
        message.separated += self._send_again(self._handed_back(again, died=error is not None))
        settled = [report for report in failures if _has_failed(report, entries)]
        settled += self._writer.mark_failed(None, [(_named_only(entry), why) for entry, _ in final], run=run)
        for report in settled:
            message.settle(report)

    def _failure(self, error: BaseException) -> Failure:
        if isinstance(error, MemoryError):
            reason = "It takes more memory than a worker may have: split it, or raise UMG_WORKER_MEMORY_MB."
        elif isinstance(error, self._out_of_time):
            reason = "It takes longer than a worker may work on it: split it, or raise UMG_TASK_TIME_LIMIT_S."
        else:
            reason = f"{type(error).__name__}: {next(iter(str(error).splitlines()), 'no reason given')}"
        return Failure(reason, Stage.ENCODING, type(error).__name__)

    def _hand_back(self, taken: Sequence[Waiting], run: str, lease: RunLease) -> None:
        """Let go of what is not done, for whoever works on the message next; the lease ends anyway."""
        try:
            entries = self._entries(taken)
            self._handed_back(_of_run(taken, entries, run))
            self._forget_texts(taken, entries)
        except UmgError:
            lease.abandon()  # the next run knows this one for its own, or takes it for dead

    def _handed_back(self, waiting: Sequence[Waiting], *, died: bool = False) -> list[LedgerEntry]:
        now = self._clock()
        back = [jobs.handed_back(entry, job, now, died=died) for entry, job in waiting]
        return [entry for entry in self._engine.write_entries(back) if entry is not None]

    def _send_again(self, entries: Sequence[LedgerEntry]) -> int:
        self._messages.send(entries)
        return len(entries)

    def _entries(self, taken: Sequence[Waiting]) -> Entries:
        return self._engine.fetch(None, [entry.document for entry, _ in taken], []).entries

    def _forget_texts(self, taken: Sequence[Waiting], entries: Entries) -> None:
        """Delete the texts of documents whose ledger entries do not name them any more."""
        left = {jobs.text_key(entry, entry.job) for entry in entries.values() if entry.job is not None}
        keys = [jobs.text_key(entry, job) for entry, job in taken]
        self._queue.delete_texts([key for key in keys if key not in left])


def bury(engine: Engine, lost: Sequence[Waiting], now: float) -> list[LedgerEntry]:
    """Note the deaths of workers that had documents; return the entries as they are then, less those others changed.

    A document of too many deaths has failed and has no pending job any more, the others wait for a worker.
    """
    back = [jobs.handed_back(entry, job, now, died=True) for entry, job in lost]
    judged = [_judged(entry, now) for entry in back]
    return [entry for entry in engine.write_entries(judged) if entry is not None]


def _judged(entry: LedgerEntry, now: float) -> LedgerEntry:
    if entry.pending is None or entry.pending.deaths < MOST_DEATHS:
        return jobs.sent(entry, entry.pending, now) if entry.pending else entry
    reason = f"Its worker died {entry.pending.deaths} times, each time without a word: see the worker's memory and log."
    return ledger.fail(entry, Failure(reason, Stage.ENCODING, "WorkerLost"), now)


def _named(tickets: Sequence[Ticket], entries: Entries) -> list[Waiting]:
    """Return the documents whose pending job is the one that a ticket names."""
    numbers = {(entry.document, job.number): (entry, job) for entry, job in pending(entries.values())}
    return [numbers[ticket] for ticket in dict.fromkeys(tickets) if ticket in numbers]


def _tickets(waiting: Sequence[Waiting]) -> list[Ticket]:
    return [jobs.ticket_of(entry, job) for entry, job in waiting]


def _of_run(taken: Sequence[Waiting], entries: Entries, run: str) -> list[Waiting]:
    """Return the documents that are still in a run's hands."""
    return [(entry, job) for entry, job in _named(_tickets(taken), entries) if job.run == run]


def _has_failed(report: IngestReport, entries: Entries) -> bool:
    """Tell whether the ledger says of a document too that it failed."""
    entry = entries.get(DocumentKey(report.collection, report.document_id).hash)
    return entry is not None and entry.state is DocumentState.FAILED


def _named_only(entry: LedgerEntry) -> Document:
    """Return a document that stands for an entry, where nothing but its name is asked for."""
    if entry.key is None:
        raise ValueError("a tombstone has no pending job")
    return Document(id=entry.key.id, text="", collection=entry.key.collection)


def _failed(entry: LedgerEntry) -> IngestReport:
    document = _named_only(entry)
    return IngestReport(document.id, document.collection, Outcome.FAILED, reason=entry.error)
