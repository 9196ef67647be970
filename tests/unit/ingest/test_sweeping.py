"""Sweeps, and crashes before every single call of submissions, workers and sweeps."""

from collections.abc import Callable

import pytest

from ingest.sweeping import BATCH_DAYS, ORPHAN_S
from tests.fakes.asynchronous import LEASE_S, RESEND_S, Site, document
from tests.fakes.engine import MemoryEngine
from tests.fakes.mortal import Killed, Life, Mortal
from tests.fakes.queue import MemoryQueue
from umg_search.errors import ConfigurationError
from umg_search.model import Document
from umg_search.store.ledger import UNFINISHED

A, B = document("a"), document("b")


@pytest.fixture
def site() -> Site:
    return Site(MemoryEngine(), MemoryQueue())


def die_at_work(site: Site, run: str) -> None:
    """Take the next message in a process that is killed while it encodes."""
    batch, tickets = site.sender.messages.pop(0)
    life = Life()
    dead = Site(Mortal(site.engine, life), Mortal(site.queue, life), Mortal(site.sender, life), now=site.now)  # type: ignore[arg-type] - each hands every call on

    def kill(_: object) -> None:
        life.left = 0
        raise Killed

    dead.encoders.before = kill
    with pytest.raises(Killed):
        dead.work(batch, tickets, run=run)


# --- what a sweep finds --------------------------------------------------------------------------------------------


def test_a_sweep_of_what_goes_well_does_nothing(site: Site) -> None:
    site.submit(A)
    site.sweep()
    messages = list(site.sender.messages)
    site.now += RESEND_S / 2
    report = site.sweep()
    assert (report.revived, report.failed, report.resent, report.orphans, report.broker) == (0, 0, 0, 0, "")
    assert site.sender.messages == messages


def test_documents_of_a_dead_worker_are_sent_again_each_alone(site: Site) -> None:
    site.submit(A, B)
    die_at_work(site, "dead")
    assert site.sweep().revived == 0  # the lease is not over yet
    assert site.sweep_dead().revived == 2
    assert [len(tickets) for _, tickets in site.sender.messages] == [1, 1]
    site.work_all()
    assert [site.state(name) for name in "ab"] == ["searchable", "searchable"]


def test_a_document_that_kills_three_workers_is_set_aside(site: Site) -> None:
    site.submit(A)
    for death in range(3):
        die_at_work(site, f"dead{death}")
        report = site.sweep_dead()
    assert (report.revived, report.failed) == (0, 1)
    assert (site.state("a"), site.entry("a").error_class, site.sender.messages) == ("failed", "WorkerLost", [])


def test_a_wiped_broker_gets_everything_again(site: Site) -> None:
    site.submit(A, B)
    site.sender.wipe()
    assert site.sweep().resent == 2
    assert site.sender.mark == site.queue.mark
    assert site.sweep().resent == 0
    site.work_all()
    assert [site.text(name) for name in "ab"] == [A.text, B.text]


def test_a_broker_that_was_wiped_and_has_other_messages_by_now_is_known_by_its_mark(site: Site) -> None:
    site.submit(A)
    site.sender.wipe()
    site.now += 1
    site.submit(B)
    assert site.sweep().resent >= 1
    site.work_all()
    assert [site.text(name) for name in "ab"] == [A.text, B.text]


def test_an_empty_broker_while_documents_wait_has_lost_their_messages(site: Site) -> None:
    site.submit(A)
    site.sender.take()
    assert site.sweep().resent == 0  # a submission that is under way sends its message in a moment
    site.now += 60
    assert site.sweep().resent == 1


def test_a_single_lost_message_is_sent_again_after_a_time(site: Site) -> None:
    site.submit(A)
    site.sender.take()
    site.sender.send("other", [])  # so that the broker is not empty
    site.now += RESEND_S + 1
    assert site.sweep().resent == 1


def test_a_broker_that_does_not_answer_is_told_and_the_next_sweep_sends(site: Site) -> None:
    site.submit(A)
    site.sender.wipe()
    site.sender.down = True
    assert site.sweep().broker == "The broker does not answer: start it."
    site.sender.down = False
    assert site.sweep().resent == 1


def test_two_sweeps_at_once_are_harmless(site: Site) -> None:
    site.submit(A, B)
    site.sender.wipe()
    site.engine.before("write_entries", site.sweep)
    site.sweep()
    assert sum(len(tickets) for _, tickets in site.sender.messages) == 2
    site.work_all()
    assert site.encoders.encoded == ["a", "b"]


def test_texts_that_nobody_names_go_after_a_time_and_others_stay(site: Site) -> None:
    site.submit(A, B)
    site.engine.ledger.pop(A.key.hash)
    site.now += ORPHAN_S
    assert site.sweep().orphans == 0
    site.now += 1
    assert site.sweep().orphans == 1
    assert [text.document.id for text in site.queue.waiting.values()] == ["b"]


def test_a_text_that_is_queued_again_while_a_sweep_takes_it_for_an_orphan_stays(site: Site) -> None:
    site.submit(A)
    site.engine.ledger.pop(A.key.hash)  # as if the submission had died before it
    site.now += ORPHAN_S + 1
    site.queue.before = lambda operation: submit_again() if operation == "delete_old_texts" else None

    def submit_again() -> None:
        site.queue.before = lambda _: None
        site.submit(A)

    assert site.sweep().orphans == 0
    site.work_all()
    assert (site.text("a"), site.state("a")) == (A.text, "searchable")


