import json

import pytest

from tasks.messages import message, tickets_of
from umg_search.model import DocumentKey, Ticket

TICKETS = [Ticket(DocumentKey("default", f"café {number}").hash, number) for number in range(1, 4)]


def test_a_message_says_ids_and_numbers_and_survives_json() -> None:
    sent = json.loads(json.dumps(message("b1", TICKETS)))
    assert sent == {"batch": "b1", "tickets": [[ticket.document.hex(), ticket.number] for ticket in TICKETS]}
    assert tickets_of(sent["tickets"]) == TICKETS


@pytest.mark.parametrize("pair", [["zz", 1], [7, 1], ["00", "1"], [None, 1]])
def test_what_is_no_ticket_is_refused(pair: list) -> None:
    with pytest.raises((TypeError, ValueError)):
        tickets_of([pair])
