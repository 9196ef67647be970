"""What keeps asynchronous ingestion going: dead workers, forgotten messages, and what is left over."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from ingest.messages import Messages, Waiting, mark, pending
from ingest.work import bury
from umg_search.errors import BrokerUnreachable
from umg_search.model import DocumentState, LedgerEntry, Looks, TextKey
from umg_search.ports import Engine, Queue, Sender
from umg_search.store.admin import pages
from umg_search.store.jobs import sent, text_key
from umg_search.store.writer import Writer

ORPHAN_S = 3_600.0
"""Age of a text that nobody names, and of a run that nobody ended, from which it is deleted.

A submission takes seconds from the text to the ledger entry that names it.
"""

IN_FLIGHT_S = 30.0
"""A document is not missed among the messages for so long after its ledger entry was written: they follow it."""

CLOCKS_S = 3_600.0
"""Most that clocks of machines differ by: what another machine sent in the future was sent all the same."""

BATCH_DAYS = 90
"""Days after which a submission is forgotten, unless documents of it wait or failed; those of others are found."""

HOUSEKEEPING_S = 3_600.0
"""Seconds from one look for old submissions to the next: each costs a question."""

_PAGE = 500
_DAY_S = 86_400.0
_UNSETTLED = {DocumentState.QUEUED, DocumentState.ENCODING, DocumentState.WRITING, DocumentState.FAILED}


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep did.

    Documents that dead workers had: `revived` are sent again, `failed` set aside. `resent` the broker had
    forgotten. Deleted: `orphans`, texts that nobody named; `runs` that ended; `batches`, submissions of long ago;
    `cleaned`, replaced text of documents.
    `broker` is empty, or why messages could not be sent: the next sweep sends them.
    """

    revived: int = 0
    failed: int = 0
    resent: int = 0
    orphans: int = 0
    runs: int = 0
    batches: int = 0
    cleaned: int = 0
    broker: str = ""


class SweepService:
    """Looks for what is stuck. Several at once are harmless; one every `lease_s / 2` seconds is enough.

    A run counts as dead when its lease was over at the look before, too: after an outage of the engine, which ends all
    leases, workers come back first.
    """

    def __init__(
        self,
        engine: Engine,
        queue: Queue,
        sender: Sender,
        writer: Writer,
        *,
        batch_chars: int,
        lease_s: float,
        resend_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._queue = queue
        self._sender = sender
        self._messages = Messages(engine, sender, batch_chars=batch_chars)
        self._writer = writer
        self._lease_s = lease_s
        self._resend_s = resend_s
        self._clock = clock
        self._next_housekeeping = 0.0

    def sweep(self) -> SweepReport:
        """Look once; engine errors are raised, and the next sweep goes on where this one stopped."""
        self._queue.create()
        revived, failed, broker = self._revive(self._look())
        resent, silence = self._resend()
        index = self._engine.active_set()
        return SweepReport(
            revived=revived,
            failed=failed,
            resent=resent,
            orphans=self._delete_orphans(),
            runs=self._queue.end_runs(before=self._clock() - ORPHAN_S),
            batches=self._forget_batches(),
            cleaned=self._writer.sweep(index) if index else 0,
            broker=broker or silence,
        )

    def _look(self) -> float:
        """Note this look, and return the time of the one before."""
        looks, now = self._queue.looks(), self._clock()
        if now - looks.last >= self._lease_s / 2:
            looks = Looks(last=now, before=looks.last)
            self._queue.set_looks(looks)
        return looks.before

    def _revive(self, before: float) -> tuple[int, int, str]:
        """Take documents out of dead workers' hands; return how many wait again and failed, and the broker's word.

        Dead are those whose lease was over `before`.
        """
        revived = failed = 0
        broker = ""
        for page in pages(self._engine.entries(held=True)):
            changed = bury(self._engine, self._dead(pending(page), before), self._clock())
            waiting = [entry for entry in changed if entry.pending is not None]
            broker = self._messages.send(waiting) or broker
            revived += len(waiting)
            failed += len(changed) - len(waiting)
        return revived, failed, broker

    def _dead(self, held: Sequence[Waiting], before: float) -> list[Waiting]:
        until = self._queue.runs(sorted({job.run for _, job in held}))
        return [(entry, job) for entry, job in held if until.get(job.run, 0.0) <= before]

    def _resend(self) -> tuple[int, str]:
        """Send documents whose messages the broker forgot; return how many, and what it says where it does not answer.

        Its mark is missing or another where it was wiped, and it is set last, so that nothing is taken for sent before
        it is.
        """
        try:
            known = self._sender.marker()
            forgot = known is None or known != self._queue.marker()
            count, broker = self._send_before(self._limit(forgot=forgot))
            if forgot and not broker:
                mark(self._queue, self._sender)
        except BrokerUnreachable as error:
            return 0, str(error)
        return count, broker

    def _limit(self, *, forgot: bool) -> float:
        """Return the time before which a message that is not worked on yet must have been lost."""
        now = self._clock()
        if forgot:
            return now + CLOCKS_S
        return now - (self._resend_s if self._sender.waiting() else min(IN_FLIGHT_S, self._resend_s))

    def _send_before(self, limit: float) -> tuple[int, str]:
        count = 0
        for page in pages(self._engine.entries(sent_before=limit)):
            now = self._clock()
            written = self._engine.write_entries([sent(entry, job, now) for entry, job in pending(page)])
            waiting = [entry for entry in written if entry is not None]
            if broker := self._messages.send(waiting):
                return count, broker
            count += len(waiting)
        return count, ""

    def _delete_orphans(self) -> int:
        """Delete texts that no ledger entry names, unless they are queued again meanwhile."""
        texts = self._queue.old_texts(before=self._clock() - ORPHAN_S)
        count = 0
        while page := list(islice(texts, _PAGE)):
            entries = self._engine.fetch(None, [text.key.document for text in page], []).entries
            orphans = [text for text in page if not _is_named(text.key, entries.get(text.key.document))]
            count += self._queue.delete_old_texts(orphans)
        return count

    def _forget_batches(self) -> int:
        """Forget old submissions of which nothing is left to do or to tell."""
        now = self._clock()
        if now < self._next_housekeeping:
            return 0
        self._next_housekeeping = now + HOUSEKEEPING_S
        old = self._queue.old_batches(before=now - BATCH_DAYS * _DAY_S)
        over = [batch.id for batch in old if not _UNSETTLED & self._engine.states(batch=batch.id).keys()]
        self._queue.delete_batches(over)
        return len(over)


def _is_named(key: TextKey, entry: LedgerEntry | None) -> bool:
    return entry is not None and entry.job is not None and text_key(entry, entry.job) == key
