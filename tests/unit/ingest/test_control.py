import pytest

from tests.fakes.asynchronous import Site, document
from tests.fakes.engine import MemoryEngine
from tests.fakes.queue import MemoryQueue
from umg_search.errors import ConfigurationError, SubmissionCancelled
from umg_search.model import Document, DocumentKey

A, B, C = (document(name) for name in "abc")
LONG = document("long", sentences=201)


@pytest.fixture
def site() -> Site:
    return Site(MemoryEngine(), MemoryQueue())


def test_failed_documents_are_tried_again_as_if_for_the_first_time(site: Site) -> None:
    bad = Document(id="bad", text="This is unreadable. To the model.")
    site.submit(A, bad, LONG)
    site.work_all()
    assert site.entry("bad").job.attempts == 1
    report = site.control().retry()
    assert (report.queued, report.without_text, report.broker) == (2, (), "")
    assert (site.entry("bad").pending.attempts, site.entry("bad").error, site.state("bad")) == (0, "", "queued")
    site.work_all()
    assert [site.state(name) for name in ("bad", "long")] == ["failed", "failed"]


def test_a_retry_may_be_for_one_submission_only(site: Site) -> None:
    site.submit(LONG)
    site.submit(document("other", sentences=201), batch="b2")
    site.work_all()
    assert site.control().retry("b2").queued == 1
    assert [site.state(name) for name in ("long", "other")] == ["failed", "queued"]


def test_failed_documents_without_a_text_are_named(site: Site) -> None:
    site.submit(Document(id="empty", text=" "))
    site.ingest(document("direct", sentences=201))
    assert set(site.control().retry().without_text) == {
        DocumentKey("default", "empty"),
        DocumentKey("default", "direct"),
    }


def test_a_broker_that_does_not_answer_is_told(site: Site) -> None:
    site.submit(LONG)
    site.work_all()
    site.sender.down = True
    assert site.control().retry().broker
    site.sender.down = False
    assert site.sweep().resent == 1


def test_cancelled_documents_are_not_worked_and_what_was_live_stays(site: Site) -> None:
    site.ingest(A)
    site.submit(document("a", 2), B)
    site.submit(C, batch="b2")
    assert site.control().cancel("b1") == 2
    reports = site.work_all()
    assert [report.dropped for report in reports] == [2, 0]
    assert [site.text(name) for name in "abc"] == [A.text, None, C.text]
    assert [site.state(name) for name in "abc"] == ["cancelled", "cancelled", "searchable"]
    assert site.queue.waiting == {}
    assert site.queue.batch("b1").cancelled


def test_a_cancelled_document_can_be_submitted_again(site: Site) -> None:
    site.ingest(A)
    site.submit(document("a", 2), B)
    site.control().cancel("b1")
    site.submit(A, B, batch="b2")
    assert site.state("a") == "searchable"
    site.work_all()
    assert site.text("b") == B.text


def test_done_documents_are_not_cancelled(site: Site) -> None:
    site.submit(A)
    site.work_all()
    assert site.control().cancel("b1") == 0
    assert site.state("a") == "searchable"


def test_a_cancellation_holds_against_a_worker_that_is_faster(site: Site) -> None:
    site.submit(A)
    site.engine.before("write_entries", lambda: site.work(*site.sender.take()[0]))
    assert site.control().cancel("b1") == 0  # it was done before
    assert site.state("a") == "searchable"


def test_a_submission_that_is_not_there_is_named(site: Site) -> None:
    with pytest.raises(ConfigurationError, match="There is no submission 'b9'"):
        site.control().cancel("b9")
    with pytest.raises(ConfigurationError, match="There is no submission 'b9'"):
        site.control().retry("b9")


def test_a_submission_that_is_cancelled_while_it_is_made_stops_and_leaves_nothing_queued(site: Site) -> None:
    several = [document(f"d{i}", sentences=1_000) for i in range(4)]  # each a group of its own
    site.queue.before = lambda operation: (
        site.control().cancel("b1") if operation == "put_texts" and len(site.queue.waiting) == 1 else None
    )
    with pytest.raises(SubmissionCancelled, match="b1 was cancelled while it was being made, after 2 documents"):
        site.submit(*several)
    assert [entry.state.value for entry in site.engine.entries()] == ["cancelled", "cancelled"]
    assert site.queue.waiting == {}
    found = site.queue.batch("b1")
    assert found is not None
    assert (found.cancelled, found.complete, found.queued) == (True, False, 2)
