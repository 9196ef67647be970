"""What people order of the workers: submit, retry, cancel."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from ingest.decisions import Submitted
from ingest.services import control_service, submit_service
from ingest.submission import SubmitReport, SubmitService, new_batch
from ingest.syncing import Sync
from umg_search.cli.commands import AsJson, Collection, opened
from umg_search.cli.output import complain, err, out, print_json
from umg_search.cli.reading import (
    Paths,
    Reading,
    Synchronise,
    Yes,
    complain_of_nothing,
    delete_vanished,
    source_of,
)
from umg_search.errors import ConfigurationError
from umg_search.model import DEFAULT_COLLECTION, Document
from umg_search.ports import Engine, Queue, Sender
from umg_search.settings import Settings, load_settings
from umg_search.wiring import open_queue

Batch = Annotated[str | None, typer.Option("--batch", help="Of one submission only.", show_default=False)]


@dataclass(frozen=True, slots=True)
class Ports:
    """What asynchronous ingestion works with."""

    engine: Engine
    queue: Queue
    sender: Sender


def submit(
    paths: Paths,
    *,
    collection: Collection = DEFAULT_COLLECTION,
    sync: Synchronise = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> int:
    """Read documents and leave them to the workers; the id of the submission is printed, and no model is loaded."""
    reading = Reading(paths, collection)
    source = source_of(paths) if sync else ""
    settings = load_settings()
    tally = _Tally(new_batch(), reading)
    with opened_ports(settings) as ports:
        err.print(f"Submission {tally.batch}")  # at once: it is of use to whoever interrupts this
        service = submit_service(settings, ports.engine, ports.queue, ports.sender)
        delivery = Sync(ports.engine, collection=collection, source=source, queue=ports.queue)
        with reading.progressing("submit") as documents:
            tally.follow(service, delivery.delivered(documents) if sync else documents, source)
        if sync:
            tally.synchronised(delete_vanished(delivery, reading, yes=yes))
    return tally.conclude(as_json=as_json)


def retry(
    *,
    failed: Annotated[
        bool, typer.Option("--failed", help="Those that failed; there are no others to try again.")
    ] = False,
    batch: Batch = None,
) -> int:
    """Queue failed documents again, with their attempts forgotten."""
    if not failed:
        raise ConfigurationError("Say which documents are to be tried again: `umg retry --failed [--batch BATCH]`.")
    settings = load_settings()
    with opened_ports(settings) as ports:
        report = control_service(settings, ports.engine, ports.queue, ports.sender).retry(batch)
    for key in report.without_text:
        complain(f"{key.id}: its text is not kept, so ingest or submit it again.")
    if report.broker:
        complain(_later(report.broker))
    out.print(f"{report.queued} queued again.")
    return 1 if report.without_text else 0


def cancel(batch: Annotated[str, typer.Argument(help="Id of a submission.", show_default=False)]) -> int:
    """Cancel the documents of a submission that are not done; what was searchable stays so."""
    settings = load_settings()
    with opened_ports(settings) as ports:
        count = control_service(settings, ports.engine, ports.queue, ports.sender).cancel(batch)
    out.print(f"{count} cancelled.")
    return 0


class _Tally:
    """Counts what became of a submission's documents, and names what failed, as it comes."""

    def __init__(self, batch: str, reading: Reading) -> None:
        self.batch = batch
        self._reading = reading
        self._started = time.perf_counter()
        self._outcomes: Counter[Submitted] = Counter()
        self._warnings: Counter[str] = Counter()
        self._deleted: int | None = None
        self._refused = False

    def follow(self, service: SubmitService, documents: Iterator[Document], source: str) -> None:
        """Submit documents and take note of each."""
        for report in service.submit(documents, batch=self.batch, source=source, expected_bytes=self._reading.bytes):
            self._outcomes[report.outcome] += 1
            self._tell(report)

    def synchronised(self, deleted: int | None) -> None:
        """Take note of what a synchronisation deleted, None where it was refused."""
        self._deleted = deleted or 0
        self._refused = deleted is None

    def conclude(self, *, as_json: bool) -> int:
        """Print the summary and return the exit code."""
        for warning, count in self._warnings.items():
            complain(_later(f"{count} {'document is' if count == 1 else 'documents are'} queued. {warning}"))
        self._outcomes[Submitted.FAILED] += self._reading.unreadable
        counts = {outcome.value: self._outcomes[outcome] for outcome in Submitted}
        counts |= {} if self._deleted is None else {"deleted": self._deleted}
        seconds = round(time.perf_counter() - self._started, 1)
        if as_json:
            facts = {"skipped": self._reading.skipped, "seconds": seconds}
            print_json({"batch": self.batch, "documents": counts, **facts})
        else:
            out.print(f"{self.batch}: {', '.join(f'{count} {name}' for name, count in counts.items())}; {seconds} s")
        if self._reading.nothing and not self._refused:
            complain_of_nothing()
            return 2
        return 1 if self._outcomes[Submitted.FAILED] or self._refused else 0

    def _tell(self, report: SubmitReport) -> None:
        if report.outcome is Submitted.FAILED:
            complain(f"{report.document_id}: {report.reason}")
        if report.warning:
            self._warnings[report.warning] += 1


def _later(warning: str) -> str:
    """Return why a message could not be sent, and who sends it."""
    return f"{warning.rstrip('.')}; the sweeper (`umg sweeper`) sends the messages later."


@contextmanager
def opened_ports(settings: Settings) -> Iterator[Ports]:
    """Open engine and queue, and close them whatever happens; Redis is asked when there is something to send."""
    from tasks.app import make_sender  # noqa: PLC0415 - other commands need no Celery

    with closing(open_queue(settings)) as queue, opened(settings) as engine:
        yield Ports(engine, queue, make_sender(settings))
