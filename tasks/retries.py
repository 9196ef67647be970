"""Trying again: which errors pass, and how long to wait."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import structlog
from billiard.exceptions import SoftTimeLimitExceeded
from celery import Task
from celery.exceptions import Reject
from kombu.exceptions import OperationalError

from tasks.stopping import INTERRUPTION, StopRequested
from umg_search.errors import (
    BrokerUnreachable,
    ConfigurationError,
    EngineBusy,
    EngineUnreachable,
    WriteConflict,
)

TRANSIENT = (EngineBusy, EngineUnreachable, WriteConflict, BrokerUnreachable)
"""What passes by itself: engine or broker are away or busy, or another writer was faster."""

MENDABLE = (ConfigurationError, MemoryError)
"""What people must mend, such as settings that differ from the index set, or a model that does not fit into memory.

Once documents are being worked on, memory is theirs to answer for. A MemoryError that left a task would end the worker,
children and all."""

MOST_TRIES = 20
"""Tries of one message; then the sweeper sends what is still queued."""

FIRST_DELAY_S = 2.0
LONGEST_DELAY_S = 60.0

_log = structlog.stdlib.get_logger("umg.tasks")


@contextmanager
def orderly(task: "Task[..., None]", run: str) -> Iterator[None]:
    """Send the message again after an error that may pass, and give it back where the worker is to stop.

    Also where its time was over before the work on documents began, since a model had to be loaded: next time it is.
    """
    try:
        with INTERRUPTION.working():
            yield
    except StopRequested:
        _log.info("handed back")
        raise Reject("the worker stops", requeue=True) from None
    except SoftTimeLimitExceeded:
        _log.warning("no time left after loading")
        raise Reject("loading took the time of the message", requeue=True) from None
    except TRANSIENT as error:
        _again(task, error, run)
    except MENDABLE as error:
        _log.exception("cannot work")
        _again(task, error, run)


def delay(tries: int, error: Exception) -> float:
    """Return the seconds until the next try: random up to a bound that doubles, so that workers do not come together.

    Never less than the engine asked for. What people must mend is waited for longest.
    Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter ("full jitter").
    """
    if isinstance(error, MENDABLE):
        return LONGEST_DELAY_S
    bound = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0**tries)
    asked = error.retry_after if isinstance(error, EngineBusy) else 0.0
    return min(LONGEST_DELAY_S, asked + random.uniform(0, bound))  # noqa: S311 - no secret


def _again(task: "Task[..., None]", error: Exception, run: str) -> NoReturn:
    """Send the message again, to be worked on later; where the broker is away as well, it goes back as it was."""
    seconds = delay(task.request.retries, error)
    _log.warning("try again", seconds=round(seconds, 1), tries=task.request.retries, error=str(error))
    kwargs = {**(task.request.kwargs or {}), "previous_run": run}
    try:
        raise task.retry(exc=error, countdown=seconds, max_retries=MOST_TRIES, kwargs=kwargs)
    except OperationalError:
        raise Reject(str(error), requeue=True) from error
