"""What keeps asynchronous ingestion going: dead workers, forgotten messages, and what is left over."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from umg_search.ports import Engine, Queue, Sender
from umg_search.store.writer import Writer


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep did.

    Documents that dead workers had: `revived` are sent again, `failed` set aside. `resent` the broker had
    forgotten. Deleted: `orphans`, texts that nobody named; `runs` that ended; `cleaned`, replaced text of documents.
    `broker` is empty, or why messages could not be sent: the next sweep sends them.
    """

    revived: int = 0
    failed: int = 0
    resent: int = 0
    orphans: int = 0
    runs: int = 0
    cleaned: int = 0
    broker: str = ""


class SweepService:
    """Looks for what is stuck. Several at once are harmless; one every `lease_s` seconds or so is enough."""

    def __init__(
        self,
        engine: Engine,
        queue: Queue,
        sender: Sender,
        writer: Writer,
        *,
        batch_chars: int,
        resend_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        raise NotImplementedError

    def sweep(self) -> SweepReport:
        """Look once; engine errors are raised, and the next sweep goes on where this one stopped."""
        raise NotImplementedError
