"""Asynchronous ingestion begins: documents into the queue and the ledger, then messages to the workers.

Order: texts into the queue -> conditional ledger writes -> messages -> texts that were replaced go. A crash at any
point leaves either a text that nobody names, which the sweeper deletes, or a queued document that the sweeper sends.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from ingest.control import ControlService
from ingest.decisions import Decision, Submission, Submitted
from ingest.messages import GROUPS, MOST_DOCUMENTS, Messages
from ingest.pipeline import grouped
from umg_search.errors import BacklogFull, SubmissionCancelled
from umg_search.model import Batch, Document, DocumentHash, QueuedText, TextKey
from umg_search.ports import Engine, Queue, Sender
from umg_search.store.attributes import unstorable

DISK_FACTOR = 2
"""Bytes on disk for each byte of text that waits: the text itself, and the server's log of its writes."""

ROOM_S = 5.0
"""How long a measured room is relied on: others submit as well."""

ATTEMPTS = 5
"""How often a document is taken anew after others changed its ledger entry."""

CONTESTED = "Others change it all the time: submit it again."


@dataclass(frozen=True, slots=True)
class SubmitReport:
    """What became of one document, why it failed, and what to know of it, such as a message that could not be sent."""

    document_id: str
    collection: str
    batch: str
    outcome: Submitted
    reason: str = ""
    warning: str = ""


