"""Everything of asynchronous ingestion around one engine: documents in, messages to workers by hand, time by hand."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from ingest.control import ControlService
from ingest.decisions import Submitted
from ingest.pipeline import IngestService
from ingest.sentences import SentenceOptions
from ingest.submission import SubmitReport, SubmitService
from ingest.sweeping import SweepReport, SweepService
from ingest.work import WorkReport, WorkService
from tests.fakes.encoders import HashedEncoders, spec
from tests.fakes.queue import MemorySender
from umg_search.errors import DocumentNotFound, NoIndexSet
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, DocumentKey, LedgerEntry, SetSpec, SplitDocument, Ticket
from umg_search.ports import Engine, Queue, Sender
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer

SPEC = spec(experts=(Expert.DENSE, Expert.LEXICAL), granularities=(Granularity.G2, Granularity.G8))
LEASE_S = 60.0
RESEND_S = 3_600.0
BATCH_CHARS = 10_000


class OutOfTime(Exception):
    """A task queue's time limit."""


class Encoders(HashedEncoders):
    """`before` is told the documents that are about to be encoded; `encoded` are those that were."""

    def __init__(self, spec: SetSpec) -> None:
        super().__init__(spec)
        self.before: Callable[[Sequence[SplitDocument]], object] = lambda _: None
        self.encoded: list[str] = []

    def encode(self, documents: Sequence[SplitDocument]) -> list[Any]:
        if documents:
            self.before(documents)
        self.encoded += [split.document.id for split in documents]
        return super().encode(documents)


class Site:
    """An engine with its queue, and every service on them."""

    def __init__(
        self,
        engine: Engine,
        queue: Queue,
        sender: Sender | None = None,
        *,
        now: float = 1_000_000.0,
        spec: SetSpec = SPEC,
    ) -> None:
        self.engine = engine
        self.queue = queue
        self.sender: Any = sender or MemorySender()
        self.spec = spec
        self.encoders = Encoders(spec)
        self.now = now
        self.grace = 0.0
        self.queue_bytes = 10**9
        self._runs = count(1)

    def clock(self) -> float:
        return self.now

    @property
    def writer(self) -> Writer:
        return Writer(self.engine, grace=self.grace, queue=self.queue, clock=self.clock)

    def ingest_service(self) -> IngestService:
        return IngestService(
            self.writer,
            self.encoders,  # type: ignore[arg-type] - a fake of the encoders
            self.spec,
            sentences=SentenceOptions(),
            batch_chars=BATCH_CHARS,
            max_sentences=200,
        )

    def submit(self, *documents: Document, batch: str = "b1", **options: Any) -> list[SubmitReport]:
        service = SubmitService(
            self.engine,
            self.queue,
            self.sender,
            batch_chars=BATCH_CHARS,
            queue_bytes=self.queue_bytes,
            clock=self.clock,
        )
        return list(service.submit(documents, batch=batch, **options))

    def outcomes(self, *documents: Document, batch: str = "b1", **options: Any) -> dict[str, Submitted]:
        return {report.document_id: report.outcome for report in self.submit(*documents, batch=batch, **options)}

    def work_service(self) -> WorkService:
        return WorkService(
            self.engine,
            self.queue,
            self.sender,
            self.writer,
            self.ingest_service(),
            lease_s=LEASE_S,
            out_of_time=(OutOfTime,),
            clock=self.clock,
        )

    def work(self, batch: str, tickets: Sequence[Ticket], **options: Any) -> WorkReport:
        return self.work_service().work(batch, tickets, **{"run": f"run{next(self._runs)}", **options})

    def work_all(self, *, rounds: int = 20) -> list[WorkReport]:
        """Work on messages until there are none; one whose documents are held comes again when the lease is over."""
        reports: list[WorkReport] = []
        for _ in range(rounds):
            messages = self.sender.take()
            if not messages:
                return reports
            for batch, tickets in messages:
                reports.append(self.work(batch, tickets))
                if reports[-1].wait_s:
                    self.now += reports[-1].wait_s + 1
                    self.sender.send(batch, tickets)
        raise AssertionError(f"messages are left after {rounds} rounds")

    def sweep(self) -> SweepReport:
        return SweepService(
            self.engine,
            self.queue,
            self.sender,
            self.writer,
            batch_chars=BATCH_CHARS,
            lease_s=LEASE_S,
            resend_s=RESEND_S,
            clock=self.clock,
        ).sweep()

    def sweep_dead(self) -> SweepReport:
        """Let leases end, and sweep until a sweeper believes it."""
        self.now += LEASE_S
        self.sweep()
        self.now += LEASE_S
        return self.sweep()

    def control(self) -> ControlService:
        return ControlService(self.engine, self.queue, self.sender, batch_chars=BATCH_CHARS, clock=self.clock)

    def ingest(self, *documents: Document) -> dict[str, str]:
        return {report.document_id: report.outcome.value for report in self.ingest_service().ingest(documents)}

    def delete(self, *names: str) -> None:
        self.writer.delete(self.engine.active_set(), [DocumentKey("default", name) for name in names])

    def entry(self, name: str) -> LedgerEntry:
        key = DocumentKey("default", name).hash
        return self.engine.fetch(None, [key], []).entries[key]

    def state(self, name: str) -> str:
        return self.entry(name).state.value

    def text(self, name: str) -> str | None:
        try:
            return Reader(self.engine).text(DocumentKey("default", name))
        except (DocumentNotFound, NoIndexSet):
            return None


def document(name: str, revision: int = 1, sentences: int = 6) -> Document:
    """Return a document whose every sentence names it and its revision."""
    text = " ".join(f"The {name} of day r{revision} has part {i} to see." for i in range(sentences))
    return Document(id=name, text=text)
