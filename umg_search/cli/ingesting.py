"""`umg ingest`: documents stored by the process that reads them."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from ingest.pipeline import IngestService
from ingest.services import ingest_service
from ingest.syncing import Sync
from umg_search.cli.commands import AsJson, Collection, opened, opened_queue
from umg_search.cli.output import complain, out, print_json
from umg_search.cli.reading import (
    Paths,
    Reading,
    Synchronise,
    Yes,
    complain_of_nothing,
    delete_vanished,
    source_of,
)
from umg_search.model import DEFAULT_COLLECTION, Document, DocumentKey, IngestReport, Outcome
from umg_search.settings import load_settings


def ingest(
    paths: Paths,
    *,
    collection: Collection = DEFAULT_COLLECTION,
    sync: Synchronise = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> int:
    """Read, split, encode and store documents; unchanged ones are left alone."""
    reading = Reading(paths, collection)
    source = source_of(paths) if sync else ""
    settings = load_settings()
    tally = _Tally(reading)
    with opened(settings, create=True) as engine, opened_queue(settings) as queue:
        service = ingest_service(settings, engine)
        delivery = Sync(engine, collection=collection, source=source, queue=queue)
        with reading.progressing("ingest") as documents:
            tally.follow(service, delivery.delivered(documents) if sync else documents)
        if sync:
            delivery.claim()
            tally.synchronised(delete_vanished(delivery, reading, yes=yes))
    return tally.conclude(as_json=as_json)


class _Tally:
    """Counts reports of an ingest and names what failed, as it comes."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._started = time.perf_counter()
        self._outcomes: Counter[Outcome] = Counter()
        self._seen: set[DocumentKey] = set()
        self._chunks = 0
        self._tokens = 0
        self._deleted: int | None = None
        self._refused = False

    def follow(self, service: IngestService, documents: Iterator[Document]) -> None:
        """Store documents; whatever happens here, the writing thread ends first."""
        with closing(service.ingest(documents)) as reports:
            for report in reports:
                self._add(report)

    def synchronised(self, deleted: int | None) -> None:
        """Take note of what a synchronisation deleted, None where it was refused."""
        self._deleted = deleted or 0
        self._refused = deleted is None

    def conclude(self, *, as_json: bool) -> int:
        """Print the summary and return the exit code."""
        self._outcomes[Outcome.FAILED] += self._reading.unreadable
        counts = {outcome.value: self._outcomes[outcome] for outcome in Outcome}
        seconds = time.perf_counter() - self._started
        facts = {"chunks": self._chunks, "tokens": self._tokens, "seconds": round(seconds, 1)}
        deleted = {} if self._deleted is None else {"deleted": self._deleted}
        if as_json:
            print_json({"documents": counts | deleted, "skipped": self._reading.skipped, **facts})
        else:
            documents = ", ".join(f"{count} {name}" for name, count in (counts | deleted).items())
            out.print(f"{documents}; {self._chunks} chunks, {self._tokens} tokens, {seconds:.1f} s")
        if self._reading.nothing and not self._refused:
            complain_of_nothing()
            return 2
        return 1 if self._outcomes[Outcome.FAILED] or self._refused else 0

    def _add(self, report: IngestReport) -> None:
        self._outcomes[report.outcome] += 1
        self._chunks += report.chunks
        self._tokens += report.tokens
        key = DocumentKey(report.collection, report.document_id)
        if key in self._seen:
            complain(f"{report.document_id}: several documents of this run have this id, and the last one counts.")
        self._seen.add(key)
        if report.outcome is Outcome.FAILED:
            complain(f"{report.document_id}: {report.reason}")
        for warning in report.warnings:
            complain(f"{report.document_id}: {warning}")
