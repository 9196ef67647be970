"""Bulk requests to a server: cut by size, busy items sent again, every item's outcome consumed."""

from collections.abc import Iterable, Iterator

import tenacity

from umg_search.store.actions import Action, Outcome, outcomes, requests
from umg_search.store.client import Connection
from umg_search.store.retrying import BUSY

PATH = "/_bulk?timeout=10s"
"""Servers wait for a shard that is missing for a minute unless told otherwise, longer than we wait for an answer."""

_TOO_LARGE = 413


class Bulk:
    """Sends actions to one server, and remembers how large a request may be there."""

    def __init__(self, server: Connection, most_bytes: int) -> None:
        self._server = server
        self._most_bytes = most_bytes

    def send(self, todo: Iterable[Action]) -> Iterator[Outcome]:
        """Send actions and yield the last word on each; their order may change.

        Only items that the server is too busy for are sent again; a request that is too large for the server or a
        proxy before it is cut smaller, and so is every later one. Of `todo` no more is taken than a request holds.
        """
        for request in requests(todo, self._most_bytes):
            for part in requests(request, self._most_bytes):  # it may have been cut for a limit that was too high
                yield from self._send(part)

    def _send(self, request: list[Action]) -> Iterator[Outcome]:
        waiting, busy = request, list[Outcome]()
        for attempt in self._server.retrying(retry=tenacity.retry_if_result(bool), at_last=_last_word):
            lines = b"".join(action.lines for action in waiting)
            answer = self._server.call("POST", PATH, lines=lines, accept={_TOO_LARGE})
            if answer.status == _TOO_LARGE:
                yield from self._send_smaller(waiting, len(lines))
                return
            words = list(outcomes(waiting, answer.body))
            yield from (word for word in words if word.status not in BUSY)
            busy = [word for word in words if word.status in BUSY]
            waiting = [word.action for word in busy]
            attempt.retry_state.set_result(bool(waiting))
        yield from busy

    def _send_smaller(self, request: list[Action], size: int) -> Iterator[Outcome]:
        if len(request) > 1:
            self._most_bytes = min(self._most_bytes, size // 2)
            yield from self.send(request)
            return
        reason = f"an entry of {size} bytes is too large for {self._server.where}: raise its request limit"
        yield Outcome(request[0], _TOO_LARGE, {"error": reason})


def _last_word(state: tenacity.RetryCallState) -> None:
    """Do nothing: items that are still busy after the last try are what the server said of them."""
