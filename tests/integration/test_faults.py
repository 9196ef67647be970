"""Faults of networks, gateways and busy servers before real ones: the right data, each stored once, or a clear error.

The embedded engine has no network; tests/integration/embedded has its faults.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import pytest

from dev import faults
from dev.faults import Alter, CutAnswer, Fault, LoseReply, Proxy, Refuse, RefuseItems, Slow
from tests.conftest import SERVERS, given_servers
from tests.contracts.test_store import Store, prose
from tests.fakes.encoders import split
from umg_search.cli.main import ExitCode, run
from umg_search.errors import EngineBusy, EngineError, EngineUnreachable
from umg_search.granularity import Expert, Granularity
from umg_search.model import BLOCK_SENTENCES, Document, DocumentKey, Outcome, TextBlock, version_of
from umg_search.ports import BlockId
from umg_search.settings import Settings
from umg_search.store.plans import Change
from umg_search.windows import window_count
from umg_search.wiring import open_engine

NODES = tuple(given_servers()) or (SERVERS[1], SERVERS[3])
"""One OpenSearch, one Elasticsearch."""

LEAN = (Granularity.G2, Granularity.G8)
ALWAYS = math.inf
TIMEOUT = 1.0

OLD = Document(id="d", text=prose("harbour", 6, extra="an oldthing"), acl=("ann",))
NEW = replace(OLD, text=prose("orchard", 9, extra="a newthing"))
KEPT = Document(id="kept", text=prose("glacier", 40, extra="a keptthing"), title="Kept")
GONE = Document(id="gone", text=prose("volcano", 5))


@dataclass
class Desk:
    """A store behind a proxy, and the same store reached directly."""

    between: Proxy
    settings: Settings
    direct: Settings

    def store(self, **settings: Any) -> Store:
        return Store(open_engine(self.settings.model_copy(update=settings)), granularities=LEAN)

    def check(self, *documents: Document, tombstones: int = 0) -> None:
        """Each document is stored once, whole, found by every channel, and nothing else is."""
        store = Store(open_engine(self.direct), granularities=LEAN)
        store.writer.sweep(store.index)
        for document in documents:
            assert store.reader.text(document.key) == document.text
            entry = store.engine.fetch(store.index, [document.key.hash], []).entries[document.key.hash]
            assert (entry.title, entry.acl) == (document.title, document.acl)
            assert not entry.in_set(store.index.label).retired
            subject = document.text.split()[1]
            assert {r.channel for r in store.search(subject).channels} == set(store.spec.channels)
            assert {c.document_id for c in store.search(subject, top_k=1).contexts} == {document.id}
        counts = [split(document).sentences for document in documents]
        expected = {g.label: sum(window_count(n, g) for n in counts) for g in LEAN}
        expected["text"] = sum(math.ceil(n / BLOCK_SENTENCES) for n in counts)
        sizes = store.engine.sizes(store.index).items()
        found = {name.split("-")[1]: size.entries for name, size in sizes}
        assert found == expected | {"documents": len(documents) + tombstones}


@pytest.fixture(params=NODES)
def desk(request: pytest.FixtureRequest, server_prefix: Any) -> Iterator[Desk]:
    url, prefix = server_prefix(request.param)
    direct = Settings(engine=url, prefix=prefix, replicas=0, grace_s=0)
    with faults.proxy(url) as between:
        yield Desk(between, direct.model_copy(update={"engine": between.url}), direct)


def whole_life(store: Store) -> None:
    """Do every kind of write once."""
    assert store.put(OLD, GONE, KEPT) == [Outcome.NEW] * 3
    assert store.put(NEW) == [Outcome.UPDATED]
    assert store.writer.update_attributes(store.index, replace(KEPT, acl=("bob",))).outcome is Outcome.UPDATED
    assert store.writer.delete(store.index, [GONE.key]) == [True]
    assert store.found("a newthing")[0] == NEW.id


# --- any request, each once ---------------------------------------------------------------------------------------


WRITES = {
    "ledger made": ("PUT /[a-z0-9]+-documents$", ""),
    "index made": ("PUT /.*-g02-v1$", ""),
    "alias": ("POST /_aliases", ""),
    "ledger entry made": ("_bulk", '"create"'),
    "ledger entry changed": ("_bulk", '"if_seq_no"'),
    "blocks": ("_bulk", '"index":.*-text-v1'),
    "chunks": ("_bulk", '"index":.*-g08-v1'),
    "access changed": ("_bulk", '"update"'),
    "deletion": ("_bulk", '"delete"'),
    "refresh": ("_refresh", ""),
}


@pytest.mark.parametrize("fault", [LoseReply(), CutAnswer(), Refuse(503)], ids=["lost", "cut", "refused"])
def test_every_request_fails_once_and_nothing_is_lost_or_doubled(desk: Desk, fault: Fault) -> None:
    """The engine commits, then the client hears nothing, at every kind of write: no duplicates."""
    desk.between.add(fault, times=ALWAYS, first_only=True)
    whole_life(desk.store())
    for kind, (path, body) in WRITES.items():
        sent = Counter((r.path, r.body) for r in desk.between.requests(path) if re.search(body.encode(), r.body))
        assert min(sent.values(), default=0) > 1, f"{kind}: it was never sent again"
    desk.check(NEW, replace(KEPT, acl=("bob",)), tombstones=1)


@pytest.mark.parametrize("late", [False, True], ids=["answered late", "done late"])
def test_bulk_requests_past_the_timeout_make_no_duplicates(desk: Desk, late: bool) -> None:  # noqa: FBT001 - parameter
    """The engine commits after the client's patience. Done late: the first copy reaches the server after the second."""
    store = desk.store(request_timeout_s=TIMEOUT)
    desk.between.add(Slow(2 * TIMEOUT, late=late), path="_bulk", times=ALWAYS, first_only=True)
    assert store.put(OLD) == [Outcome.NEW]
    desk.between.ending.wait(2 * TIMEOUT)
    desk.check(OLD)


