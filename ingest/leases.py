"""A run's lease: noted in the queue before any document is taken, and renewed while the work goes on."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from umg_search.errors import EngineUnreachable, UmgError
from umg_search.ports import Queue

RENEWALS = 3
"""How often a lease is renewed in its time, so that one lost renewal does not end it."""


class RunLease:
    """Says that a run is at work."""

    def __init__(self, queue: Queue, run: str, owner: str, seconds: float, clock: Callable[[], float]) -> None:
        self._queue = queue
        self._run = run
        self._owner = owner
        self._seconds = seconds
        self._clock = clock
        self._until = 0.0
        self._ended = Event()
        self.abandoned = False

    def renew(self) -> None:
        """Extend the lease from now."""
        until = self._clock() + self._seconds
        self._queue.extend_run(self._run, until, self._owner)
        self._until = until

    def check(self) -> None:
        """Raise EngineUnreachable where the lease is over: others may have the documents by now."""
        if self._clock() > self._until:
            raise EngineUnreachable(
                f"The lease of run {self._run} could not be renewed for {self._seconds:.0f} s: "
                "see whether the engine answers; the documents are worked on again."
            )

    def keep(self) -> None:
        """Renew the lease until it is to end."""
        while not self._ended.wait(self._seconds / RENEWALS):
            try:
                self.renew()
            except UmgError:
                continue  # not lost yet; `check` tells when it is

    def abandon(self) -> None:
        """Let it end by its time: documents are still in the run's hands, and a run that is unknown counts as dead."""
        self.abandoned = True

    def end(self) -> None:
        """Renew no more."""
        self._ended.set()


@contextmanager
def leased(
    queue: Queue, run: str, owner: str, seconds: float, clock: Callable[[], float] = time.time
) -> Iterator[RunLease]:
    """Hold the lease of a run; when the work ends in any way but the process's death, the run is forgotten."""
    lease = RunLease(queue, run, owner, seconds, clock)
    lease.renew()
    renewing = Thread(target=lease.keep, name="umg-run", daemon=True)
    renewing.start()
    try:
        yield lease
    finally:
        lease.end()
        renewing.join()
        if not lease.abandoned:
            _forget(queue, run)


def _forget(queue: Queue, run: str) -> None:
    try:
        queue.end_run(run)
    except UmgError:
        return  # it ends by its time
