from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest

from ingest.decisions import Submitted
from ingest.messages import MOST_DOCUMENTS
from ingest.pipeline import EMPTY
from ingest.submission import CONTESTED, ROOM_S, SubmitService, new_batch
from tests.fakes.asynchronous import BATCH_CHARS, Site, document
from tests.fakes.engine import MemoryEngine
from tests.fakes.queue import MemoryQueue
from umg_search.errors import BacklogFull
from umg_search.model import Batch, Document, DocumentState, Failure, Stage
from umg_search.store import jobs, ledger
from umg_search.store.names import document_id

A, B = document("a"), document("b")
QUEUED, UNCHANGED, FAILED = Submitted


@pytest.fixture
def site() -> Site:
    return Site(MemoryEngine(), MemoryQueue())


def test_documents_are_queued_before_any_set_is_there_and_no_model_is_needed(site: Site) -> None:
    site.encoders.before = lambda _: pytest.fail("something was encoded")
    assert site.outcomes(A, B) == {"a": QUEUED, "b": QUEUED}
    assert site.engine.active_set() is None
    assert [site.state(name) for name in "ab"] == ["queued", "queued"]
    ((batch, tickets),) = site.sender.take()
    assert (batch, len(tickets)) == ("b1", 2)
    assert [text.document for text in site.queue.waiting.values()] == [A, B]


def test_the_text_comes_before_the_ledger_and_the_ledger_before_the_message(site: Site) -> None:
    def check(operation: str) -> None:
        if operation == "put_texts":
            assert not site.engine.ledger

    def written() -> None:
        assert site.queue.waiting
        assert not site.sender.messages

    site.queue.before = check
    site.engine.before("write_entries", written)
    site.submit(A)
    assert site.sender.messages


def test_unchanged_documents_are_told_and_nothing_is_written(site: Site) -> None:
    site.ingest(A)
    before = dict(site.engine.ledger)
    assert site.outcomes(A) == {"a": UNCHANGED}
    assert site.engine.ledger == before
    assert not site.sender.messages
    assert not site.queue.waiting


def test_what_waits_already_is_not_queued_twice_and_belongs_to_the_later_submission(site: Site) -> None:
    site.submit(A)
    site.sender.take()
    assert site.outcomes(A, batch="b2") == {"a": QUEUED}
    assert (site.entry("a").batch, len(site.queue.waiting), site.sender.messages) == ("b2", 1, [])


def test_a_newer_text_replaces_the_one_that_waits(site: Site) -> None:
    site.submit(A)
    site.submit(document("a", 2))
    (text,) = site.queue.waiting.values()
    assert text.document == document("a", 2)
    site.work_all()
    assert (site.text("a"), site.encoders.encoded) == (document("a", 2).text, ["a"])


def test_the_same_document_twice_in_a_submission_ends_with_the_last(site: Site) -> None:
    site.submit(A, document("a", 2))
    site.work_all()
    assert site.text("a") == document("a", 2).text


def test_changed_attributes_are_queued_and_stored_without_encoding(site: Site) -> None:
    site.ingest(A)
    site.encoders.encoded.clear()
    assert site.outcomes(replace(A, title="Harbour")) == {"a": QUEUED}
    site.work_all()
    assert (site.entry("a").title, site.state("a"), site.encoders.encoded) == ("Harbour", "searchable", [])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Document(id="", text="x"), "Its id is empty."),
        (Document(id="bad", text="a lone \ud800 surrogate"), "cannot be stored"),
        (Document(id="bad", text=" \n"), EMPTY),
        (Document(id="bad", text="fine", collection="c" * 1_001), "1001 characters"),
    ],
)
def test_a_document_that_cannot_be_stored_fails_at_once_and_alone(site: Site, bad: Document, reason: str) -> None:
    site.ingest(B)
    reports = {report.document_id: report for report in site.submit(A, bad)}
    assert (reports[bad.id].outcome, reports["a"].outcome) == (FAILED, QUEUED)
    assert reason in reports[bad.id].reason


def test_a_failure_at_submission_is_in_the_ledger_with_its_batch(site: Site) -> None:
    site.submit(Document(id="bad", text=" "))
    entry = site.entry("bad")
    assert (entry.state, entry.error, entry.stage, entry.batch) == (DocumentState.FAILED, EMPTY, "submission", "b1")


def test_a_failure_at_submission_leaves_what_waits_and_what_is_live(site: Site) -> None:
    site.ingest(A)
    site.submit(document("a", 2))
    assert site.outcomes(replace(A, text=" ")) == {"a": FAILED}
    site.work_all()
    assert site.text("a") == document("a", 2).text


def test_a_text_that_the_queue_refuses_fails_alone(site: Site) -> None:
    site.queue.refused = lambda d: "too large" if d.id == "a" else ""
    assert site.outcomes(A, B) == {"a": FAILED, "b": QUEUED}
    assert (site.entry("a").error, len(site.queue.waiting)) == ("too large", 1)


def test_a_document_that_failed_is_settled_when_the_live_text_comes_again(site: Site) -> None:
    site.ingest(A)
    site.writer.mark_failed(site.engine.active_set(), [(A, Failure("why", Stage.WRITING))])
    assert site.outcomes(A) == {"a": UNCHANGED}
    assert (site.state("a"), site.entry("a").error) == ("searchable", "")


