"""The order of a write, and what holds when it is cut short or overtaken."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from tests.fakes.encoders import encoded, spec, split
from tests.fakes.engine import MemoryEngine, chunk_ids
from umg_search.errors import EngineBusy, EngineError, IndexMismatch, WriteConflict
from umg_search.granularity import Expert, Granularity
from umg_search.model import (
    Document,
    DocumentKey,
    DocumentState,
    Failure,
    Generation,
    IngestReport,
    LedgerEntry,
    Outcome,
    Stage,
    document_of,
    generation_of,
    version_of,
)
from umg_search.store import generations, ledger
from umg_search.store.attribute_changes import ATTEMPTS
from umg_search.store.entries import ids_of
from umg_search.store.plans import Change
from umg_search.store.reader import Reader
from umg_search.store.reports import CONFLICT, DELETED
from umg_search.store.writer import UNFINISHED_GRACES, Writer, check_same
from umg_search.windows import window_count

SPEC = spec(experts=(Expert.LEXICAL,), granularities=(Granularity.G2, Granularity.G8))
OLD = Document(id="d", text="Old one. Old two. Old three.")
NEW = Document(id="d", text="New one. New two.")
ABANDONED_S = UNFINISHED_GRACES * 60.0 + 1


class Desk:
    """A writer over an engine in memory, with a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.engine = MemoryEngine()
        self.writer = self.another()
        self.index = self.writer.prepare(SPEC)
        self.engine.calls.clear()

    def another(self) -> Writer:
        return Writer(self.engine, grace=60.0, clock=lambda: self.now)

    def put(self, *documents: Document, writer: Writer | None = None) -> list[IngestReport]:
        return (writer or self.writer).replace(self.index, [encoded(d, SPEC) for d in documents])

    def entry(self, document: Document = OLD) -> LedgerEntry:
        return self.engine.ledger[document.key.hash]

    def text(self, document: Document = OLD) -> str:
        return Reader(self.engine).text(document.key)

    def generations(self) -> set[int]:
        """Return the generations that searches find."""
        return {generation_of(chunk.version) for chunk in self.engine.published}


@pytest.fixture
def desk() -> Desk:
    return Desk()


# --- preparing -----------------------------------------------------------------------------------------------------


def test_every_field_that_differs_is_named_with_both_values() -> None:
    with pytest.raises(IndexMismatch, match=r"tokenizer: .*words, .*other; analyzer: .*standard, .*german"):
        check_same(SPEC, replace(SPEC, analyzer="german", tokenizer="other"))


def test_a_writer_with_other_settings_is_refused_before_any_write(desk: Desk) -> None:
    with pytest.raises(IndexMismatch):
        desk.writer.prepare(replace(SPEC, access_control=True))
    assert desk.engine.calls == []


# --- the order of a write ------------------------------------------------------------------------------------------


def test_a_write_goes_ledger_then_entries_then_publish_then_ledger_then_deletion(desk: Desk) -> None:
    desk.put(OLD)
    assert desk.engine.calls == ["fetch", "write_entries", "write_blocks", "write_chunks", "publish", "write_entries"]
    desk.engine.calls.clear()
    desk.put(NEW)
    assert desk.engine.calls[-3:] == ["write_entries", "delete", "publish"]


