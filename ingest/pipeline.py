"""The write path: documents in, one report each out."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace

from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions
from umg_search.encoding.encoders import Encoded, Encoders, EncodingFailure
from umg_search.model import Document, DocumentKey, IndexSet, IngestReport, Outcome, SetSpec
from umg_search.store.attributes import misfit
from umg_search.store.writer import Change, Seen, Writer

EMPTY = "There is no text in it."

LEAST_CHARGE = 200
"""Characters that a document counts at least, so that a batch of tiny ones ends too."""


class IngestService:
    """Splits, encodes and stores documents, in batches, so that the encoders' batches are full."""

    def __init__(
        self, writer: Writer, encoders: Encoders, spec: SetSpec, *, sentences: SentenceOptions, batch_chars: int
    ) -> None:
        self._writer = writer
        self._encoders = encoders
        self._spec = spec
        self._sentences = sentences
        self._batch_chars = batch_chars

    def ingest(self, documents: Iterable[Document]) -> Generator[IngestReport, None, None]:
        """Store documents and yield what became of each; the order may differ from theirs.

        A document that fails is reported and never stops the others. While one batch is written the next is encoded.
        EngineError and ConfigurationError, which concern all documents, are raised.
        """
        index = self._writer.prepare(self._spec)
        self._writer.sweep(index)
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="umg-write") as pool:
            writing: Future[list[IngestReport]] | None = None
            busy: set[DocumentKey] = set()
            for batch in self._batches(documents):
                index = self._writer.prepare(self._spec)  # another set may have become active since the last batch
                if writing is not None and not busy.isdisjoint(document.key for document in batch):
                    wait([writing])  # the plan for the same document again must see what was written first
                settled, encoded, seen = self._prepared(index, batch)
                yield from settled
                if writing is not None:
                    yield from writing.result()
                busy = {item.document.split.document.key for item in encoded}
                writing = pool.submit(self._store, index, encoded, seen)
            if writing is not None:
                yield from writing.result()

    def _batches(self, documents: Iterable[Document]) -> Iterator[list[Document]]:
        """Yield documents with distinct keys, of about `batch_chars` characters together."""
        batch: list[Document] = []
        keys: set[DocumentKey] = set()
        size = 0
        for document in documents:
            if batch and (document.key in keys or size + _charge(document) > self._batch_chars):
                yield batch
                batch, keys, size = [], set(), 0
            batch.append(document)
            keys.add(document.key)
            size += _charge(document)
        if batch:
            yield batch

    def _prepared(self, index: IndexSet, batch: Sequence[Document]) -> tuple[list[IngestReport], list[Encoded], Seen]:
        """Return reports of the documents that need no encoding or cannot have one, the others encoded, and the ledger.

        The ledger is as the plan saw it: encoding takes minutes, and what others report meanwhile must hold.
        """
        wrong = {d.key: why for d in batch if (why := misfit(d, index.spec))}
        reports = [self._writer.mark_failed(index, d, wrong[d.key]) for d in batch if d.key in wrong]
        fitting = [d for d in batch if d.key not in wrong]
        seen = self._writer.seen(index, fitting)
        plan = list(zip(fitting, self._writer.plan(index, fitting, seen), strict=True))
        reports += [IngestReport(d.id, d.collection, Outcome.UNCHANGED) for d, change in plan if change is Change.NONE]
        described = [document for document, change in plan if change is Change.ATTRIBUTES]
        reports += self._writer.update_attributes(index, described, seen)
        changed = [document for document, change in plan if change is Change.TEXT]
        split = split_documents(changed, self._encoders.counter, self._sentences)
        reports += [self._writer.mark_failed(index, s.document, EMPTY) for s in split if not s.sentences]
        whole = [s for s in split if s.sentences]
        encoded: list[Encoded] = []
        for source, item in zip(whole, self._encoders.encode(whole), strict=True):
            if isinstance(item, EncodingFailure):
                reports.append(self._writer.mark_failed(index, source.document, item.reason))
            else:
                encoded.append(item)
        return reports, encoded, seen

    def _store(self, index: IndexSet, encoded: Sequence[Encoded], seen: Seen) -> list[IngestReport]:
        """Write encoded documents, and hand on what their encoders had to say."""
        if not encoded:
            return []
        reports = self._writer.replace(index, [item.document for item in encoded], seen)
        return [replace(report, warnings=item.warnings) for report, item in zip(reports, encoded, strict=True)]


def _charge(document: Document) -> int:
    return max(LEAST_CHARGE, len(document.text))
