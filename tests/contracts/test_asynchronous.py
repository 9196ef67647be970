"""Asynchronous ingestion on each server, with a sender in memory: the whole path, races, and crashes."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from ingest.rebuild import RebuildService
from ingest.sentences import SentenceOptions
from ingest.sweeping import ORPHAN_S
from ingest.syncing import Sync
from tests.conftest import SERVERS
from tests.fakes.asynchronous import LEASE_S, Site, document
from tests.fakes.encoders import HashedEncoders, HashedWords, spec
from tests.fakes.mortal import Killed, Life, Mortal
from umg_search.errors import IndexMismatch
from umg_search.granularity import Expert, Granularity
from umg_search.model import DocumentKey, LedgerEntry
from umg_search.search import Query, SearchService
from umg_search.settings import Settings
from umg_search.store.reader import Reader
from umg_search.wiring import open_engine, open_queue

A, B, C = (document(name) for name in "abc")


@pytest.fixture(params=SERVERS)
def site(request: pytest.FixtureRequest, server_prefix: Callable[[str], tuple[str, str]]) -> Iterator[Site]:
    url, prefix = server_prefix(request.param)
    settings = Settings(engine=url, prefix=prefix, replicas=0, grace_s=0)
    with closing(open_engine(settings)) as engine, closing(open_queue(settings)) as queue:
        yield Site(engine, queue)


def found(site: Site, words: str) -> set[str]:
    """Return the ids of the documents that a search finds."""
    service = SearchService(Reader(site.engine), HashedWords)
    return {context.document_id for context in service.search(Query(text=words)).contexts}


def entries(site: Site) -> dict[str, LedgerEntry]:
    return {entry.key.id: entry for entry in site.engine.entries() if entry.key}


def test_from_submission_to_search_and_again_unchanged(site: Site) -> None:
    bad = replace(document("bad"), text="This is unreadable. To the model.")
    site.submit(A, B, bad, source="/docs")
    assert {name: entry.state.value for name, entry in entries(site).items()} == dict.fromkeys(
        ["a", "b", "bad"], "queued"
    )
    backlog = site.queue.backlog()
    assert (backlog.documents, backlog.bytes) == (3, sum(len(d.text.encode()) for d in (A, B, bad)))
    site.work_all()
    assert found(site, "The a of day has part to see") >= {"a", "b"}
    assert [site.state(name) for name in ("a", "b", "bad")] == ["searchable", "searchable", "failed"]
    assert site.queue.backlog().documents == 1  # the text of the failed one
    site.encoders.encoded.clear()
    assert [r.outcome.value for r in site.submit(A, B)] == ["unchanged", "unchanged"]
    assert (site.sender.messages, site.encoders.encoded) == ([], [])


def test_retry_cancel_sync_and_delete(site: Site) -> None:
    site.submit(A, B, document("long", sentences=201), source="/docs")
    site.work_all()
    assert site.control().retry("b1").queued == 1
    site.submit(document("a", 2), C, batch="b2")
    assert site.control().cancel("b2") == 2
    site.work_all()
    assert (site.text("a"), site.text("c"), site.state("c")) == (A.text, None, "cancelled")
    source = Sync(site.engine, collection="default", source="/docs", queue=site.queue)
    list(source.delivered([A]))
    assert source.vanished() == [DocumentKey("default", "b"), DocumentKey("default", "long")]
    assert source.delete(source.vanished()) == 2
    assert site.text("b") is None
    assert site.queue.backlog().documents == 0
    assert set(entries(site)) == {"a", "c"}


def test_two_workers_with_the_same_messages_encode_each_document_once(site: Site) -> None:
    names = [f"d{i}" for i in range(12)]
    site.ingest(A)  # the set is there
    site.encoders.encoded.clear()
    for name in names:
        site.submit(document(name))
    messages = site.sender.take()

    def worker(number: int) -> None:
        for batch, tickets in messages:
            site.work_service().work(batch, tickets, run=f"worker{number}-{tickets[0].document.hex()}")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(worker, range(2)))
    assert sorted(site.encoders.encoded) == sorted(names)
    assert {site.state(name) for name in names} == {"searchable"}


def test_submitters_of_the_same_documents_at_once_lose_no_text(site: Site) -> None:
    site.queue.create()

    def submitter(number: int) -> None:
        site.submit(*(document(f"d{i}", number) for i in range(5)), batch=f"b{number}")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(submitter, range(1, 4)))
    site.work_all()
    for i in range(5):
        assert site.text(f"d{i}") in {document(f"d{i}", number).text for number in range(1, 4)}
        assert site.state(f"d{i}") == "searchable"


@pytest.mark.newest
@pytest.mark.parametrize("calls", [1, 3, 6, 8, pytest.param(range(40), marks=pytest.mark.long)])
def test_a_worker_that_is_killed_leaves_the_old_text_live_and_another_finishes(site: Site, calls: int | range) -> None:
    for number in calls if isinstance(calls, range) else [calls]:
        site.ingest(A, B)
        site.submit(document("a", 2), document("b", 2))
        life = Life(number)
        dead = Site(Mortal(site.engine, life), Mortal(site.queue, life), Mortal(site.sender, life), now=site.now)  # type: ignore[arg-type] - each hands every call on
        try:
            dead.work(*site.sender.take()[0], run=f"run-{number}")
        except Killed:
            assert {site.text("a"), site.text("b")} <= {t.text for d in "ab" for t in (document(d), document(d, 2))}
        for _ in range(2):
            site.now += LEASE_S + 1
            site.sweep()
            site.work_all()
        assert [site.text(name) for name in "ab"] == [document(name, 2).text for name in "ab"]
        assert [site.state(name) for name in "ab"] == ["searchable", "searchable"]
    site.now += ORPHAN_S + 1
    site.sweep()
    assert site.queue.backlog().documents == 0


def test_sets_are_rebuilt_and_flipped_while_documents_wait_for_workers(site: Site) -> None:
    """A worker with the settings of before hands back what it has; one with those of the new set finishes."""
    site.ingest(A)
    site.submit(document("a", 2), B)
    kind = spec(experts=(Expert.DENSE, Expert.LEXICAL), granularities=(Granularity.G2,))
    rebuild = RebuildService(
        site.engine,
        HashedEncoders,  # type: ignore[arg-type] - a fake of the encoders
        sentences=SentenceOptions(),
        batch_chars=10_000,
    )
    index, coverage = rebuild.begin(kind)
    assert coverage.gap == 1
    list(rebuild.activate(index))
    assert (site.text("a"), site.state("a")) == (A.text, "queued")
    message = site.sender.take()[0]
    with pytest.raises(IndexMismatch):
        site.work(*message)
    assert site.entry("a").pending.run == ""
    new = Site(site.engine, site.queue, site.sender, now=site.now, spec=kind)
    assert [report.outcome.value for report in new.work(*message).reports] == ["updated", "new"]
    assert [site.text(name) for name in "ab"] == [document("a", 2).text, B.text]


def test_a_wiped_broker_gets_everything_again(site: Site) -> None:
    site.submit(A, B)
    site.sender.wipe()
    site.now += 1
    assert site.sweep().resent == 2
    site.work_all()
    assert {site.state(name) for name in "ab"} == {"searchable"}
