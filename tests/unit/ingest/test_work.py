from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingest.work import LOST_TEXT, MOST_DEATHS
from tests.fakes.asynchronous import LEASE_S, OutOfTime, Site, document
from tests.fakes.engine import MemoryEngine
from tests.fakes.queue import MemoryQueue
from umg_search.errors import EngineUnreachable, ModelError
from umg_search.model import Document, DocumentState, Outcome, SplitDocument

A, B, C = (document(name) for name in "abc")


@pytest.fixture
def site() -> Site:
    return Site(MemoryEngine(), MemoryQueue())


def fails(site: Site, error: BaseException, *, name: str = "", times: int = 1) -> None:
    """Let the encoders raise, where a document of that name is among those that are to be encoded."""
    left = [error] * times

    def before(documents: Sequence[SplitDocument]) -> None:
        if left and (not name or name in {split.document.id for split in documents}):
            raise left.pop()

    site.encoders.before = before


def abandon(site: Site, run: str = "dead") -> None:
    """Take the first message and die without a word."""
    (batch, tickets), *_ = site.sender.messages

    class Death(BaseException):
        pass

    def die(documents: Sequence[SplitDocument]) -> None:
        del documents
        engine, queue = site.engine.write_entries, site.queue.end_run
        site.engine.write_entries = lambda entries: [None] * len(entries)  # type: ignore[method-assign] - it is dead
        site.queue.end_run = lambda _: None  # type: ignore[method-assign, misc] - the same
        restored.append((engine, queue))
        raise Death

    restored: list[tuple[object, object]] = []
    site.encoders.before = die
    with pytest.raises(Death):
        site.work(batch, tickets, run=run)
    site.engine.write_entries, site.queue.end_run = restored[0]  # type: ignore[method-assign, assignment] - as before
    site.encoders.before = lambda _: None


# --- what goes well ------------------------------------------------------------------------------------------------


def test_queued_documents_become_searchable_and_their_texts_go(site: Site) -> None:
    site.submit(A, B)
    (report,) = site.work_all()
    assert [(r.document_id, r.outcome) for r in report.reports] == [("a", Outcome.NEW), ("b", Outcome.NEW)]
    assert [site.text(name) for name in "ab"] == [A.text, B.text]
    assert [site.state(name) for name in "ab"] == ["searchable", "searchable"]
    assert (site.entry("a").job, site.entry("a").batch) == (None, "b1")
    assert (site.queue.waiting, site.queue.at_work) == ({}, {})


def test_the_same_message_twice_is_worked_once(site: Site) -> None:
    site.submit(A)
    site.sender.messages *= 2
    first, second = site.work_all()
    assert (len(first.reports), second.reports, second.dropped) == (1, (), 1)
    assert site.encoders.encoded == ["a"]


def test_documents_of_a_message_share_a_batch_of_the_encoders_and_one_refresh(site: Site) -> None:
    groups: list[int] = []
    site.encoders.before = lambda documents: groups.append(len(documents))
    site.submit(A, B, C)
    site.work_all()
    assert groups == [3]
    assert site.engine.calls.count("write_chunks") == 1
    assert site.engine.calls.count("publish") == 1


def test_requests_do_not_grow_with_the_documents(site: Site) -> None:
    site.submit(A)
    site.work_all()
    counts = []
    for names in (["x1"], [f"y{i}" for i in range(9)]):
        site.engine.calls.clear()
        site.queue.calls.clear()
        site.submit(*(document(name) for name in names))
        site.work_all()
        counts.append(len(site.engine.calls) + len(site.queue.calls))
    assert counts[0] == counts[1]


def test_attributes_of_many_documents_take_as_many_requests_as_of_one(site: Site) -> None:
    many = [document(f"d{i}") for i in range(9)]
    site.ingest(*many)
    counts = []
    for some in (many[:1], many[1:]):
        site.engine.calls.clear()
        site.submit(*(replace(each, title="New") for each in some))
        site.work_all()
        counts.append(len(site.engine.calls))
        assert {site.entry(each.id).title for each in some} == {"New"}
    assert counts[0] == counts[1]
    assert site.engine.calls.count("publish") == 1


