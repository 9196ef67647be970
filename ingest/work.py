"""The worker's part of asynchronous ingestion: documents of one message, from the queue to being searchable."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingest.pipeline import IngestService
from umg_search.model import IngestReport, Ticket
from umg_search.ports import Engine, Queue, Sender
from umg_search.store.writer import Writer

MOST_DEATHS = 3
"""Leases of a document that may end without a word before it is set aside."""


@dataclass(frozen=True, slots=True)
class WorkReport:
    """What became of a message.

    `reports` has one report for each document that is settled, failed ones included. `dropped` had nothing left to do
    (superseded, done, cancelled or deleted), `separated` are sent again, each alone, since a worker died of one of
    them. `held` are in another run's hands: the message is to be worked again after `wait_s` seconds (0: nothing is).
    """

    reports: tuple[IngestReport, ...] = ()
    dropped: int = 0
    separated: int = 0
    held: int = 0
    wait_s: float = 0.0


class WorkService:
    """Does what messages ask for. One message at a time."""

    def __init__(
        self,
        engine: Engine,
        queue: Queue,
        sender: Sender,
        writer: Writer,
        ingest: IngestService,
        *,
        lease_s: float,
        out_of_time: tuple[type[BaseException], ...] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`out_of_time` are the errors by which a task queue's time limit stops the work on a message."""
        raise NotImplementedError

    def work(
        self, batch: str, tickets: Sequence[Ticket], *, run: str, owner: str = "", previous_run: str = ""
    ) -> WorkReport:
        """Work on the documents of a message and return what became of them.

        `run` names this execution and no other, also where the same message is delivered again; `owner` says to people
        who does it. `previous_run` is an earlier execution for the same message that ended in a transient error.
        Transient errors (EngineBusy, EngineUnreachable) and what else stops the work (SystemExit, KeyboardInterrupt)
        are raised after the documents were handed back, so that the message can be worked again, at once or later.
        """
        raise NotImplementedError
