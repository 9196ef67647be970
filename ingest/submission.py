"""Asynchronous ingestion begins: documents into the queue and the ledger, then messages to the workers.

Order: texts into the queue -> conditional ledger writes -> messages. A crash at any point leaves either a text that
nobody names, which the sweeper deletes, or a queued document that the sweeper sends.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from umg_search.model import Document
from umg_search.ports import Engine, Queue, Sender


class Submitted(StrEnum):
    """What became of one document of a submission."""

    QUEUED = "queued"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SubmitReport:
    """What became of one document, why it failed, and what to know of it, such as a message that could not be sent."""

    document_id: str
    collection: str
    batch: str
    outcome: Submitted
    reason: str = ""
    warning: str = ""


def new_batch() -> str:
    """Return the id of a new submission: its time, to be read by people, and something random."""
    raise NotImplementedError


class SubmitService:
    """Takes documents for the workers. No model is loaded, and no index set has to exist yet."""

    def __init__(
        self,
        engine: Engine,
        queue: Queue,
        sender: Sender,
        *,
        batch_chars: int,
        queue_bytes: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        raise NotImplementedError

    def submit(
        self, documents: Iterable[Document], *, batch: str = "", source: str = "", expected_bytes: int = 0
    ) -> Iterator[SubmitReport]:
        """Queue documents and yield what became of each; the order may differ from theirs.

        `batch` is the submission's id, a new one unless given. `source` is kept of each document (`--sync`).
        `expected_bytes` is about what the texts will take together: BacklogFull, with nothing taken, where the queue or
        the disks do not hold that. Where the texts turn out to be larger, BacklogFull says how many were taken.
        A broker that does not answer is a warning in the reports: the sweeper sends what is queued. Engine errors are
        raised; what was reported before is queued, and the same submission can be made again.
        """
        raise NotImplementedError