def test_an_old_text_is_live_until_the_new_one_is(site: Site) -> None:
    site.ingest(A)
    site.submit(document("a", 2))
    seen: list[str | None] = []
    site.encoders.before = lambda _: seen.append(site.text("a"))
    assert site.text("a") == A.text
    site.work_all()
    assert (seen, site.text("a")) == ([A.text], document("a", 2).text)


def test_a_text_that_is_live_by_now_is_settled_without_encoding(site: Site) -> None:
    site.ingest(A)
    site.submit(document("a", 2))
    site.submit(A)
    site.encoders.encoded.clear()
    reports = [report for message in site.work_all() for report in message.reports]
    assert [report.outcome for report in reports] == [Outcome.UNCHANGED]
    assert (site.state("a"), site.entry("a").job, site.encoders.encoded) == ("searchable", None, [])


def test_each_document_is_told_as_soon_as_it_is_settled(site: Site) -> None:
    told: list[tuple[str, str]] = []
    site.submit(A, document("long", sentences=201), B)
    site.work(*site.sender.take()[0], told=lambda report: told.append((report.document_id, report.outcome.value)))
    assert told == [("a", "new"), ("b", "new"), ("long", "failed")]


# --- others --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["write_chunks", "write_blocks", "fetch", "write_entries", "publish"])
def test_a_deletion_during_the_work_holds(site: Site, when: str) -> None:
    site.submit(B)
    site.work_all()
    site.submit(A)
    site.engine.before(when, lambda: site.delete("a"))
    site.work_all()
    site.sweep()
    assert site.text("a") is None
    assert site.entry("a").key is None
    assert site.queue.waiting == {}


@pytest.mark.parametrize("when", ["write_chunks", "write_entries", "publish"])
def test_a_later_submission_during_the_work_wins(site: Site, when: str) -> None:
    site.submit(A)
    site.engine.before(when, lambda: site.submit(document("a", 2), batch="b2"))
    site.work_all()
    assert (site.text("a"), site.state("a"), site.entry("a").job) == (document("a", 2).text, "searchable", None)
    assert site.queue.waiting == {}


@pytest.mark.parametrize("when", ["write_chunks", "write_entries", "publish"])
def test_a_cancelled_document_is_dropped_by_its_worker(site: Site, when: str) -> None:
    site.ingest(A)
    site.submit(document("a", 2))
    site.engine.before(when, lambda: site.control().cancel("b1"))
    (report,) = site.work_all()
    assert (report.reports, report.dropped) == ((), 1)
    assert (site.text("a"), site.state("a")) == (A.text, "cancelled")
    assert site.queue.waiting == {}


def test_a_direct_ingest_supersedes_what_waits(site: Site) -> None:
    site.submit(A)
    assert site.ingest(document("a", 2)) == {"a": "new"}
    assert site.entry("a").job is None
    (report,) = site.work_all()
    assert (report.dropped, site.text("a")) == (1, document("a", 2).text)


def test_a_direct_ingest_of_the_live_text_takes_back_what_waits(site: Site) -> None:
    site.ingest(A)
    site.submit(document("a", 2))
    assert site.ingest(A) == {"a": "unchanged"}
    (report,) = site.work_all()
    assert (report.dropped, site.text("a"), site.state("a")) == (1, A.text, "searchable")


@pytest.mark.parametrize("when", ["write_chunks", "publish"])
def test_a_submission_during_a_direct_ingest_is_not_lost(site: Site, when: str) -> None:
    site.engine.before(when, lambda: site.submit(document("a", 2)))
    assert site.ingest(A) == {"a": "new"}
    assert (site.text("a"), site.state("a")) == (A.text, "queued")
    site.work_all()
    assert (site.text("a"), site.state("a")) == (document("a", 2).text, "searchable")


def test_a_direct_ingest_that_fails_leaves_what_waits(site: Site) -> None:
    site.submit(A)
    assert site.ingest(Document(id="a", text=" ")) == {"a": "failed"}
    site.work_all()
    assert (site.text("a"), site.state("a")) == (A.text, "searchable")


