import json
from dataclasses import replace

import pytest

from umg_search.model import Document, DocumentState, Failure, Job, LedgerEntry, Stage
from umg_search.ports import Selection
from umg_search.store import jobs, ledger
from umg_search.store.actions import entry_action

DOCUMENT = Document(id="a.md", text="One. Two.", title="A")
OTHER = replace(DOCUMENT, text="One. Three.")
WHY = Failure("too large", Stage.WRITING, "EngineError")


def live() -> LedgerEntry:
    entry, number = ledger.begin(ledger.blank(DOCUMENT.key), DOCUMENT, "v1", 2, 10.0)
    return replace(ledger.finish(entry, DOCUMENT, "v1", number, 11.0), attributes_fingerprint="x")


def queued(entry: LedgerEntry | None = None) -> tuple[LedgerEntry, Job]:
    return with_job(jobs.queued(entry or live(), OTHER, "b1", "", 20.0))


def with_job(entry: LedgerEntry) -> tuple[LedgerEntry, Job]:
    assert entry.pending is not None
    return entry, entry.pending


def taken(run: str = "r1") -> tuple[LedgerEntry, Job]:
    return with_job(jobs.taken(*queued(), run, 30.0))


def test_a_queued_document_keeps_what_is_live_and_its_attributes() -> None:
    entry, job = queued()
    assert (entry.state, entry.sets, entry.title) == (DocumentState.QUEUED, live().sets, "A")
    assert (job.number, entry.next_generation) == (2, 3)


def test_a_document_queued_again_has_another_number() -> None:
    entry, job = queued(queued()[0])
    assert (job.number, entry.next_generation) == (3, 4)


def test_the_fingerprint_of_a_job_changes_with_text_and_with_attributes() -> None:
    every = {
        jobs.fingerprint(d) for d in (DOCUMENT, OTHER, replace(DOCUMENT, title="B"), replace(DOCUMENT, acl=("x",)))
    }
    assert len(every) == 4


def test_a_later_submission_of_the_same_text_takes_the_job_over() -> None:
    entry = jobs.joined(*queued(), "b2", "/docs")
    assert (entry.batch, entry.source, entry.pending) == ("b2", "/docs", replace(queued()[1], batch="b2"))


def test_taking_a_job_counts_as_an_attempt_and_a_silent_end_as_a_death() -> None:
    entry, job = taken()
    assert (entry.state, job.attempts, jobs.held_by(entry, "r1"), jobs.held_by(entry, "r2")) == (
        DocumentState.ENCODING,
        1,
        True,
        False,
    )
    back = jobs.handed_back(entry, job, 40.0)
    dead = jobs.handed_back(entry, job, 40.0, died=True)
    assert (back.state, back.pending) == (DocumentState.QUEUED, replace(job, run=""))
    assert dead.pending == replace(job, run="", deaths=1)


def test_a_write_settles_jobs_up_to_its_own_and_leaves_later_ones() -> None:
    begun, number = ledger.begin(taken()[0], OTHER, "v1", 2, 40.0)
    done = ledger.finish(begun, OTHER, "v1", number, 41.0, job=2)
    assert (done.state, done.job, done.batch) == (DocumentState.SEARCHABLE, None, "b1")
    unaware = ledger.finish(begun, OTHER, "v1", number, 41.0, job=1)
    assert (unaware.state, unaware.pending) == (DocumentState.ENCODING, taken()[1])
    waiting = ledger.settle(queued()[0], 41.0, job=1)
    assert (waiting.state, waiting.pending) == (DocumentState.QUEUED, queued()[1])


def test_a_failed_document_keeps_its_job_for_another_try_and_none_is_pending() -> None:
    entry = ledger.fail(taken()[0], WHY, 50.0)
    assert (entry.stage, entry.error_class, entry.error) == ("writing", "EngineError", "too large")
    assert entry.job is not None
    assert (entry.pending, entry.job.run, entry.job.attempts) == (None, "", 1)
    again = jobs.retried(entry, entry.job, 60.0)
    assert (again.state, again.error, again.stage, again.pending) == (
        DocumentState.QUEUED,
        "",
        "",
        replace(entry.job, attempts=0, sent_at=60.0),
    )


