"""The write path: documents in, one report each out."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace

from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions
from umg_search.encoding.encoders import Encoded, Encoders, EncodingFailure
from umg_search.model import (
    Document,
    DocumentKey,
    Failure,
    IndexSet,
    IngestReport,
    Outcome,
    SetSpec,
    SplitDocument,
    Stage,
)
from umg_search.store.attributes import misfit
from umg_search.store.plans import Change, Seen
from umg_search.store.writer import Writer

EMPTY = "There is no text in it."

LEAST_CHARGE = 200
"""Characters that a document counts at least, so that a batch of tiny ones ends too."""

MOST_SENTENCES = 100_000
"""Sentences of a document unless told otherwise: about 1.5 million words, whose windows take hundreds of MB."""


class IngestService:
    """Splits, encodes and stores documents, in batches, so that the encoders' batches are full."""

    def __init__(
        self,
        writer: Writer,
        encoders: Encoders,
        spec: SetSpec,
        *,
        sentences: SentenceOptions,
        batch_chars: int,
        max_sentences: int = MOST_SENTENCES,
    ) -> None:
        self._writer = writer
        self._encoders = encoders
        self._spec = spec
        self._sentences = sentences
        self._batch_chars = batch_chars
        self._max_sentences = max_sentences

    def ingest(self, documents: Iterable[Document], *, run: str = "") -> Generator[IngestReport, None, None]:
        """Store documents and yield what became of each; the order may differ from theirs.

        A `run` that is named has a job for each of them, and stores no document whose job it has no longer.
        A document that fails is reported and never stops the others. While one batch is written the next is encoded.
        EngineError and ConfigurationError, which concern all documents, are raised.
        """
        index = self._writer.prepare(self._spec)
        if not run:  # workers have a sweeper beside them
            self._writer.sweep(index)
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="umg-write") as pool:
            writing: Future[list[IngestReport]] | None = None
            busy: set[DocumentKey] = set()
            for batch in grouped(documents, self._batch_chars):
                index = self._writer.prepare(self._spec)  # another set may have become active since the last batch
                if writing is not None and not busy.isdisjoint(document.key for document in batch):
                    wait([writing])  # the plan for the same document again must see what was written first
                settled, encoded, seen = self._prepared(index, batch, run)
                yield from settled
                if writing is not None:
                    yield from writing.result()
                busy = {item.document.split.document.key for item in encoded}
                writing = pool.submit(self._store, index, encoded, seen, run)
            if writing is not None:
                yield from writing.result()

    def _prepared(
        self, index: IndexSet, batch: Sequence[Document], run: str
    ) -> tuple[list[IngestReport], list[Encoded], Seen]:
        """Return reports of the documents that need no encoding or cannot have one, the others encoded, and the ledger.

        The ledger is as the plan saw it: encoding takes minutes, and what others report meanwhile must hold.
        """
        seen = self._writer.seen(index, batch)
        wrong = {d.key: Failure(why, Stage.READING) for d in batch if (why := misfit(d, index.spec))}
        failed = [(d, wrong[d.key]) for d in batch if d.key in wrong]
        fitting = [d for d in batch if d.key not in wrong]
        plan: dict[Change, list[Document]] = {change: [] for change in Change}
        for document, change in zip(fitting, self._writer.plan(index, fitting, seen), strict=True):
            plan[change].append(document)
        reports = [IngestReport(d.id, d.collection, Outcome.UNCHANGED) for d in plan[Change.NONE]]
        reports += self._writer.confirm(index, plan[Change.STATE], seen, run=run) if plan[Change.STATE] else []
        reports += self._writer.update_attributes(index, plan[Change.ATTRIBUTES], seen, run=run)
        encoded, unreadable = self._encoded(plan[Change.TEXT])
        reports += self._writer.mark_failed(index, failed + unreadable, seen, run=run)
        return reports, encoded, seen

    def _encoded(self, documents: Sequence[Document]) -> tuple[list[Encoded], list[tuple[Document, Failure]]]:
        """Return documents encoded, and those that cannot be, each with the reason."""
        split = split_documents(documents, self._encoders.counter, self._sentences)
        failed = [(s.document, why) for s in split if (why := self._unreadable(s))]
        whole = [s for s in split if not self._unreadable(s)]
        encoded: list[Encoded] = []
        for source, item in zip(whole, self._encoders.encode(whole), strict=True):
            if isinstance(item, EncodingFailure):
                failed.append((source.document, Failure(item.reason, Stage.ENCODING, item.error_class)))
            else:
                encoded.append(item)
        return encoded, failed

    def _unreadable(self, split: SplitDocument) -> Failure | None:
        if not split.sentences:
            return Failure(EMPTY, Stage.SPLITTING)
        if split.sentences > self._max_sentences:
            reason = (
                f"It has {split.sentences} sentences, and UMG_MAX_SENTENCES allows {self._max_sentences}: split it."
            )
            return Failure(reason, Stage.SPLITTING)
        return None

    def _store(self, index: IndexSet, encoded: Sequence[Encoded], seen: Seen, run: str) -> list[IngestReport]:
        """Write encoded documents, and hand on what their encoders had to say."""
        if not encoded:
            return []
        reports = self._writer.replace(index, [item.document for item in encoded], seen, run=run)
        return [replace(report, warnings=item.warnings) for report, item in zip(reports, encoded, strict=True)]


def grouped(
    documents: Iterable[Document], most_chars: int, *, most_documents: int | None = None
) -> Iterator[list[Document]]:
    """Yield documents with distinct keys, of about `most_chars` characters together."""
    batch: list[Document] = []
    keys: set[DocumentKey] = set()
    size = 0
    for document in documents:
        full = size + _charge(document) > most_chars or len(batch) == most_documents
        if batch and (document.key in keys or full):
            yield batch
            batch, keys, size = [], set(), 0
        batch.append(document)
        keys.add(document.key)
        size += _charge(document)
    if batch:
        yield batch


def _charge(document: Document) -> int:
    return max(LEAST_CHARGE, len(document.text))
