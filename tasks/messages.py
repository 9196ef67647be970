"""What a message says: names of tasks, ids and numbers, as JSON and never a text."""

from collections.abc import Sequence
from typing import Any

from umg_search.model import DocumentHash, Ticket
from umg_search.settings import Settings

INGEST = "umg.ingest"
SWEEP = "umg.sweep"


def queue_name(settings: Settings) -> str:
    """Return the name of the queue in Redis, which begins all keys of this deployment."""
    return f"umg-{settings.prefix}"


def message(batch: str, tickets: Sequence[Ticket]) -> dict[str, Any]:
    """Return the arguments of `umg.ingest`: a submission, and hash (hex) and job number of some of its documents."""
    return {"batch": batch, "tickets": [(ticket.document.hex(), ticket.number) for ticket in tickets]}


def tickets_of(pairs: Sequence[Sequence[str | int]]) -> list[Ticket]:
    """Return the tickets that a message names; ValueError where it is none of ours."""
    return [_ticket(*pair) for pair in pairs]


def _ticket(document: object, number: object) -> Ticket:
    if not isinstance(document, str) or not isinstance(number, int):
        raise TypeError(f"A ticket is a hash in hex and a number, not {document!r} and {number!r}.")
    return Ticket(DocumentHash(bytes.fromhex(document)), number)
