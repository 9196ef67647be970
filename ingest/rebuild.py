"""Index sets without downtime: built beside the searched one from the stored text, activated, rolled back."""

from collections.abc import Callable, Generator, Iterator, Sequence

from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions
from umg_search.encoding.encoders import Encoders, EncodingFailure
from umg_search.errors import ConfigurationError, SetIncomplete
from umg_search.model import (
    DocumentHash,
    EncodedDocument,
    IndexSet,
    IngestReport,
    LedgerEntry,
    Outcome,
    SetRole,
    SetSpec,
)
from umg_search.ports import Engine
from umg_search.store.admin import LEASE_SECONDS, Coverage, Lease, Sets, buildable, lease
from umg_search.store.attributes import misfit
from umg_search.store.building import Builder
from umg_search.store.reports import failure
from umg_search.store.writer import Writer

PASSES = 5
"""How often the ledger is gone through for documents that others changed while they were built."""

Reports = Generator[IngestReport, None, None]


class RebuildService:
    """Builds and flips index sets. One process at a time does so (EngineBusy else); searches and writes go on."""

    def __init__(
        self,
        engine: Engine,
        encoders_of: Callable[[SetSpec], Encoders],
        *,
        sentences: SentenceOptions,
        batch_chars: int,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._engine = engine
        self._encoders_of = encoders_of
        self._sentences = sentences
        self._batch_chars = batch_chars
        self._lease_seconds = lease_seconds
        self._sets = Sets(engine)
        self._builder = Builder(engine)
        self._writer = Writer(engine)

    def begin(self, spec: SetSpec) -> tuple[IndexSet, Coverage]:
        """Return the set that is to be built, new or left by an earlier run, and what it has already."""
        with lease(self._engine, seconds=self._lease_seconds):
            index = self._sets.begin(spec)
            return index, self._sets.coverage()[index.label]

    def fill(self, index: IndexSet) -> Reports:
        """Build every document that the set lacks or has an older text of; yield a report of each.

        What a run that was killed had built stays built. A document that fails is reported and never stops the others.
        """
        with lease(self._engine, seconds=self._lease_seconds) as held:
            yield from self._fill(index, held)

    def activate(self, index: IndexSet) -> Reports:
        """Catch up, make a set the one that is searched, and catch up with what was written at that moment.

        SetIncomplete, with nothing changed, where documents cannot be built.
        """
        with lease(self._engine, seconds=self._lease_seconds) as held:
            failed, lost = yield from self._fill(index, held)
            if failed:
                raise SetIncomplete(
                    f"Index set {index.label} was not activated, since {len(failed)} documents cannot be built in it "
                    f"(the first is {failed[0].document_id!r}: {failed[0].reason}): ingest them corrected or delete "
                    f"them, and run `umg index activate {index.version}` again."
                )
            if lost:
                raise SetIncomplete(
                    f"Index set {index.label} was not activated, since others changed {lost} documents each time that "
                    f"they were built: run `umg index activate {index.version}` again when less is written."
                )
            held.check()
            self._sets.flip(index)
            yield from self._fill(index, held)

    def rollback(self) -> tuple[IndexSet, Reports]:
        """Return the set that was active before, and its activation, which begins when the reports are read."""
        previous = self._sets.latest(SetRole.PREVIOUS)
        if previous is None:
            raise ConfigurationError(
                "There is no previous index set to go back to: `umg index list` shows what there is."
            )
        return previous.index, self.activate(previous.index)

    def drop(self, version: int) -> None:
        """Delete a set that is not active."""
        with lease(self._engine, seconds=self._lease_seconds):
            self._sets.drop(version)

    def _fill(self, index: IndexSet, held: Lease) -> Generator[IngestReport, None, tuple[list[IngestReport], int]]:
        """Go through the ledger until nothing is left but what fails.

        Return that, and how many documents the last pass lost to others who changed them meanwhile.
        """
        failed: dict[DocumentHash, IngestReport] = {}
        lost = 0
        for _ in range(PASSES):
            left = lost = 0
            for batch in self._batches(index, failed):
                held.check()
                reports = self._build(index, batch)
                yield from reports.values()
                failed |= {key: report for key, report in reports.items() if report.outcome is Outcome.FAILED}
                left += len(batch)
                lost += len(batch) - len(reports)
            if not left:
                break
        return list(failed.values()), lost

    def _batches(self, index: IndexSet, failed: dict[DocumentHash, IngestReport]) -> Iterator[list[LedgerEntry]]:
        """Yield entries of documents to be built, of about `batch_chars` characters together."""
        labels = [stored.index.label for stored in self._engine.sets()]
        batch: list[LedgerEntry] = []
        size = 0
        for entry in self._engine.entries():
            if not buildable(entry, labels) or entry.document in failed:
                continue
            if entry.is_current_in(index.label):
                if not entry.attributes_fingerprint:
                    self._writer.settle(index, entry.document)
                continue
            if batch and size + entry.characters > self._batch_chars:
                yield batch
                batch, size = [], 0
            batch.append(entry)
            size += entry.characters
        if batch:
            yield batch

    def _build(self, index: IndexSet, batch: Sequence[LedgerEntry]) -> dict[DocumentHash, IngestReport]:
        """Split, encode and store one batch; documents that others changed meanwhile have no report."""
        sets = [stored.index for stored in self._engine.sets()]
        read = list(self._builder.read(sets, batch))
        wrong = {entry.document: failure(d, why) for entry, d in read if (why := misfit(d, index.spec))}
        read = [(entry, document) for entry, document in read if entry.document not in wrong]
        encoders = self._encoders_of(index.spec)
        split = split_documents([document for _, document in read], encoders.counter, self._sentences)
        reports: dict[DocumentHash, IngestReport] = dict(wrong)
        copies: list[tuple[LedgerEntry, EncodedDocument]] = []
        for (entry, document), item in zip(read, encoders.encode(split), strict=True):
            if isinstance(item, EncodingFailure):
                reports[entry.document] = failure(document, item.reason)
            else:
                copies.append((entry, item.document))
        return reports | dict(self._builder.store(index, copies))
