"""Asynchronous work: what the ledger says of it, what messages carry, and what is known of a submission."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from umg_search.model.documents import Document
from umg_search.model.identity import DocumentHash


class Stage(StrEnum):
    """Where on its way a document failed."""

    SUBMISSION = "submission"
    READING = "reading"
    SPLITTING = "splitting"
    ENCODING = "encoding"
    WRITING = "writing"


class Failure(NamedTuple):
    """Why a document could not be stored: a sentence, the stage, and the name of the error's class."""

    reason: str
    stage: Stage
    error_class: str = "DocumentError"


@dataclass(frozen=True, slots=True)
class Job:
    """Work on one document that a worker does, or is to do; the ledger has at most one a document.

    `number` is one of the document's generation numbers, so that none is used twice; messages name it. `fingerprint` is
    that of text and attributes that wait, `characters` the length of the text. `attempts` counts leases when they are
    taken, `deaths` those that ended without a word. `run` is the work that has it now, empty for nobody. `sent_at`
    (seconds since the epoch) is when the message was last handed to the broker, 0 if it is known to be lost.
    """

    batch: str
    number: int
    fingerprint: str = ""
    characters: int = 0
    attempts: int = 0
    deaths: int = 0
    run: str = ""
    sent_at: float = 0.0


class Ticket(NamedTuple):
    """What a message says of a document: its hash, and the number of the job."""

    document: DocumentHash
    number: int


class TextKey(NamedTuple):
    """Identity of a raw document in the queue.

    It has the job's fingerprint too: of two submissions that reach for the same number at once, one gets it, and the
    other's text must not be in its place.
    """

    document: DocumentHash
    number: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class QueuedText:
    """A raw document that waits for a worker; `since` is when it was queued, in seconds since the epoch."""

    key: TextKey
    document: Document
    since: float


class OldText(NamedTuple):
    """A raw document that has waited for long, and the engine's mark of when it was queued the last time."""

    key: TextKey
    mark: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """A submission: when it was made (seconds since the epoch), and what became of its documents at that moment."""

    id: str
    created_at: float
    source: str = ""
    queued: int = 0
    unchanged: int = 0
    failed: int = 0
    complete: bool = False
    cancelled: bool = False

    @property
    def total(self) -> int:
        """Documents that were submitted so far; all of them once `complete`."""
        return self.queued + self.unchanged + self.failed


class Looks(NamedTuple):
    """When a sweeper looked (seconds since the epoch, 0: never): the last time, and half a lease or more before."""

    last: float = 0.0
    before: float = 0.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """Texts in the queue, their bytes in UTF-8, and the bytes that the engine's disks have left for more.

    `free_bytes` is None where the engine does not tell.
    """

    documents: int
    bytes: int
    free_bytes: int | None
