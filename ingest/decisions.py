"""What becomes of a document that is submitted, by what the ledger says of it. Pure."""

from dataclasses import dataclass, replace
from enum import StrEnum

from ingest.pipeline import EMPTY
from umg_search.model import Document, Failure, IndexSet, LedgerEntry, Stage, TextKey
from umg_search.store import jobs, ledger
from umg_search.store.attributes import misfit
from umg_search.store.jobs import text_key
from umg_search.store.plans import Change, change_of, job_of


class Submitted(StrEnum):
    """What became of one document of a submission."""

    QUEUED = "queued"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a document: its ledger entry before, and after if that is to be written."""

    document: Document
    before: LedgerEntry
    after: LedgerEntry | None
    outcome: Submitted
    reason: str = ""

    @property
    def queued(self) -> TextKey | None:
        """The text of the new job, None if there is none."""
        job = self.after.job if self.after else None
        return text_key(self.before, job) if job and job.number >= self.before.next_generation else None

    @property
    def replaced(self) -> TextKey | None:
        """The text of a job that is no more, None if there was none."""
        job = self.before.job
        gone = job is not None and self.after is not None and job_of(self.after) != job.number
        return text_key(self.before, job) if job and gone else None


@dataclass(frozen=True, slots=True)
class Submission:
    """What all documents of a submission have in common; no `index` is there before the first ingest."""

    batch: str
    source: str
    index: IndexSet | None

    def decide(self, document: Document, entry: LedgerEntry | None, now: float, *, refusal: str = "") -> Decision:
        """Return what is to become of a document; `refusal` is why the queue did not take its text."""
        before = entry or ledger.blank(document.key)
        if why := refusal or self._flaw(document):
            return Decision(document, before, self._failed(before, document, why, now), Submitted.FAILED, why)
        change = Change.TEXT if self.index is None else change_of(entry, document, self.index.label)
        if before.pending is None and change in {Change.STATE, Change.NONE}:
            return Decision(document, before, self._unchanged(before, change, now), Submitted.UNCHANGED)
        if before.pending is not None and before.pending.fingerprint == jobs.fingerprint(document):
            joined = jobs.joined(before, before.pending, self.batch, self.source)
            return Decision(document, before, joined, Submitted.QUEUED)
        queued = jobs.queued(before, document, self.batch, self.source, now)
        return Decision(document, before, queued, Submitted.QUEUED)

    def _flaw(self, document: Document) -> str:
        if not document.text.strip():
            return EMPTY
        return misfit(document, self.index.spec) if self.index else ""

    def _failed(self, before: LedgerEntry, document: Document, why: str, now: float) -> LedgerEntry | None:
        """Return the entry of a document that failed; one that waits with another text goes on waiting."""
        if before.pending is not None:
            return None
        named = replace(before, key=document.key, job=None, batch=self.batch, source=self.source or before.source)
        return ledger.fail(named, Failure(why, Stage.SUBMISSION), now)

    def _unchanged(self, before: LedgerEntry, change: Change, now: float) -> LedgerEntry | None:
        source = self.source or before.source
        if change is Change.STATE:
            settled = ledger.settle(before, now, job=job_of(before))
            return replace(settled, batch=self.batch, source=source)
        return None if source == before.source else replace(before, source=source)