def test_an_ingest_over_a_failed_document_forgets_its_job() -> None:
    begun, _ = ledger.begin(ledger.fail(taken()[0], WHY, 50.0), OTHER, "v1", 2, 60.0)
    assert (begun.job, begun.error, begun.stage, begun.error_class) == (None, "", "", "")


def test_a_cancelled_document_keeps_what_is_live() -> None:
    entry = jobs.cancelled(taken()[0], 50.0)
    assert (entry.state, entry.job, entry.sets) == (DocumentState.CANCELLED, None, live().sets)


def test_a_tombstone_has_no_job() -> None:
    assert ledger.remove(taken()[0], 50.0).job is None


def test_whatever_changes_an_entry_keeps_its_submission_and_its_source() -> None:
    entry = jobs.queued(live(), OTHER, "b1", "/docs", 20.0)
    begun, number = ledger.begin(entry, OTHER, "v1", 2, 30.0)
    named, copy = ledger.name(entry, "v2", 2, 30.0)
    changed = [
        begun,
        ledger.finish(begun, OTHER, "v1", number, 31.0, job=2),
        ledger.built(named, "v2", copy, 31.0),
        ledger.with_attributes(entry, OTHER, 30.0),
        ledger.fail(entry, WHY, 30.0),
        ledger.fence(entry, 30.0),
        ledger.retire(entry, "v1", 30.0),
        ledger.leave(entry, "v1"),
        ledger.forget(entry, {1}),
        ledger.settle(entry, 30.0, job=2),
        jobs.queued(entry, OTHER, "b1", "", 30.0),
        jobs.cancelled(entry, 30.0),
    ]
    assert {(each.batch, each.source) for each in changed} == {("b1", "/docs")}


def test_what_another_set_does_leaves_a_pending_job_alone() -> None:
    entry, job = queued()
    named, copy = ledger.name(entry, "v2", 2, 30.0)
    for each in (ledger.built(named, "v2", copy, 31.0), ledger.fence(entry, 30.0), ledger.leave(entry, "v1")):
        assert (each.state, each.pending) == (DocumentState.QUEUED, job)


ENTRIES = {
    "live": live(),
    "queued": jobs.queued(live(), OTHER, "b1", "/docs", 20.0),
    "held": taken()[0],
    "failed": ledger.fail(taken()[0], WHY, 50.0),
    "deleted": ledger.remove(live(), 60.0),
}


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        ({}, set(ENTRIES)),
        ({"state": DocumentState.FAILED}, {"failed"}),
        ({"batch": "b1"}, {"queued", "held", "failed"}),
        ({"source": "/docs"}, {"queued"}),
        ({"collection": "default"}, set(ENTRIES) - {"deleted"}),
        ({"held": True}, {"held"}),
        ({"held": False}, set(ENTRIES) - {"held"}),
        ({"sent_before": 20.1}, {"queued"}),
        ({"sent_before": 20.0}, set()),
        ({"retired_before": 60.1}, {"deleted"}),
        ({"batch": "b1", "held": True}, {"held"}),
    ],
)
def test_entries_meet_all_conditions_of_a_selection(selection: Selection, found: set[str]) -> None:
    assert {name for name, entry in ENTRIES.items() if jobs.meets(entry, selection)} == found


@pytest.mark.parametrize(
    ("name", "run", "sent_at"),
    [("queued", None, 20.0), ("held", "r1", None), ("failed", None, None), ("live", None, None)],
)
def test_servers_can_ask_for_whose_hands_a_pending_job_is_in(name: str, run: str | None, sent_at: float | None) -> None:
    source = json.loads(entry_action("i", ENTRIES[name], "m").lines.splitlines()[1])
    assert (source["run"], source["sent_at"]) == (run, sent_at)