# --- busy ---------------------------------------------------------------------------------------------------------


def blocks(count: int) -> list[TextBlock]:
    versions = [version_of(DocumentKey("default", f"b{n}").hash, 1) for n in range(count)]
    return [TextBlock(version, 0, 0, f"text {n}", (0, 6), (2,)) for n, version in enumerate(versions)]


def test_only_the_items_that_were_refused_are_sent_again(desk: Desk) -> None:
    """3 of 10 items answer 429 twice: only those are sent again, nothing lost."""
    store, todo = desk.store(), blocks(10)
    desk.between.clear()
    desk.between.add(RefuseItems((1, 4, 7), tries=2), path="_bulk", times=ALWAYS)
    assert store.engine.write_blocks(store.index, todo) == {}
    first, *others = [request.ids for request in desk.between.requests("_bulk")]
    assert len(first) == 10
    assert others == [[first[1], first[4], first[7]]] * 2
    ids = [BlockId(block.version, 0) for block in todo]
    assert store.engine.fetch(store.index, [], ids).blocks == dict(zip(ids, todo, strict=True))


def test_items_that_stay_refused_are_an_error_of_the_engine_and_the_old_text_stays(desk: Desk) -> None:
    store = desk.store(retries=1)
    store.put(OLD)
    desk.between.add(RefuseItems((0,), tries=9), path="_bulk", body="-g02-v1", times=ALWAYS)
    with pytest.raises(EngineBusy, match=r"cannot write to \w+-g02-v1 for now \(rejected_execution_exception: "):
        store.put(NEW, KEPT)
    desk.between.clear()
    assert "oldthing" in store.search("an oldthing").contexts[0].text
    assert store.put(NEW, KEPT) == [Outcome.UPDATED, Outcome.NEW]
    desk.check(NEW, KEPT)


@pytest.mark.parametrize("path", ["_bulk", "_refresh", "_mget"])
def test_a_server_that_stays_away_is_a_clear_error_and_the_old_text_stays(desk: Desk, path: str) -> None:
    store = desk.store(retries=1)
    store.put(OLD)
    desk.between.add(Refuse(503), path=path, times=ALWAYS)
    with pytest.raises(EngineBusy, match=r"overloaded or not ready \(HTTP 503, .*\): try again later\.$"):
        store.put(NEW)
    desk.between.clear()
    assert "oldthing" in store.search("an oldthing").contexts[0].text
    assert not any("newthing" in context.text for context in store.search("a newthing").contexts)
    assert store.put(NEW) == [Outcome.UPDATED]
    desk.check(NEW)


