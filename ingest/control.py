"""Orders to documents that were submitted: try failed ones again, cancel a submission."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from umg_search.model import DocumentKey
from umg_search.ports import Engine, Queue, Sender


@dataclass(frozen=True, slots=True)
class RetryReport:
    """Failed documents that are queued again, and those whose text is not kept: ingest or submit these again.

    `broker` is empty, or why messages could not be sent: the sweeper sends them.
    """

    queued: int = 0
    without_text: tuple[DocumentKey, ...] = ()
    broker: str = ""


class ControlService:
    """Changes what is to become of submitted documents."""

    def __init__(
        self, engine: Engine, queue: Queue, sender: Sender, *, batch_chars: int, clock: Callable[[], float] = time.time
    ) -> None:
        raise NotImplementedError

    def retry(self, batch: str | None = None) -> RetryReport:
        """Queue failed documents again, all of them or those of one submission, with their attempts forgotten.

        ConfigurationError where there is no such submission.
        """
        raise NotImplementedError

    def cancel(self, batch: str) -> int:
        """Cancel the documents of a submission that are not done; return how many. What was live stays live.

        A worker that has one of them drops it at its next write. ConfigurationError where there is no such submission.
        """
        raise NotImplementedError