def test_a_revocation_during_the_work_holds(site: Site) -> None:
    site.ingest(replace(A, acl=("ann", "bob")))
    site.submit(replace(document("a", 2), acl=("ann", "bob")))
    revoked = replace(A, acl=("ann",))
    site.engine.before("write_chunks", lambda: site.ingest(revoked))
    site.work_all()
    assert site.entry("a").acl == ("ann",)
    assert site.text("a") == A.text


def test_two_runs_never_own_a_document_together(site: Site) -> None:
    site.submit(A)
    ((batch, tickets),) = site.sender.take()
    inner = []

    def other(documents: Sequence[SplitDocument]) -> None:
        del documents
        site.encoders.before = lambda _: None
        inner.append(site.work(batch, tickets, run="other"))

    site.encoders.before = other
    report = site.work(batch, tickets, run="first")
    assert (inner[0].held, inner[0].reports, inner[0].wait_s) == (1, (), LEASE_S)
    assert (len(report.reports), site.encoders.encoded) == (1, ["a"])


def test_a_run_that_was_taken_for_dead_changes_nothing_any_more(site: Site) -> None:
    site.submit(A)
    ((batch, tickets),) = site.sender.take()

    def late(documents: Sequence[SplitDocument]) -> None:
        """The machine slept: another run has the document, and finished."""
        del documents
        site.encoders.before = lambda _: None
        site.queue.at_work.clear()
        assert site.work(batch, tickets, run="other").reports[0].outcome is Outcome.NEW

    site.encoders.before = late
    report = site.work(batch, tickets, run="first")
    assert (report.reports, report.dropped) == ((), 1)
    assert site.entry("a").in_set("v1").live.number == 2  # 1 is the job's, 2 that of the other run
    assert site.text("a") == A.text


# --- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_document_that_the_model_cannot_read_fails_alone_with_stage_class_and_attempts(site: Site) -> None:
    site.submit(A, Document(id="bad", text="This is unreadable. To the model."), B)
    (report,) = site.work_all()
    assert {r.document_id: r.outcome for r in report.reports} == {
        "a": Outcome.NEW,
        "b": Outcome.NEW,
        "bad": Outcome.FAILED,
    }
    entry = site.entry("bad")
    assert (entry.state, entry.stage, entry.job.attempts) == (DocumentState.FAILED, "encoding", 1)
    assert entry.error == "the model raised ValueError"
    assert [text.document.id for text in site.queue.waiting.values()] == ["bad"]  # for `umg retry`


def test_a_document_of_too_many_sentences_fails_with_both_numbers(site: Site) -> None:
    site.submit(A, document("long", sentences=201))
    site.work_all()
    assert site.entry("long").error == "It has 201 sentences, and UMG_MAX_SENTENCES allows 200: split it."
    assert site.state("a") == "searchable"
    assert site.ingest(document("other", sentences=201)) == {"other": "failed"}


def test_a_chunk_that_the_engine_refuses_fails_its_document(site: Site) -> None:
    site.engine.refused = lambda chunk: "too large" if "The bad" in (chunk.text or "") else None
    site.submit(A, document("bad"))
    site.work_all()
    assert (site.state("a"), site.state("bad"), site.entry("bad").stage) == ("searchable", "failed", "writing")


def test_a_text_that_is_gone_from_the_queue_fails_its_document(site: Site) -> None:
    site.submit(A, B)
    del site.queue.waiting[next(key for key in site.queue.waiting if key.document == A.key.hash)]
    site.work_all()
    assert (site.entry("a").error, site.entry("a").stage, site.state("b")) == (LOST_TEXT, "reading", "searchable")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), "UMG_WORKER_MEMORY_MB"),
        (OutOfTime(), "UMG_TASK_TIME_LIMIT_S"),
        (NameError("x"), "NameError: x"),
    ],
)
def test_a_document_that_stops_the_work_each_time_is_found_and_set_aside(
    site: Site, error: BaseException, reason: str
) -> None:
    fails(site, error, name="b", times=10)
    site.submit(A, B, C)
    first, *others = site.work_all()
    assert (first.separated, first.reports) == (3, ())
    assert len(others) == 3  # each alone
    assert [site.state(name) for name in "abc"] == ["searchable", "failed", "searchable"]
    assert reason in site.entry("b").error
    assert site.entry("b").error_class == type(error).__name__


