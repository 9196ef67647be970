"""Workers beside direct ingests and sweeps, and after an engine that was away for long."""

import pytest

from ingest.sweeping import ORPHAN_S
from tests.fakes.asynchronous import LEASE_S, Site, document
from tests.fakes.engine import MemoryEngine
from tests.fakes.mortal import Killed, Life, Mortal
from tests.fakes.queue import MemoryQueue
from umg_search.errors import EngineUnreachable
from umg_search.model import Document, Outcome

A, B = document("a"), document("b")


@pytest.fixture
def site() -> Site:
    return Site(MemoryEngine(), MemoryQueue())


def test_a_direct_ingest_that_fails_takes_the_place_of_an_older_failure(site: Site) -> None:
    site.submit(document("a", sentences=201))
    site.work_all()
    assert site.ingest(document("a", 2, sentences=202)) == {"a": "failed"}
    assert "202 sentences" in site.entry("a").error
    report = site.control().retry()
    assert (report.queued, report.without_text) == (0, (A.key,))  # not the older text, which is kept no longer
    site.now += ORPHAN_S + 1
    site.sweep()
    assert site.queue.waiting == {}


def test_a_sweep_lets_a_document_be_written_for_longer_than_the_grace(site: Site) -> None:
    site.ingest(B)
    site.submit(A)

    def sweep() -> None:
        site.now += LEASE_S / 2
        site.sweep()
        site.now += LEASE_S / 3
        site.sweep()

    site.engine.before("write_chunks", sweep)
    (report,) = site.work_all()
    assert [each.outcome for each in report.reports] == [Outcome.NEW]
    assert (site.text("a"), site.entry("a").in_set("v1").live.number) == (
        A.text,
        2,
    )  # the first generation after the job


def test_a_run_further_back_that_could_not_hand_back_is_no_death(site: Site) -> None:
    """The engine is away for several tries: the last of them never got as far as taking the document."""
    site.submit(A)
    batch, tickets = site.sender.take()[0]
    site.engine.before("write_chunks", lambda: setattr(life, "left", 0))
    dead = Site(Mortal(site.engine, life := Life()), Mortal(site.queue, life), site.sender, now=site.now)
    with pytest.raises(Killed):
        dead.work(batch, tickets, run="first")
    assert site.entry("a").pending.run == "first"
    report = site.work(batch, tickets, previous_runs=("first", "second"))
    assert [r.outcome for r in report.reports] == [Outcome.NEW]
    site.now += LEASE_S + 1
    assert (site.sweep().revived, site.state("a")) == (0, "searchable")


def test_a_sweep_lets_a_direct_ingest_write_for_longer_than_the_grace(site: Site) -> None:
    site.grace = 60.0
    site.ingest(B)

    def sweep() -> None:
        site.now += 2 * 60 + 1
        site.sweep()

    for _ in range(5):
        site.engine.before("write_chunks", sweep)
    assert site.ingest(A) == {"a": "new"}
    assert (site.text("a"), site.entry("a").in_set("v1").live.number) == (A.text, 1)


@pytest.mark.parametrize("when", ["encode", "write_chunks"])
def test_a_document_that_is_deleted_while_its_ingest_fails_stays_deleted(site: Site, when: str) -> None:
    site.ingest(A)
    if when == "encode":
        bad = Document(id="a", text="This is unreadable. To the model.")
        site.encoders.before = lambda _: site.delete("a")
    else:
        bad = document("a", 2)
        site.engine.refused = lambda _: "too large"
        site.engine.before("write_chunks", lambda: site.delete("a"))
    assert site.ingest(bad) == {"a": "failed"}
    assert (site.entry("a").key, site.entry("a").error, site.text("a")) == (None, "", None)


def test_a_deleted_document_that_comes_back_and_fails_is_named(site: Site) -> None:
    site.ingest(A)
    site.delete("a")
    assert site.ingest(Document(id="a", text="This is unreadable. To the model.")) == {"a": "failed"}
    assert (site.entry("a").key, site.state("a")) == (A.key, "failed")


def test_an_outage_that_is_longer_than_a_lease_is_no_death(site: Site) -> None:
    """Neither the lease nor the documents can be given back; whoever comes first after it, it is not the sweeper."""
    site.submit(A)
    site.sweep()
    batch, tickets = site.sender.messages[0]
    dead = Site(
        Mortal(site.engine, life := Life(end=EngineUnreachable)), Mortal(site.queue, life), site.sender, now=site.now
    )  # type: ignore[arg-type] - each hands every call on
    dead.encoders.before = lambda _: setattr(life, "left", 0)
    with pytest.raises(EngineUnreachable):
        dead.work(batch, tickets, run="first")
    site.now += 10 * LEASE_S
    assert site.sweep().revived == 0
    site.sender.take()
    report = site.work(batch, tickets, previous_runs=("first",))
    assert [r.outcome for r in report.reports] == [Outcome.NEW]


def test_a_run_that_could_not_hand_back_keeps_its_lease(site: Site) -> None:
    site.submit(A)
    batch, tickets = site.sender.messages[0]
    engine = Mortal(site.engine, life := Life(end=EngineUnreachable))
    dead = Site(engine, site.queue, site.sender, now=site.now)  # type: ignore[arg-type] - it hands every call on
    dead.encoders.before = lambda _: setattr(life, "left", 0)
    with pytest.raises(EngineUnreachable):
        dead.work(batch, tickets, run="first")
    assert site.entry("a").pending.run == "first"
    assert site.queue.at_work == {"first": site.now + LEASE_S}
    assert site.sweep().revived == 0
    assert site.sweep_dead().revived == 1
