"""Stopping in order: a worker that is asked to stop interrupts its children, and they hand their documents back.

Celery itself waits for running tasks, however long, and whoever asked kills the worker meanwhile.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from celery.worker import WorkController

SIGNAL = signal.SIGUSR2
"""Celery and billiard use SIGUSR1, SIGTERM and SIGQUIT in a child; this one is free."""


class StopRequested(SystemExit):
    """Raised in the midst of the work on a message when the worker is to stop."""


class Interruption:
    """Whether this process is to stop, and whether it may be interrupted right now."""

    def __init__(self) -> None:
        self._requested = False
        self._working = False

    def install(self) -> None:
        """Take the signal, in the main thread of a child."""
        signal.signal(SIGNAL, self._take)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Let the signal raise StopRequested inside; at once, if it came before."""
        if self._requested:
            raise StopRequested
        self._working = True
        try:
            yield
        finally:
            self._working = False

    def _take(self, *_: object) -> None:
        self._requested = True
        if self._working:
            self._working = False  # once: handing back is not to be interrupted
            raise StopRequested


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back orders to stop and Celery's soft time limit until the end.

    Loading a model imports PyTorch, and an import that is broken off can never be made again in the same process.
    Handlers are exchanged, since a signal that is blocked in this thread is taken by another one.
    """
    missed: list[int] = []
    held = (SIGNAL, signal.SIGUSR1)
    before = {number: signal.signal(number, lambda number, _: missed.append(number)) for number in held}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for each in missed:
        signal.raise_signal(each)


INTERRUPTION = Interruption()
"""That of this process: a signal is the process's own, too."""


def interrupt_children(worker: WorkController) -> None:
    """Ask all children of a worker to stop. Called by a signal handler in the parent."""
    pool: Any = worker.pool
    for child in pool.info["processes"] if pool is not None else ():
        with suppress(ProcessLookupError):
            os.kill(child, SIGNAL)