def test_what_was_done_before_the_work_was_stopped_stays_done(site: Site) -> None:
    """Groups of an ingest are written one after the other; each of these is one."""
    sentence = "A long part of a long text " * 15
    long = [Document(id=f"d{i}", text=f"{sentence}of {i}. " * 30) for i in range(3)]
    site.submit(*long)
    fails(site, MemoryError(), name="d2", times=10)
    site.work_all()
    assert [site.state(d.id) for d in long] == ["searchable", "searchable", "failed"]
    assert sorted(site.encoders.encoded) == ["d0", "d1"]  # each once
    assert site.entry("d2").job.attempts == 2  # with the others, then alone


def test_a_worker_that_dies_of_a_document_takes_it_alone_next_and_the_third_time_is_the_last(site: Site) -> None:
    site.submit(A, B)
    abandon(site, "dead1")
    held = site.work(*site.sender.messages[0])
    assert (held.held, held.wait_s) == (2, LEASE_S)
    site.now += LEASE_S
    separated = site.work(*site.sender.take()[0])
    assert (separated.separated, separated.reports) == (2, ())
    assert [entry.job.deaths for entry in map(site.entry, "ab")] == [1, 1]
    assert [len(tickets) for _, tickets in site.sender.messages] == [1, 1]
    for death in range(2, MOST_DEATHS + 1):
        abandon(site, f"dead{death}")
        site.now += LEASE_S
    report = site.work(*site.sender.messages[0])
    assert [r.outcome for r in report.reports] == [Outcome.FAILED]
    entry = site.entry("a")
    assert (entry.state, entry.error_class, entry.job.attempts) == (DocumentState.FAILED, "WorkerLost", MOST_DEATHS)
    assert "died 3 times" in entry.error
    site.sender.messages.pop(0)
    site.work_all()
    assert site.state("b") == "searchable"


@pytest.mark.parametrize(
    "error", [EngineUnreachable("gone"), ModelError("no model"), SystemExit(), KeyboardInterrupt()]
)
def test_work_that_is_stopped_from_outside_is_handed_back_without_a_death(site: Site, error: BaseException) -> None:
    fails(site, error)
    site.submit(A, B)
    (batch, tickets), *_ = site.sender.take()
    with pytest.raises(type(error)):
        site.work(batch, tickets, run="first")
    job = site.entry("a").pending
    assert (site.state("a"), job.run, job.deaths, job.attempts) == ("queued", "", 0, 1)
    assert site.queue.at_work == {}
    report = site.work(batch, tickets, run="second", previous_runs=("first",))
    assert len(report.reports) == 2


def test_the_run_before_that_could_not_hand_back_is_known(site: Site) -> None:
    site.submit(A)
    abandon(site, "first")
    (report,) = [site.work(*site.sender.take()[0], previous_runs=("first",))]
    assert [r.outcome for r in report.reports] == [Outcome.NEW]


def test_a_crash_while_attributes_change_is_mended_by_the_next_run(site: Site) -> None:
    site.ingest(A)
    site.submit(replace(A, title="Harbour"))

    def gone() -> None:
        raise EngineUnreachable("gone")

    site.engine.before("update_attributes", gone)
    message = site.sender.messages[0]
    with pytest.raises(EngineUnreachable):
        site.work(*message)
    assert site.entry("a").pending is not None
    site.work_all()
    assert {chunk.attributes.title for chunk in site.engine.published.values()} == {"Harbour"}
    assert site.state("a") == "searchable"


def test_a_lease_that_is_over_stops_the_work(site: Site) -> None:
    """The engine did not take its renewals, so that others may have the documents by now."""
    site.submit(A)
    extended = site.queue.extend_run

    def extend(run: str, until: float, owner: str) -> None:
        extended(run, until, owner)
        site.now += LEASE_S + 1

    site.queue.extend_run = extend  # type: ignore[method-assign] - time passes
    with pytest.raises(EngineUnreachable, match=r"could not be renewed for 60 s"):
        site.work(*site.sender.take()[0])
