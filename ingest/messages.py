"""Jobs to messages: some documents of one submission together, so that encoders' batches are full."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from uuid import uuid4

from umg_search.errors import BrokerUnreachable, EngineError
from umg_search.model import Job, LedgerEntry
from umg_search.ports import Engine, Queue, Sender
from umg_search.store.jobs import sent, ticket_of

GROUPS = 4
"""Groups of an ingest in one message: while one is written the next is encoded, and the first has nothing beside it."""

MOST_DOCUMENTS = 500
"""Documents of one message: of 30,000 bytes then, and its lease is one request."""

Waiting = tuple[LedgerEntry, Job]
"""A document with its pending job."""


class Messages:
    """Sends messages for jobs whose ledger entries are written; what cannot be sent is left to the sweeper."""

    def __init__(self, engine: Engine, sender: Sender, *, batch_chars: int) -> None:
        self._engine = engine
        self._sender = sender
        self._most_chars = GROUPS * batch_chars

    def send(self, entries: Iterable[LedgerEntry]) -> str:
        """Send the pending jobs of entries; return why the broker did not take them all, empty if it did.

        A job whose worker died goes alone, so that it takes no others with it.
        """
        waiting = pending(entries)
        messages = list(self._messages(waiting))
        for number, message in enumerate(messages):
            try:
                self._sender.send(message[0][1].batch, [ticket_of(entry, job) for entry, job in message])
            except BrokerUnreachable as error:
                self._forget([item for rest in messages[number:] for item in rest])
                return str(error)
        return ""

    def introduce(self, queue: Queue) -> None:
        """Mark the broker before the very first message, so that it is not taken for one that was wiped."""
        try:
            if queue.marker() is None and self._sender.marker() is None:
                mark(queue, self._sender)
        except BrokerUnreachable:
            return  # the sweeper marks it

    def _messages(self, waiting: Sequence[Waiting]) -> Iterator[list[Waiting]]:
        yield from ([item] for item in waiting if item[1].deaths)
        together = sorted((item for item in waiting if not item[1].deaths), key=lambda item: item[1].batch)
        for _, items in groupby(together, key=lambda item: item[1].batch):
            message: list[Waiting] = []
            size = 0
            for item in items:
                if message and (size + item[1].characters > self._most_chars or len(message) == MOST_DOCUMENTS):
                    yield message
                    message, size = [], 0
                message.append(item)
                size += item[1].characters
            if message:
                yield message

    def _forget(self, unsent: Sequence[Waiting]) -> None:
        """Note that messages are known to be lost; unless that fails too, the next sweep sends them."""
        try:
            self._engine.write_entries([sent(entry, job, 0.0) for entry, job in unsent])
        except EngineError:
            return  # a sweep finds them by the time at which they were sent


def mark(queue: Queue, sender: Sender) -> None:
    """Give queue and broker a new mark: from now on the broker counts as one that knows all that was sent."""
    name = uuid4().hex
    queue.set_marker(name)
    sender.set_marker(name)


def pending(entries: Iterable[LedgerEntry]) -> list[Waiting]:
    """Return the entries that have a pending job, with it."""
    return [(entry, entry.pending) for entry in entries if entry.pending is not None]
