"""What writers report of documents."""

from collections.abc import Iterable

from umg_search.model import Document, DocumentKey, IndexSet, IngestReport, Outcome
from umg_search.store.generations import Write
from umg_search.windows import window_count

CONFLICT = "Another writer changed the document at the same time: ingest it again."

DELETED = "It was deleted meanwhile: ingest it again."

Reports = dict[DocumentKey, IngestReport]


def failure(document: Document, reason: str) -> IngestReport:
    """Return the report of a document that could not be stored."""
    return IngestReport(document.id, document.collection, Outcome.FAILED, reason=reason)


def stored(write: Write, index: IndexSet) -> IngestReport:
    """Return the report of a document that was stored."""
    split = write.encoded.split
    return IngestReport(
        split.document.id,
        split.document.collection,
        Outcome.UPDATED if write.existed else Outcome.NEW,
        chunks=sum(window_count(split.sentences, granularity) for granularity in index.spec.granularities),
        tokens=sum(split.counts),
    )


def by_key(reports: Iterable[IngestReport]) -> Reports:
    """Return reports by the keys of their documents."""
    return {DocumentKey(report.collection, report.document_id): report for report in reports}
