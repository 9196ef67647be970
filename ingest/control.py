"""Orders to documents that were submitted: try failed ones again, cancel a submission."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ingest.messages import Messages, Waiting, pending
from ingest.sweeping import BATCH_DAYS
from umg_search.errors import ConfigurationError
from umg_search.model import Batch, DocumentKey, DocumentState
from umg_search.ports import Engine, Queue, Selection, Sender
from umg_search.store import jobs
from umg_search.store.admin import pages


@dataclass(frozen=True, slots=True)
class RetryReport:
    """Failed documents that are queued again, and those whose text is not kept: ingest or submit these again.

    `broker` is empty, or why messages could not be sent: the sweeper sends them.
    """

    queued: int = 0
    without_text: tuple[DocumentKey, ...] = ()
    broker: str = ""


def known_batch(queue: Queue | None, batch: str) -> Batch:
    """Return a submission; ConfigurationError where there is none of this id."""
    found = queue.batch(batch) if queue is not None else None
    if found is None:
        raise ConfigurationError(
            f"There is no submission {batch!r}, or it was settled and is forgotten after {BATCH_DAYS} days: "
            "`umg status` names the latest."
        )
    return found


class ControlService:
    """Changes what is to become of submitted documents."""

    def __init__(
        self, engine: Engine, queue: Queue, sender: Sender, *, batch_chars: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._engine = engine
        self._queue = queue
        self._messages = Messages(engine, sender, batch_chars=batch_chars)
        self._clock = clock

    def retry(self, batch: str | None = None) -> RetryReport:
        """Queue failed documents again, all of them or those of one submission, with their attempts forgotten.

        ConfigurationError where there is no such submission.
        """
        self._queue.create()
        wanted: Selection = {"state": DocumentState.FAILED}
        if batch is not None:
            known_batch(self._queue, batch)
            wanted["batch"] = batch
        queued, broker = 0, ""
        without: list[DocumentKey] = []
        for page in pages(self._engine.entries(**wanted)):
            without += [entry.key for entry in page if entry.job is None and entry.key is not None]
            again = [jobs.retried(entry, entry.job, self._clock()) for entry in page if entry.job is not None]
            written = [entry for entry in self._engine.write_entries(again) if entry is not None]
            broker = self._messages.send(written) or broker
            queued += len(written)
        return RetryReport(queued, tuple(without), broker)

    def cancel(self, batch: str) -> int:
        """Cancel the documents of a submission that are not done; return how many. What was live stays live.

        A worker that has one of them drops it at its next write. ConfigurationError where there is no such submission.
        """
        self._queue.create()
        self._queue.write_batch(replace(known_batch(self._queue, batch), cancelled=True))
        return sum(self._cancel(pending(page)) for page in pages(self._engine.entries(batch=batch)))

    def _cancel(self, waiting: Sequence[Waiting]) -> int:
        """Cancel documents, however often workers change them meanwhile, which brings them nearer to their end."""
        count = 0
        while waiting:
            now = self._clock()
            written = self._engine.write_entries([jobs.cancelled(entry, now) for entry, _ in waiting])
            done = [item for item, entry in zip(waiting, written, strict=True) if entry is not None]
            self._queue.delete_texts([jobs.text_key(entry, job) for entry, job in done])
            count += len(done)
            lost = {item[0].document: item[1] for item, entry in zip(waiting, written, strict=True) if entry is None}
            again = self._engine.fetch(None, list(lost), []).entries
            # Not where it has the job of a later submission by now.
            waiting = [item for item in pending(again.values()) if item[1].number == lost[item[0].document].number]
        return count
