"""Trying again: which errors pass, and how long to wait."""

import random
from typing import NoReturn

from celery import Task
from celery.exceptions import Reject
from kombu.exceptions import OperationalError

from umg_search.errors import ConfigurationError, EngineBusy, EngineUnreachable, WriteConflict

TRANSIENT = (EngineBusy, EngineUnreachable, WriteConflict)
"""What passes by itself: the engine is away or busy, or another writer was faster."""

MOST_TRIES = 20
"""Tries of one message; then the sweeper sends what is still queued."""

FIRST_DELAY_S = 2.0
LONGEST_DELAY_S = 60.0


def delay(tries: int, error: Exception) -> float:
    """Return the seconds until the next try: random up to a bound that doubles, so that workers do not come together.

    Never less than the engine asked for. Wrong settings are mended by people, so that wait is the longest.
    Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter ("full jitter").
    """
    if isinstance(error, ConfigurationError):
        return LONGEST_DELAY_S
    bound = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0**tries)
    asked = error.retry_after if isinstance(error, EngineBusy) else 0.0
    return min(LONGEST_DELAY_S, asked + random.uniform(0, bound))  # noqa: S311 - no secret


def again(task: Task, error: Exception, run: str) -> NoReturn:
    """Send the message again, to be worked on later; `run` is the work that ended in the error.

    Where the broker is away as well, the message goes back to it as it was.
    """
    seconds = delay(task.request.retries, error)
    kwargs = {**(task.request.kwargs or {}), "previous_run": run}
    try:
        task.retry(exc=error, countdown=seconds, max_retries=MOST_TRIES, kwargs=kwargs)
    except OperationalError:
        raise Reject(str(error), requeue=True) from error
    raise AssertionError("retry always raises")