def new_batch() -> str:
    """Return the id of a new submission: its time, to be read by people, and something random."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{uuid4().hex[:6]}"


class SubmitService:
    """Takes documents for the workers. No model is loaded, and no index set has to exist yet."""

    def __init__(
        self,
        engine: Engine,
        queue: Queue,
        sender: Sender,
        *,
        batch_chars: int,
        queue_bytes: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._queue = queue
        self._messages = Messages(engine, sender, batch_chars=batch_chars)
        self._control = ControlService(engine, queue, sender, batch_chars=batch_chars, clock=clock)
        self._group_chars = GROUPS * batch_chars
        self._queue_bytes = queue_bytes
        self._clock = clock

    def submit(
        self, documents: Iterable[Document], *, batch: str = "", source: str = "", expected_bytes: int = 0
    ) -> Iterator[SubmitReport]:
        """Queue documents and yield what became of each; the order may differ from theirs.

        `batch` is the submission's id, a new one unless given. `source` is kept of each document (`--sync`).
        `expected_bytes` is about what the texts will take together: BacklogFull, with nothing taken, where the queue or
        the disks do not hold that. Where the texts turn out to be larger, BacklogFull says how many were taken.
        SubmissionCancelled where somebody cancels it meanwhile.
        A broker that does not answer is a warning in the reports: the sweeper sends what is queued. Engine errors are
        raised; what was reported before is queued, and the same submission can be made again.
        """
        self._queue.create()
        self._messages.introduce(self._queue)
        room = self._room(expected_bytes)
        known = self._queue.batch(batch) if batch else None
        made = known or Batch(batch or new_batch(), self._clock(), source)
        return self._submitted(documents, replace(made, complete=False, cancelled=False), room)

    def _submitted(self, documents: Iterable[Document], batch: Batch, room: int) -> Iterator[SubmitReport]:
        self._queue.write_batch(batch)
        measured = self._clock()
        for group in grouped(documents, self._group_chars, most_documents=MOST_DOCUMENTS):
            size = sum(len(document.text.encode("utf-8", "surrogatepass")) for document in group)
            if size > room or self._clock() - measured > ROOM_S:
                room, measured = self._room(size, taken=batch.total), self._clock()
            room -= size
            reports = self._take(group, batch)
            batch = _counted(batch, reports)
            self._check_cancelled(batch)
            self._queue.write_batch(batch)
            yield from reports
        self._check_cancelled(batch)
        self._queue.write_batch(replace(batch, complete=True))

    def _check_cancelled(self, batch: Batch) -> None:
        """Cancel what was queued since somebody cancelled the submission, and raise SubmissionCancelled."""
        known = self._queue.batch(batch.id)
        if known is None or not known.cancelled:
            return
        self._queue.write_batch(batch)
        self._control.cancel(batch.id)
        raise SubmissionCancelled(
            f"Submission {batch.id} was cancelled while it was being made, after {batch.total} documents: "
            "submit again what is to be stored after all."
        )

    def _room(self, wanted: int, taken: int = 0) -> int:
        """Return the bytes of text that the queue takes for now; BacklogFull where more are wanted."""
        backlog = self._queue.backlog()
        by_setting = self._queue_bytes - backlog.bytes
        by_disk = by_setting if backlog.free_bytes is None else backlog.free_bytes // DISK_FACTOR
        room = max(0, min(by_setting, by_disk))
        if wanted > room or not room:
            limit = "UMG_QUEUE_BYTES allows" if by_setting <= by_disk else "the disks of the engine have room for"
            begun = f"{taken} documents were taken before, and none of the others" if taken else "nothing was taken"
            raise BacklogFull(
                f"{backlog.documents} documents of {backlog.bytes} bytes wait, and {limit} {room} more bytes, "
                f"not {wanted}: {begun}; submit again when workers have done more of them."
            )
        return room

    def _take(self, documents: Sequence[Document], batch: Batch) -> list[SubmitReport]:
        """Take documents with distinct keys; return a report of each."""
        refused = {document.key: why for document in documents if (why := unstorable(document))}
        waiting = {document.key.hash: document for document in documents if document.key not in refused}
        done = self._decided(waiting, Submission(batch.id, batch.source, self._engine.active_set()))
        warning = self._messages.send(item.after for item in done if item.after is not None and item.queued)
        self._queue.delete_texts([item.replaced for item in done if item.replaced])
        reports = [
            SubmitReport(
                *_names(item.document), batch.id, item.outcome, item.reason, warning if item.queued is not None else ""
            )
            for item in done
        ]
        settled = {item.document.key for item in done}
        reasons = refused | {d.key: CONTESTED for d in waiting.values() if d.key not in settled}
        return reports + [
            SubmitReport(*_names(d), batch.id, Submitted.FAILED, reasons[d.key]) for d in documents if d.key in reasons
        ]

    def _decided(self, documents: Mapping[DocumentHash, Document], submission: Submission) -> list[Decision]:
        """Decide what becomes of documents and write it; those that others change each time are missing."""
        left = dict(documents)
        refusals: dict[DocumentHash, str] = {}
        done: list[Decision] = []
        for _ in range(ATTEMPTS):
            entries = self._engine.fetch(None, list(left), []).entries
            decisions = [
                submission.decide(document, entries.get(key), self._clock(), refusal=refusals.get(key, ""))
                for key, document in left.items()
            ]
            refused = self._put_texts(decisions)
            refusals |= {key.document: reason for key, reason in refused.items()}
            written = self._written([item for item in decisions if item.queued not in refused])
            done += written
            for item in written:
                del left[item.before.document]
            if not left:
                break
        return done

    def _put_texts(self, decisions: Sequence[Decision]) -> Mapping[TextKey, str]:
        """Put the texts of new jobs into the queue; return a reason for each that it refuses."""
        now = self._clock()
        texts = [QueuedText(item.queued, item.document, now) for item in decisions if item.queued]
        return self._queue.put_texts(texts) if texts else {}

    def _written(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Write what was decided into the ledger; decisions on entries that others changed meanwhile are missing.

        Their texts are left to the sweeper: another submission of the same text may have won the number.
        """
        still = [item for item in decisions if item.after is None]
        changing = [item for item in decisions if item.after is not None]
        written = self._engine.write_entries([item.after for item in changing if item.after is not None])
        pairs = zip(changing, written, strict=True)
        return still + [replace(item, after=entry) for item, entry in pairs if entry is not None]


def _names(document: Document) -> tuple[str, str]:
    return document.id, document.collection


def _counted(batch: Batch, reports: Sequence[SubmitReport]) -> Batch:
    counts = Counter(report.outcome for report in reports)
    return replace(
        batch,
        queued=batch.queued + counts[Submitted.QUEUED],
        unchanged=batch.unchanged + counts[Submitted.UNCHANGED],
        failed=batch.failed + counts[Submitted.FAILED],
    )