def test_submissions_of_long_ago_are_forgotten_unless_documents_of_them_wait_or_failed(site: Site) -> None:
    site.submit(A, batch="done")
    site.submit(document("long", sentences=201), batch="failed")
    site.work_all()
    site.submit(B, batch="waits")
    site.now += BATCH_DAYS * 86_400
    assert site.sweep().batches == 0
    site.now += 1
    assert site.sweep().batches == 1
    assert [site.queue.batch(name) is None for name in ("done", "failed", "waits")] == [True, False, False]
    with pytest.raises(ConfigurationError, match="'done', or it was settled and is forgotten after 90 days"):
        site.control().retry("done")
    assert site.control().retry("failed").queued == 1


def test_the_text_of_a_failed_document_stays_for_another_try(site: Site) -> None:
    site.submit(document("long", sentences=201))
    site.work_all()
    site.now += ORPHAN_S + 1
    assert site.sweep().orphans == 0
    assert site.control().retry().queued == 1


def test_runs_that_nobody_ended_are_forgotten(site: Site) -> None:
    site.queue.extend_run("dead", site.now, "")
    site.now += ORPHAN_S + 1
    assert site.sweep().runs == 1


def test_a_sweep_finishes_deletions_that_a_crash_cut_short(site: Site) -> None:
    site.submit(A)
    site.work_all()

    def crash() -> None:
        raise Killed

    site.engine.before("delete", crash)
    with pytest.raises(Killed):
        site.delete("a")
    assert site.state("a") == "deleting"
    site.now += 1
    assert site.sweep().cleaned == 1
    assert (site.state("a"), site.engine.chunks, site.engine.blocks) == ("deleted", {}, {})


@pytest.mark.parametrize("texts", [[], [document("a", 2)]])
def test_a_document_that_a_direct_ingest_left_unfinished_is_not_pending_for_ever(
    site: Site, texts: list[Document]
) -> None:
    site.ingest(B, *texts)
    dead = Site(Mortal(site.engine, life := Life()), site.queue, now=site.now)  # type: ignore[arg-type] - it hands every call on
    site.engine.before("write_chunks", lambda: setattr(life, "left", 0))  # type: ignore[attr-defined] - a fake
    with pytest.raises(Killed):
        dead.ingest(A)
    assert site.state("a") == "writing"
    site.now += 1
    assert site.sweep().cleaned == 1
    assert (site.state("a"), site.entry("a").error) == (("searchable", "") if texts else ("failed", UNFINISHED))
    assert site.ingest(A) == {"a": "updated" if texts else "new"}
    assert site.state("a") == "searchable"


# --- crashes before every call -------------------------------------------------------------------------------------


def check_all_done(site: Site, texts: dict[str, str | None]) -> None:
    """After a crash: sweeps and workers bring every document to its end, and nothing is left over."""
    for _ in range(8):
        site.now += max(LEASE_S, 60.0)
        site.sweep()
        site.work_all()
    site.now += ORPHAN_S + 1
    site.sweep()
    assert {name: site.text(name) for name in texts} == texts
    assert {entry.state.value for entry in site.engine.entries()} <= {"searchable", "deleted", "cancelled"}
    assert (site.queue.waiting, site.sender.messages, site.queue.at_work) == ({}, [], {})  # type: ignore[attr-defined] - fakes
    live = {
        e.document + e.in_set("v1").live.number.to_bytes(4, "big") for e in site.engine.entries() if e.in_set("v1").live
    }
    assert {chunk.version for chunk in site.engine.published} == live  # type: ignore[attr-defined] - the same


Act = Callable[[Site], object]

SCENES: dict[str, tuple[Act, Act, dict[str, str | None]]] = {
    "submit": (
        lambda site: site.ingest(A),
        lambda site: site.submit(document("a", 2), B),
        {"a": document("a", 2).text, "b": B.text},
    ),
    "work": (
        lambda site: (site.ingest(A), site.submit(document("a", 2), B)),
        lambda site: site.work(*site.sender.take()[0]),
        {"a": document("a", 2).text, "b": B.text},
    ),
    "sweep": (
        lambda site: (site.ingest(A), site.submit(document("a", 2), B), site.sender.wipe()),
        lambda site: site.sweep(),
        {"a": document("a", 2).text, "b": B.text},
    ),
    "retry": (
        lambda site: (site.submit(document("a", sentences=201)), site.work_all()),
        lambda site: (site.control().retry(), site.submit(A)),
        {"a": A.text},
    ),
    "cancel": (
        lambda site: (site.ingest(A), site.submit(document("a", 2))),
        lambda site: site.control().cancel("b1"),
        {"a": A.text},
    ),
    "delete": (
        lambda site: (site.ingest(A), site.submit(document("a", 2))),
        lambda site: site.delete("a"),
        {"a": None},
    ),
}


@pytest.mark.parametrize("scene", SCENES)
def test_a_crash_before_any_call_loses_nothing_and_leaves_nothing(scene: str) -> None:
    """A SIGKILL between any two steps: what was to be done is done once the same is asked for again, old text is live
    until then, and nothing is left over. Messages that the dead process had are delivered again or lost."""
    prepare, act, texts = SCENES[scene]
    kills = 0
    for calls in range(200):
        site = Site(MemoryEngine(), MemoryQueue())
        prepare(site)
        life = Life(calls)
        sender = site.sender
        dead = Site(Mortal(site.engine, life), Mortal(site.queue, life), Mortal(sender, life), now=site.now)  # type: ignore[arg-type] - each hands every call on
        before = site.text("a")
        try:
            act(dead)
        except Killed:
            kills += 1
        else:
            check_all_done(site, texts)
            break
        assert site.text("a") in {before, *texts.values()}
        if scene in {"submit", "retry", "cancel", "delete"}:
            act(site)  # people repeat what was cut short
        check_all_done(site, texts)
    assert kills > 3
    assert kills == calls
