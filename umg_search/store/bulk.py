"""Bulk requests to a server: cut by size, busy items sent again, every item's outcome consumed."""

import random
import time
from collections.abc import Iterable, Iterator

from umg_search.store.actions import Action, Outcome, outcomes, requests
from umg_search.store.client import Connection

LONGEST_PAUSE = 5.0
"""Seconds between two tries at items that the server was too busy for."""

_TOO_LARGE = 413
_BUSY = frozenset({429, 503})


def send_all(server: Connection, todo: Iterable[Action], *, most_bytes: int, retries: int) -> Iterator[Outcome]:
    """Send actions and yield the last word on each; their order may change.

    Only items that answer 429 or 503 are sent again; a request that is too large for the server or a proxy before it
    is halved.
    """
    for request in requests(todo, most_bytes):
        yield from _send(server, request, retries)


def _send(server: Connection, request: list[Action], retries: int) -> Iterator[Outcome]:
    for attempt in range(retries + 1):
        answer = server.call("POST", "/_bulk", lines=b"".join(a.lines for a in request), accept={_TOO_LARGE})
        if answer.status == _TOO_LARGE:
            yield from _send_halves(server, request, retries)
            return
        busy = []
        for outcome in outcomes(request, answer.body):
            if outcome.status in _BUSY and attempt < retries:
                busy.append(outcome.action)
            else:
                yield outcome
        if not busy:
            return
        request = busy
        # Full jitter: workers that were refused together must not come back together.
        time.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.2 * 2**attempt)))  # noqa: S311 - no secret


def _send_halves(server: Connection, request: list[Action], retries: int) -> Iterator[Outcome]:
    if len(request) == 1:
        reason = f"an entry of {len(request[0].lines)} bytes is too large for {server.where}: raise its request limit"
        yield Outcome(request[0], _TOO_LARGE, {"error": reason})
        return
    middle = len(request) // 2
    for half in (request[:middle], request[middle:]):
        yield from _send(server, half, retries)
