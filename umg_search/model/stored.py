"""What engines hold beside the chunk entries: text blocks, and the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from umg_search.model.identity import DocumentHash, DocumentKey, DocumentVersion
from umg_search.model.jobs import Job

BLOCK_SENTENCES = 32
"""Sentences in a text block; blocks do not overlap."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Sentences number * 32 to (number + 1) * 32 of one document version, as stored text.

    `start` is the code-point offset of the block in the document, `bounds` the offsets of its sentences within the
    block (one more than there are sentences), `counts` their tokens.
    """

    version: DocumentVersion
    number: int
    start: int
    text: str
    bounds: tuple[int, ...]
    counts: tuple[int, ...]


class DocumentState(StrEnum):
    """Where a document's newest text is on its way to being searchable; an older one may be live in any state."""

    QUEUED = "queued"
    ENCODING = "encoding"
    WRITING = "writing"
    SEARCHABLE = "searchable"
    FAILED = "failed"
    DELETING = "deleting"
    DELETED = "deleted"
    CANCELLED = "cancelled"


class Generation(NamedTuple):
    """A generation of a document's windows; chunk ids follow from the number and the count of sentences."""

    number: int
    sentences: int


class Retired(NamedTuple):
    """A generation whose entries are to be deleted: never finished, replaced, or of a deleted document.

    `since` is the time (seconds since the epoch) at which it was replaced, or begun if it was never live.
    """

    number: int
    sentences: int
    since: float


@dataclass(frozen=True, slots=True)
class SetState:
    """What one index set holds of a document: the live generation (None: nothing), and what is to be deleted.

    `text_fingerprint` is that of the live text; empty where text or attributes changed since and another set has them.
    """

    live: Generation | None = None
    retired: tuple[Retired, ...] = ()
    text_fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What is known of one document outside the index sets; the authority on what is live and who may read it.

    `token` is the engine's own mark of the entry's last change (None: not stored yet), for conditional writes.
    Fingerprints are hex digests, empty when unknown. `error`, `stage` and `error_class` are empty unless the state is
    `failed`. `job` is asynchronous work that waits, is being done, or failed; `batch` the last submission that touched
    the document, `source` the path whose deliveries decide whether the document stays, empty if none does.
    """

    document: DocumentHash
    key: DocumentKey | None
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    acl: tuple[str, ...] = ()
    text_fingerprint: str = ""
    attributes_fingerprint: str = ""
    state: DocumentState = DocumentState.WRITING
    error: str = ""
    stage: str = ""
    error_class: str = ""
    changed_at: float = 0.0
    characters: int = 0
    next_generation: int = 1
    sets: Mapping[str, SetState] = field(default_factory=dict)
    job: Job | None = None
    batch: str = ""
    source: str = ""
    token: tuple[int, int] | None = None

    @property
    def pending(self) -> Job | None:
        """The job that waits for a worker or is being done; one that failed is not pending."""
        return None if self.state is DocumentState.FAILED else self.job

    def in_set(self, label: str) -> SetState:
        """Return what a set holds of the document."""
        return self.sets.get(label, SetState())

    def is_current_in(self, label: str) -> bool:
        """Tell whether a set's live generation has the document's newest stored text."""
        state = self.in_set(label)
        return state.live is not None and state.text_fingerprint == self.text_fingerprint
