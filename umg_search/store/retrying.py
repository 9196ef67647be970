"""What is worth another try, how long to wait for it, and when to give up: the only place that decides it."""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import tenacity

from umg_search.errors import EngineBusy, EngineUnreachable

BUSY = frozenset({429, 502, 503, 504})
"""HTTP statuses, of answers and of items in them, that pass: too much to do, or a shard or node not there right now."""

BUSY_ERRORS = frozenset(
    {
        "circuit_breaking_exception",
        "cluster_block_exception",
        "es_rejected_execution_exception",
        "no_shard_available_action_exception",
        "node_closed_exception",
        "node_disconnected_exception",
        "node_not_connected_exception",
        "rejected_execution_exception",
        "unavailable_shards_exception",
    }
)
"""The same, as types of errors, where an answer has no status for an item."""

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0
"""Seconds between two tries: the n-th pause is random and below the smaller of FIRST_PAUSE * 2^n and this."""


Judge = Callable[[tenacity.RetryCallState], bool]
Policy = Callable[..., tenacity.Retrying]
"""`retrying` with numbers already given."""

_passing: Judge = tenacity.retry_if_exception_type((EngineBusy, EngineUnreachable))


def retrying(
    retries: int,
    seconds: float,
    *,
    retry: Judge = _passing,
    at_last: Callable[[tenacity.RetryCallState], None] | None = None,
) -> tenacity.Retrying:
    """Return what calls again after EngineBusy and EngineUnreachable, or where `retry` says so.

    The last error is raised, unless `at_last` is called in its stead.

    At most `retries` times, none of them begun later than `seconds` after the first call. Full jitter: clients that
    were refused together must not come back together. A server that asks for a longer pause (Retry-After) gets it.
    """
    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(retries + 1) | tenacity.stop_before_delay(seconds),
        wait=_pause,
        retry=retry,
        retry_error_callback=at_last,
        reraise=True,
    )


def seconds_asked(retry_after: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float:
    """Return the seconds that the header Retry-After asks to wait, in either of its forms (RFC 9110, 10.2.3)."""
    text = (retry_after or "").strip()
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - now()).total_seconds())
    except (TypeError, ValueError):  # neither form, or a date without a zone
        return 0.0


_jitter = tenacity.wait_random_exponential(multiplier=FIRST_PAUSE, max=LONGEST_PAUSE)


def _pause(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, EngineBusy) else 0.0
    return max(asked, _jitter(state))
