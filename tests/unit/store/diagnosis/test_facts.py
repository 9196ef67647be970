"""Asking a server: what is missing, forbidden or out of order is told, never raised; and the judge of the ledger."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.fakes.engine import MemoryEngine
from umg_search.errors import EngineError, EngineUnreachable
from umg_search.model import DocumentKey, DocumentState, LedgerEntry, Retired, SetState, Verdict
from umg_search.settings import Settings
from umg_search.store.client import Answer, Connection
from umg_search.store.diagnosis.facts import Probe, ask
from umg_search.store.diagnosis.ledger import documents, judged
from umg_search.store.dialect import ELASTICSEARCH
from umg_search.store.retrying import retrying
from umg_search.store.transports import endpoint_of

Reply = Callable[[], Answer]


def server(*replies: Answer | Exception) -> Connection:
    """Return a connection to a server that gives these answers in turn."""
    waiting = list(replies)

    def send(_method: str, _path: str, _body: bytes | None, _kind: str) -> Answer:
        reply = waiting.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return Connection(
        send, endpoint_of(Settings(engine="http://here:9200")), ELASTICSEARCH, "9.5.3", partial(retrying, 1, 60)
    )


def probe(*replies: Answer | Exception) -> Probe:
    return ask(server(*replies), "GET", "/_license?human")


def test_an_answer_is_kept() -> None:
    assert probe(Answer(200, {"a": 1})) == Probe({"a": 1})


@pytest.mark.parametrize("status", [401, 403])
def test_a_forbidden_route_is_told_without_its_query(status: int) -> None:
    assert probe(Answer(status, {"error": {}})).why == f"this user may not ask GET /_license (HTTP {status})"


@pytest.mark.parametrize("status", [400, 404, 405])
def test_a_missing_route_is_told(status: int) -> None:
    found = probe(Answer(status, {"error": "no handler found"}))
    assert found.why == f"the server does not answer GET /_license (HTTP {status})"
    assert bool(found.refusal) is (status == 400)


def test_the_innermost_reason_of_a_refusal_is_kept() -> None:
    causes: dict[str, Any] = {"reason": "outer", "caused_by": {"reason": "middle", "caused_by": {"reason": "inner"}}}
    assert probe(Answer(400, {"error": causes})).refusal == "inner"


def test_a_busy_server_is_asked_again() -> None:
    assert probe(Answer(429, {}), Answer(200, {"a": 1})).body == {"a": 1}


def test_a_server_that_fails_or_goes_away_is_told() -> None:
    assert "HTTP 500" in probe(Answer(500, {"error": {"type": "t", "reason": "r"}})).why
    gone = EngineUnreachable("http://here does not answer: start it.")
    assert probe(gone, gone).why == "http://here does not answer: start it"


def test_documents_are_counted_by_state_and_failed_ones_warn() -> None:
    well = judged({DocumentState.SEARCHABLE: 3, DocumentState.DELETED: 1}, 0)
    assert (well.verdict, well.found) == (Verdict.OK, "3 searchable, 1 deleted")
    failed = judged({DocumentState.SEARCHABLE: 3, DocumentState.FAILED: 2}, 0)
    assert (failed.verdict, failed.found) == (Verdict.WARNING, "3 searchable, 2 failed")
    waiting = judged({DocumentState.QUEUED: 2, DocumentState.ENCODING: 1}, 0)
    assert (waiting.verdict, waiting.found) == (Verdict.OK, "2 queued, 1 encoding")
    assert "`umg worker`" in waiting.remedy
    writing = judged({DocumentState.WRITING: 1}, 4)
    assert writing.verdict is Verdict.OK
    assert "deletes: 4" in writing.found
    assert "unless an ingest is running" in writing.remedy


def test_generations_that_wait_for_their_deletion_are_counted_over_all_sets() -> None:
    engine = MemoryEngine()
    key = DocumentKey("default", "a")
    sets = {"v1": SetState(None, (Retired(1, 5, 0.0), Retired(2, 5, 0.0))), "v2": SetState(None, (Retired(3, 5, 0.0),))}
    engine.write_entries([LedgerEntry(key.hash, key, sets=sets)])
    assert "deletes: 3" in documents(engine).found  # 2 + 1


def test_a_ledger_that_cannot_be_read_is_unknown() -> None:
    engine = MemoryEngine()

    def fail() -> None:
        raise EngineError("The ledger is closed: open it.")

    engine.before("entries", fail)
    assert (documents(engine).verdict, documents(MemoryEngine()).verdict) == (Verdict.UNKNOWN, Verdict.OK)