def test_the_command_line_ends_with_3(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.store()
    for name, value in {"ENGINE": desk.between.url, "PREFIX": desk.settings.prefix, "RETRIES": "1"}.items():
        monkeypatch.setenv(f"UMG_{name}", value)
    desk.between.add(Refuse(503, body=b"<html>" + b"x" * 9_999), path="-text/_mapping|_search", times=ALWAYS)
    assert run(["status"]) == ExitCode.ENGINE
    said = capsys.readouterr().err
    assert "HTTP 503" in said
    assert len(said) < 500


def test_a_server_that_asks_for_a_pause_gets_it(desk: Desk) -> None:
    store = desk.store()
    desk.between.add(Refuse(429, headers={"retry-after": "1"}), path="_bulk")
    begun = monotonic()
    assert store.put(OLD) == [Outcome.NEW]
    assert monotonic() - begun >= 1


@pytest.mark.parametrize("kind", ["", "text/html", "application/json", "application/xml"])
@pytest.mark.parametrize("status", [200, 503])
def test_a_gateways_page_is_understood_whatever_it_says_it_is(desk: Desk, kind: str, status: int) -> None:
    store = desk.store(retries=0)
    headers = {"x-elastic-product": "Elasticsearch"} | ({"content-type": kind} if kind else {})
    desk.between.add(Refuse(status, headers=headers), path="_bulk")
    with pytest.raises(EngineError, match="does not answer in JSON" if status < 300 else "HTTP 503"):
        store.put(OLD)


def test_the_tries_end_in_time(desk: Desk) -> None:
    store = desk.store(retries=20, retry_limit_s=1)
    desk.between.add(Refuse(429), path="_bulk", times=ALWAYS)
    begun = monotonic()
    with pytest.raises(EngineBusy):
        store.put(OLD)
    assert monotonic() - begun < 2


# --- sizes --------------------------------------------------------------------------------------------------------

LIMIT = 100_000
LONG = Document(id="long", text=prose("library", 150))


@pytest.mark.parametrize("hasty", [False, True], ids=["read", "unread"])
def test_requests_over_a_gateways_limit_are_cut_smaller(desk: Desk, hasty: bool) -> None:  # noqa: FBT001 - parameter
    """A request over the proxy's size limit: split. A gateway in a hurry does not read it before it refuses."""
    store = desk.store()
    desk.between.most_bytes, desk.between.hasty = LIMIT, hasty
    assert store.put(KEPT, LONG) == [Outcome.NEW] * 2
    refused = [request for request in desk.between.seen if request.size > LIMIT]
    assert 0 < len(refused) < 5
    again = len(desk.between.seen)
    assert store.put(replace(LONG, text=LONG.text + " The end.")) == [Outcome.UPDATED]
    assert max(request.size for request in desk.between.seen[again:]) <= LIMIT, "the limit was forgotten"
    desk.between.clear()
    desk.check(KEPT, replace(LONG, text=LONG.text + " The end."))


def test_no_request_is_larger_than_the_settings_say(desk: Desk) -> None:
    store = desk.store(bulk_bytes=LIMIT)
    whole_life(store)
    assert store.put(LONG) == [Outcome.NEW]
    principals = tuple(f"group-of-many-people-number-{n}" for n in range(1_000))  # each list's filter is large
    result = store.search("harbour " * 300, collection="default", principals=principals)
    assert not result.degraded
    assert len(desk.between.requests("_msearch")) > 1
    assert max(request.size for request in desk.between.seen) <= LIMIT
    desk.check(NEW, replace(KEPT, acl=("bob",)), LONG, tombstones=1)


def test_an_entry_that_is_too_large_by_itself_is_named(desk: Desk) -> None:
    store = desk.store()
    store.put(OLD)
    desk.between.most_bytes = LIMIT
    long = replace(OLD, text="x" * LIMIT)
    reports = store.writer.replace(store.index, [store.encoded(d) for d in (long, KEPT)])
    assert [report.outcome for report in reports] == [Outcome.FAILED, Outcome.NEW]
    assert "an entry of" in reports[0].reason
    assert f"is too large for {desk.between.url}" in reports[0].reason
    desk.between.clear()
    desk.check(OLD, KEPT)


def test_a_ledger_entry_that_is_too_large_names_its_document(desk: Desk) -> None:
    store = desk.store()
    desk.between.most_bytes = LIMIT
    with pytest.raises(EngineError, match=r"ledger entry of document 'd' \(an entry of \d+ bytes is too large"):
        store.put(replace(OLD, metadata={"x": "y" * LIMIT}), KEPT)


# --- answers in part ----------------------------------------------------------------------------------------------


def some_shards_fail(answer: dict[str, Any]) -> None:
    failure = {"shard": 0, "reason": {"type": "node_disconnected_exception", "reason": "gone"}}
    answer["_shards"] = {"total": 2, "successful": 1, "failed": 1, "failures": [failure]}


@pytest.mark.parametrize("times", [2, ALWAYS])
def test_a_document_is_live_only_when_every_shard_was_refreshed(desk: Desk, times: float) -> None:
    """The status says "searchable" only when a search finds it."""
    store = desk.store(retries=2)
    desk.between.add(Alter(some_shards_fail), path="_refresh", times=times)
    if times == ALWAYS:
        with pytest.raises(EngineBusy, match="1 of 2 shards failed, node_disconnected_exception: gone"):
            store.put(OLD)
        assert store.writer.plan(store.index, [OLD]) == [Change.TEXT]
        desk.between.clear()
    store.put(OLD)
    desk.check(OLD)


def test_a_count_of_some_shards_is_not_given_for_the_whole(desk: Desk) -> None:
    store = desk.store(retries=0)
    desk.between.add(Alter(some_shards_fail), path="_search", times=ALWAYS)
    with pytest.raises(EngineBusy, match="in part only"):
        store.reader.status()
    with pytest.raises(EngineBusy, match="in part only"):
        list(store.engine.entries())


@pytest.mark.parametrize(
    "answer", [{"error": {"type": "timeout", "reason": "slow"}, "status": 504}, {"timed_out": True}]
)
def test_one_of_the_lists_fails_and_the_others_answer(desk: Desk, answer: dict[str, Any]) -> None:
    store = desk.store()
    store.put(OLD, KEPT)
    desk.between.add(Alter(lambda body: body["responses"][3].update(answer)), path="_msearch")
    result = store.search("a keptthing")
    assert result.degraded == (str(store.spec.channels[3]),)
    assert "keptthing" in result.contexts[0].text
    assert len(result.channels) == len(store.spec.channels) - 1


def unread(kind: str) -> Fault:
    def change(body: dict[str, Any]) -> None:
        body["docs"][0] = {"_index": "i", "_id": "x", "error": {"type": kind, "reason": "none active"}}

    return Alter(change)


def test_an_entry_that_cannot_be_read_for_now_is_asked_for_again(desk: Desk) -> None:
    store = desk.store()
    store.put(KEPT)
    desk.between.add(unread("no_shard_available_action_exception"), path="_mget", times=2)
    assert "keptthing" in store.search("a keptthing").contexts[0].text
    desk.between.add(unread("no_shard_available_action_exception"), path="_mget", times=ALWAYS)
    with pytest.raises(EngineBusy, match="none active"):
        desk.store(retries=0).search("a keptthing")


# --- slow searches, closed indices --------------------------------------------------------------------------------


def test_a_search_past_the_timeout_says_so(desk: Desk) -> None:
    desk.store().put(KEPT)
    store = desk.store(request_timeout_s=TIMEOUT, retries=1)
    desk.between.add(Slow(9), path="_msearch", times=ALWAYS)
    with pytest.raises(EngineUnreachable, match=r"did not answer in time .*UMG_REQUEST_TIMEOUT_S\.$"):
        store.search("a keptthing")
    assert len(desk.between.requests("_msearch")) == 1 + 1
    desk.between.clear()
    assert "keptthing" in store.search("a keptthing").contexts[0].text


def test_a_closed_index_is_a_clear_error_for_writes_and_the_old_text_stays(desk: Desk) -> None:
    store = desk.store(retries=0)
    store.put(OLD)
    name = f"{desk.settings.prefix}-g08-v1"
    store.engine._server.call("POST", f"/{name}/_close")
    with pytest.raises(EngineError, match="closed"):
        store.put(NEW)
    result = store.search("an oldthing")
    assert set(result.degraded) == {f"{expert}-g08" for expert in Expert}
    assert "oldthing" in result.contexts[0].text
    with pytest.raises(EngineError, match="closed"):
        store.reader.status()
    store.engine._server.call("POST", f"/{name}/_open?wait_for_active_shards=1")
    assert store.put(NEW) == [Outcome.UPDATED]
    desk.check(NEW)