def test_chunks_and_text_are_made_as_they_are_written(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A huge document is never in memory as a list of chunks, each of which holds its text."""
    handed: list[Iterable[object]] = []
    for operation in ("write_chunks", "write_blocks"):
        monkeypatch.setattr(desk.engine, operation, lambda _, things: handed.append(things) or {})
    desk.put(OLD)
    assert [iter(things) is things for things in handed] == [True, True]


def test_a_report_says_what_was_written(desk: Desk) -> None:
    (report,) = desk.put(OLD)
    chunks = sum(window_count(3, granularity) for granularity in SPEC.granularities)
    assert report == IngestReport("d", "default", Outcome.NEW, chunks=chunks, tokens=2 + 2 + 2)
    (report,) = desk.put(NEW)
    assert (report.outcome, report.chunks, report.tokens) == (Outcome.UPDATED, 1 + 1, 2 + 2)


def test_replaced_chunks_go_at_once_and_their_text_after_the_grace(desk: Desk) -> None:
    """A search that began before still reads its text."""
    desk.put(OLD)
    old = ids_of(version_of(OLD.key.hash, 1), 3, SPEC.granularities)
    desk.put(NEW)
    assert desk.generations() == {2}
    assert set(old.blocks) <= set(desk.engine.blocks)
    desk.now += 59
    assert desk.writer.sweep(desk.index) == 0
    assert set(old.blocks) <= set(desk.engine.blocks)
    desk.now += 2
    assert desk.writer.sweep(desk.index) == 1
    assert not set(old.blocks) & set(desk.engine.blocks)
    assert desk.entry().in_set("v1") == replace(desk.entry().in_set("v1"), live=Generation(2, 2), retired=())
    assert desk.writer.sweep(desk.index) == 0


def test_documents_of_a_batch_share_the_requests_and_keep_their_order(desk: Desk) -> None:
    documents = [Document(id=f"d{i}", text=f"Text {i}. More {i}.") for i in (3, 1, 2)]
    assert [report.document_id for report in desk.put(*documents)] == ["d3", "d1", "d2"]
    assert desk.engine.calls.count("write_chunks") == 1
    assert desk.engine.calls.count("publish") == 1


# --- cut short -----------------------------------------------------------------------------------------------------


def engine_error() -> None:
    raise EngineError("the engine is gone")


@pytest.mark.parametrize(
    ("operation", "calls_before"),
    [
        ("fetch", 0),
        ("write_entries", 0),
        ("write_blocks", 0),
        ("write_chunks", 0),
        ("publish", 0),
        ("write_entries", 1),
    ],
)
def test_a_write_that_is_cut_short_leaves_the_old_text_live_and_a_retry_finishes(
    desk: Desk, operation: str, calls_before: int
) -> None:
    desk.put(OLD)
    for _ in range(calls_before):
        desk.engine.before(operation, lambda: None)
    desk.engine.before(operation, engine_error)
    with pytest.raises(EngineError, match="gone"):
        desk.put(NEW)
    assert desk.entry().in_set("v1").live == Generation(1, 3)
    assert desk.text() == OLD.text
    assert desk.put(NEW)[0].outcome is Outcome.UPDATED
    assert desk.text() == NEW.text
    desk.now += 61
    desk.writer.sweep(desk.index)
    live = desk.entry().in_set("v1").live
    assert desk.generations() == {live.number}
    assert len(desk.engine.blocks) == 1
    assert desk.entry().in_set("v1").retired == ()


def test_a_write_that_is_cut_short_after_the_ledger_said_live_is_a_write(desk: Desk) -> None:
    desk.put(OLD)
    desk.engine.before("delete", engine_error)
    with pytest.raises(EngineError):
        desk.put(NEW)
    assert desk.text() == NEW.text
    assert desk.writer.plan(desk.index, [NEW]) == [Change.NONE]
    desk.now += 61
    assert desk.writer.sweep(desk.index) == 1
    assert desk.generations() == {2}


def test_what_an_abandoned_write_left_is_swept(desk: Desk) -> None:
    desk.engine.before("publish", engine_error)
    with pytest.raises(EngineError):
        desk.put(OLD)
    assert desk.engine.chunks
    desk.now += ABANDONED_S
    assert desk.writer.sweep(desk.index) == 1
    assert not desk.engine.chunks
    assert not desk.engine.blocks
    assert desk.entry().next_generation == 2


def test_a_sweep_makes_a_busy_writer_of_such_a_generation_begin_anew(desk: Desk) -> None:
    """Else it would make chunks live that the sweep deletes."""
    slow = desk.another()

    def sweep_meanwhile() -> None:
        desk.now += ABANDONED_S
        desk.writer.sweep(desk.index)

    desk.engine.before("write_chunks", sweep_meanwhile)
    (report,) = desk.put(OLD, writer=slow)
    assert report.outcome is Outcome.NEW
    assert desk.entry().in_set("v1").live == Generation(2, 3)
    assert desk.generations() == {2}
    assert desk.text() == OLD.text


def test_a_sweep_stops_a_busy_writer_before_it_deletes_what_that_wrote(desk: Desk) -> None:
    begun = desk.writer._begin(desk.index, [encoded(OLD, SPEC)], desk.writer._entries(desk.index, [OLD.key]))
    generations.write(desk.engine, desk.index, begun)
    desk.now += ABANDONED_S
    finished: list[object] = []
    desk.engine.before("delete", lambda: finished.append(desk.writer._finish(desk.index, begun)))
    assert desk.another().sweep(desk.index) == 1
    assert finished == [{}]
    assert desk.entry().in_set("v1").live is None


def test_a_sweep_leaves_what_was_retired_within_the_grace(desk: Desk) -> None:
    desk.put(OLD)
    desk.put(NEW)
    desk.now += 61
    desk.put(OLD)
    assert desk.writer.sweep(desk.index) == 1
    assert [item.number for item in desk.entry().in_set("v1").retired] == [2]
    assert {generation_of(block.version) for block in desk.engine.blocks} == {2, 3}


# --- overtaken -----------------------------------------------------------------------------------------------------


def overtaking(desk: Desk, document: Document) -> Callable[[], object]:
    return lambda: desk.put(document, writer=desk.another())


def test_a_writer_that_was_overtaken_begins_anew_and_is_right_at_the_end(desk: Desk) -> None:
    desk.put(OLD)
    other = replace(OLD, text="Other one. Other two. Other three. Other four.")
    desk.engine.before("write_chunks", overtaking(desk, other))
    (report,) = desk.put(NEW)
    assert report.outcome is Outcome.UPDATED
    assert desk.text() == NEW.text
    assert desk.entry().in_set("v1").live == Generation(4, 2)
    assert desk.generations() == {4}
    desk.now += 61
    desk.writer.sweep(desk.index)
    assert len(desk.engine.blocks) == 1
    assert desk.entry().in_set("v1").retired == ()


def test_a_writer_that_is_overtaken_each_time_gives_up_with_the_reason(desk: Desk) -> None:
    for number in range(ATTEMPTS):
        text = f"Other {number}."
        desk.engine.before("write_chunks", overtaking(desk, replace(OLD, text=text)))
        desk.engine.before("write_chunks", lambda: None)  # the other writer's own
    (report,) = desk.put(NEW)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.text() == f"Other {ATTEMPTS - 1}."
    assert desk.entry().state is DocumentState.SEARCHABLE
    assert len(desk.generations()) == 1


def test_being_overtaken_on_one_document_does_not_hold_up_the_others(desk: Desk) -> None:
    others = [Document(id=f"x{i}", text=f"Text {i}.") for i in range(3)]
    desk.engine.before("write_chunks", overtaking(desk, OLD))
    reports = desk.put(others[0], NEW, *others[1:])
    assert [report.document_id for report in reports] == ["x0", "d", "x1", "x2"]
    assert all(report.outcome is not Outcome.FAILED for report in reports)
    assert desk.text() == NEW.text
    assert all(desk.entry(document).next_generation == 2 for document in others)


def test_a_document_that_was_deleted_meanwhile_stays_deleted(desk: Desk) -> None:
    """The deletion was reported, so it must hold; whoever wants the document back ingests it again."""
    desk.put(OLD)
    desk.engine.before("write_chunks", lambda: desk.another().delete(desk.index, [OLD.key]))
    (report,) = desk.put(NEW)
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.entry().key is None
    assert desk.put(NEW)[0].outcome is Outcome.NEW


def test_a_revocation_during_a_write_is_not_undone(desk: Desk) -> None:
    desk.put(replace(OLD, acl=("*",)))
    revoked = replace(OLD, acl=("bob",))
    desk.engine.before("write_chunks", lambda: desk.another().update_attributes(desk.index, [revoked]))
    (report,) = desk.put(replace(NEW, acl=("*",)))
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.entry().acl == ("bob",)
    assert desk.text() == OLD.text


def test_of_two_acl_changes_the_chunks_end_with_the_one_that_the_ledger_has(desk: Desk) -> None:
    """The slower writer's chunk update lands last, and its last conditional write tells it that it lost."""
    desk.put(OLD)
    faster = replace(OLD, acl=("alice",))
    desk.engine.before("update_attributes", lambda: desk.another().update_attributes(desk.index, [faster]))
    (report,) = desk.writer.update_attributes(desk.index, [replace(OLD, acl=("bob",))])
    assert (report.outcome, report.reason) == (Outcome.FAILED, CONFLICT)
    assert desk.entry().acl == ("alice",)
    assert {chunk.attributes.acl for chunk in desk.engine.chunks.values()} == {("alice",)}
    assert desk.writer.plan(desk.index, [faster]) == [Change.NONE]


# --- refused by the engine -----------------------------------------------------------------------------------------


def test_a_chunk_that_the_engine_refuses_fails_its_document_and_leaves_the_old_text_live(desk: Desk) -> None:
    desk.put(OLD)
    desk.engine.refused = lambda chunk: "vector is NaN" if "New two" in (chunk.text or "") else None
    others = Document(id="x", text="Fine. Text.")
    failed, fine = desk.put(NEW, others)
    assert (failed.outcome, fine.outcome) == (Outcome.FAILED, Outcome.NEW)
    assert failed.reason.endswith("from sentence 1: vector is NaN")
    assert failed.reason.startswith("chunk g0")
    assert desk.text() == OLD.text
    entry = desk.entry()
    assert (entry.state, entry.error) == (DocumentState.FAILED, failed.reason)
    assert entry.in_set("v1").live == Generation(1, 3)
    assert not {c for c in desk.engine.published if c.version == version_of(OLD.key.hash, 2)}
    assert desk.writer.plan(desk.index, [NEW, OLD]) == [Change.TEXT, Change.STATE]


def test_a_failed_document_that_is_mended_is_searchable_again(desk: Desk) -> None:
    desk.engine.refused = lambda _: "too large"
    assert desk.put(OLD)[0].outcome is Outcome.FAILED
    desk.engine.refused = lambda _: None
    assert desk.put(OLD)[0].outcome is Outcome.NEW
    assert (desk.entry().state, desk.entry().error) == (DocumentState.SEARCHABLE, "")


def test_a_failure_to_read_a_document_is_noted_without_touching_what_is_live(desk: Desk) -> None:
    desk.put(OLD)
    (report,) = desk.writer.mark_failed(desk.index, [(NEW, Failure("no text in it", Stage.SPLITTING))])
    assert (report.outcome, report.reason) == (Outcome.FAILED, "no text in it")
    assert desk.text() == OLD.text
    assert desk.entry().error == "no text in it"
    desk.writer.mark_failed(desk.index, [(Document(id="never", text=""), Failure("empty", Stage.SPLITTING))])
    assert desk.engine.ledger[DocumentKey("default", "never").hash].key == DocumentKey("default", "never")


# --- plans and attributes ------------------------------------------------------------------------------------------


def test_an_unfinished_write_is_planned_again(desk: Desk) -> None:
    desk.engine.before("publish", engine_error)
    with pytest.raises(EngineError):
        desk.put(OLD)
    assert desk.writer.plan(desk.index, [OLD]) == [Change.TEXT]


def test_a_plan_reads_the_ledger_once(desk: Desk) -> None:
    desk.put(OLD)
    desk.engine.calls.clear()
    desk.writer.plan(desk.index, [OLD, NEW, Document(id="x", text="")])
    assert desk.engine.calls == ["fetch"]


def test_a_revocation_reaches_the_ledger_before_the_chunks(desk: Desk) -> None:
    desk.put(replace(OLD, acl=("ann",)))
    desk.engine.calls.clear()
    desk.engine.before("update_attributes", engine_error)
    with pytest.raises(EngineError):
        desk.writer.update_attributes(desk.index, [replace(OLD, acl=("bob",))])
    assert desk.engine.calls == ["fetch", "write_entries", "update_attributes"]
    assert desk.entry().acl == ("bob",)
    assert desk.writer.plan(desk.index, [replace(OLD, acl=("bob",))]) == [Change.ATTRIBUTES]


def test_attributes_reach_every_chunk_and_the_next_plan_has_nothing_to_do(desk: Desk) -> None:
    desk.put(OLD)
    changed = replace(OLD, title="T", acl=("bob",))
    assert desk.writer.update_attributes(desk.index, [changed])[0].outcome is Outcome.UPDATED
    assert {chunk.attributes.acl for chunk in desk.engine.published.values()} == {("bob",)}
    assert desk.writer.plan(desk.index, [changed]) == [Change.NONE]


def test_attributes_of_many_documents_take_as_many_requests_as_those_of_one(desk: Desk) -> None:
    """A directory of people changes, and the ACL of every document with it: one refresh, not one a document."""
    documents = [Document(id=f"d{i}", text=f"Text {i}. More {i}.") for i in range(20)]
    desk.put(*documents)
    changed = [replace(d, acl=("bob",)) for d in documents]
    gone, missing = changed[3], changed[5]
    desk.writer.delete(desk.index, [gone.key])
    for chunk in [c for c in desk.engine.chunks if document_of(c.version) == missing.key.hash]:
        del desk.engine.chunks[chunk]
    desk.engine.calls.clear()
    reports = desk.writer.update_attributes(desk.index, changed)
    assert [report.document_id for report in reports] == [d.id for d in documents]
    assert {r.document_id for r in reports if r.outcome is Outcome.FAILED} == {gone.id, missing.id}
    assert {desk.entry(d).acl for d in changed if d is not gone} == {("bob",)}
    of_the_failure = ["fetch", "write_entries"]
    assert desk.engine.calls == [
        *("fetch", "write_entries", "update_attributes", "publish"),
        *of_the_failure,
        "write_entries",
    ]


def test_attributes_of_a_chunk_that_is_missing_are_a_failure_that_names_it(desk: Desk) -> None:
    desk.put(OLD)
    for chunk in chunk_ids(desk.engine, Granularity.G8):
        del desk.engine.chunks[chunk]
    (report,) = desk.writer.update_attributes(desk.index, [replace(OLD, acl=("bob",))])
    assert (report.outcome, report.reason) == (Outcome.FAILED, "chunk g08 from sentence 1: missing")
    assert desk.writer.plan(desk.index, [replace(OLD, acl=("bob",))]) == [Change.ATTRIBUTES]


def test_attributes_of_a_document_that_is_gone_are_refused(desk: Desk) -> None:
    desk.put(OLD)
    desk.writer.delete(desk.index, [OLD.key])
    (report,) = desk.writer.update_attributes(desk.index, [OLD])
    assert (report.outcome, report.reason) == (Outcome.FAILED, DELETED)


def always_touched(desk: Desk) -> None:
    """Change the entry behind every writer's back, before each conditional write."""

    def touch() -> None:
        entry = desk.entry()
        desk.engine.ledger[entry.document] = replace(entry, token=(entry.token[0] + 1_000, 1))
        desk.engine.before("write_entries", touch)

    desk.engine.before("write_entries", touch)


def test_where_others_are_always_faster_attributes_and_deletions_give_up(desk: Desk) -> None:
    desk.put(OLD)
    always_touched(desk)
    assert desk.writer.update_attributes(desk.index, [replace(OLD, title="T")])[0].reason == CONFLICT
    with pytest.raises(WriteConflict, match="'d' is being changed"):
        desk.writer.delete(desk.index, [OLD.key])
    assert desk.text() == OLD.text


# --- deletions -----------------------------------------------------------------------------------------------------


def test_a_deletion_hides_the_document_first_and_removes_everything(desk: Desk) -> None:
    desk.put(OLD)
    desk.engine.calls.clear()
    assert desk.writer.delete(desk.index, [OLD.key, DocumentKey("default", "never")]) == [True, False]
    assert desk.engine.calls[:3] == ["fetch", "write_entries", "delete"]
    assert not desk.engine.chunks
    assert not desk.engine.blocks
    assert desk.entry() == replace(ledger.remove(desk.entry(), 1_000.0), sets=desk.entry().sets)
    assert desk.entry().in_set("v1").retired == ()


def test_a_deletion_that_is_cut_short_is_finished_by_a_sweep(desk: Desk) -> None:
    desk.put(OLD)
    desk.engine.before("delete", engine_error)
    with pytest.raises(EngineError):
        desk.writer.delete(desk.index, [OLD.key])
    assert desk.entry().key is None
    desk.now += 61
    assert desk.writer.sweep(desk.index) == 1
    assert not desk.engine.chunks
    assert not desk.engine.blocks


def test_a_busy_engine_is_no_conflict(desk: Desk) -> None:
    def busy() -> None:
        raise EngineBusy("slow down")

    desk.engine.before("write_entries", busy)
    with pytest.raises(EngineBusy):
        desk.put(OLD)


def test_token_counts_are_the_splitters(desk: Desk) -> None:
    desk.put(OLD)
    (block,) = desk.engine.blocks.values()
    assert block.counts == split(OLD).counts


def test_a_deletion_that_the_engine_refuses_is_told_of_and_a_sweep_tries_again(desk: Desk) -> None:
    desk.put(OLD)
    chunk = next(iter(chunk_ids(desk.engine, Granularity.G8)))
    desk.engine.kept = {chunk: "index is blocked"}
    told: list[tuple[DocumentKey, str]] = []
    found = desk.writer.delete(desk.index, [OLD.key], refused=lambda key, why: told.append((key, why)))
    assert (found, told) == ([True], [(OLD.key, "chunk g08 from sentence 1: index is blocked")])
    assert desk.entry().key is None
    assert set(desk.engine.chunks) == {chunk}
    desk.engine.kept = {}
    desk.now += 61
    assert desk.writer.sweep(desk.index) == 1
    assert not desk.engine.chunks