def test_another_change_of_the_ledger_meanwhile_is_seen(site: Site) -> None:
    """The second submitter gets its number first; nobody's text is lost or mixed up."""
    site.engine.before("write_entries", lambda: site.submit(document("a", 2), batch="b2"))
    assert site.outcomes(A) == {"a": QUEUED}
    site.work_all()
    assert site.text("a") == A.text


def test_the_same_text_from_two_submitters_at_once_is_queued_once(site: Site) -> None:
    site.engine.before("write_entries", lambda: site.submit(A, batch="b2"))
    assert site.outcomes(A) == {"a": QUEUED}
    assert site.entry("a").batch == "b1"
    site.work_all()
    assert (site.text("a"), site.encoders.encoded) == (A.text, ["a"])


def test_a_document_that_others_change_each_time_fails(site: Site) -> None:
    rounds = count(2)

    def other() -> None:
        key = A.key.hash
        entry = site.engine.ledger.get(key) or ledger.blank(A.key)
        job = jobs.queued(entry, document("a", next(rounds)), "b2", "", site.now)
        site.engine._write_entry(job)

    for _ in range(5):
        site.engine.before("write_entries", other)
    (report,) = site.submit(A)
    assert (report.outcome, report.reason) == (FAILED, CONTESTED)


# --- limits --------------------------------------------------------------------------------------------------------


def test_a_submission_that_the_queue_cannot_hold_is_refused_with_nothing_taken(site: Site) -> None:
    site.submit(A)
    waiting = len(A.text.encode())
    site.queue_bytes = waiting + 99
    with pytest.raises(BacklogFull, match=r"UMG_QUEUE_BYTES allows 99 more bytes, not 100: nothing was taken"):
        site.submit(B, batch="b2", expected_bytes=100)
    assert site.queue.batch("b2") is None
    assert len(site.queue.waiting) == 1


def test_a_submission_that_the_disks_cannot_hold_is_refused(site: Site) -> None:
    site.queue.free_bytes = 2 * 100 - 2
    with pytest.raises(BacklogFull, match="the disks of the engine have room for 99 more bytes, not 100"):
        site.submit(A, expected_bytes=100)


def test_texts_that_turn_out_larger_are_taken_as_far_as_they_fit_and_that_is_said(site: Site) -> None:
    many = [document(f"d{i:03}") for i in range(MOST_DOCUMENTS + 1)]
    site.queue_bytes = sum(len(d.text.encode()) for d in many[:300])
    with pytest.raises(BacklogFull, match="documents were taken before, and none of the others"):
        site.submit(*many)
    assert 0 < len(site.queue.waiting) <= 300
    assert len(site.queue.waiting) == len(site.engine.ledger)


def test_submissions_at_once_see_what_the_others_took(site: Site) -> None:
    size = len(document("b0", sentences=1_000).text.encode())
    site.queue_bytes = 4 * size

    def slowly(name: str) -> Iterator[Document]:
        for i in range(8):
            site.now += ROOM_S + 1
            yield document(f"{name}{i}", sentences=1_000)  # a group of its own

    service = SubmitService(
        site.engine,
        site.queue,
        site.sender,
        batch_chars=BATCH_CHARS,
        queue_bytes=site.queue_bytes,
        clock=site.clock,
    )
    both = [service.submit(slowly(name), batch=name) for name in "ab"]
    with pytest.raises(BacklogFull, match="2 documents were taken before, and none of the others"):
        list(zip(*both, strict=True))
    assert len(site.queue.waiting) == 4


# --- messages ------------------------------------------------------------------------------------------------------


def test_messages_hold_several_documents_up_to_a_size_and_a_number(site: Site) -> None:
    long = [replace(document(f"long{i}"), text="A word. " * (BATCH_CHARS // 8)) for i in range(10)]
    site.submit(*long)
    assert [len(tickets) for _, tickets in site.sender.take()] == [4, 4, 2]
    site.submit(*(Document(id=f"tiny{i}", text="A b.") for i in range(MOST_DOCUMENTS)))
    assert sum(len(tickets) for _, tickets in site.sender.take()) == MOST_DOCUMENTS


def test_a_broker_that_does_not_answer_is_a_warning_and_the_sweeper_sends_later(site: Site) -> None:
    site.sender.down = True
    (report,) = site.submit(A)
    assert (report.outcome, report.warning) == (QUEUED, "The broker does not answer: start it.")
    assert site.entry("a").pending.sent_at == 0.0
    site.sender.down = False
    assert site.sweep().resent == 1
    site.work_all()
    assert site.text("a") == A.text


def test_the_batch_is_counted_as_it_goes_and_complete_at_the_end(site: Site) -> None:
    site.ingest(B)
    site.submit(A, B, Document(id="bad", text=""), source="/docs")
    assert site.queue.batch("b1") == Batch("b1", site.now, "/docs", queued=1, unchanged=1, failed=1, complete=True)


def test_the_source_is_kept_of_each_document_also_of_unchanged_ones(site: Site) -> None:
    site.ingest(A)
    site.submit(A, B, source="/docs")
    site.submit(B)
    assert [site.entry(name).source for name in "ab"] == ["/docs", "/docs"]
    site.work_all()
    site.ingest(document("b", 3))
    assert site.entry("b").source == "/docs"


def test_ids_of_submissions_sort_by_time_and_differ() -> None:
    one, other = new_batch(), new_batch()
    assert one != other
    assert one[:8].isdigit()
    assert document_id(A.key.hash) not in one
