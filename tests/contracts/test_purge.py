"""What a delete leaves, and when that goes too, asked of every engine."""

import time
from collections.abc import Iterator

import pytest

from tests.fakes.encoders import encoded, spec
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, DocumentState, Failure, IndexSet, Outcome, Stage
from umg_search.ports import Engine
from umg_search.settings import Settings
from umg_search.store import generations, ledger
from umg_search.store.admin import TOMBSTONE_DAYS, Sets
from umg_search.store.writer import Writer
from umg_search.wiring import open_engine

SPEC = spec(experts=(Expert.LEXICAL,), granularities=(Granularity.G2,))
DOCUMENT = Document(id="d", text="The kiln is lit at noon. It burns for nine hours. Nobody opens it before dawn.")
DAY = 86_400.0


class Desk:
    """A writer, whose batches end before the grace, and a clock that is set by hand."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.now = time.time()
        self.writer = Writer(engine, grace=60, clock=lambda: self.now)
        self.sets = Sets(engine, grace=60, clock=lambda: self.now)
        self.index: IndexSet = self.writer.prepare(SPEC)

    def put(self, document: Document = DOCUMENT) -> Outcome:
        return self.writer.replace(self.index, [encoded(document, SPEC)])[0].outcome

    def begin(self) -> list[generations.Write]:
        """Name a new generation in the ledger, as the first step of a write does."""
        return self.writer._begin(
            self.index, [encoded(DOCUMENT, SPEC)], self.writer._entries(self.index, [DOCUMENT.key])
        )

    def states(self) -> dict[DocumentState, int]:
        return {state: count for state, count in self.engine.states().items() if count}

    def entries(self) -> set[int]:
        return {size.entries for name, size in self.engine.sizes(self.index).items() if not name.endswith("documents")}


@pytest.fixture
def desk(engine_settings: Settings) -> Iterator[Desk]:
    engine = open_engine(engine_settings)
    yield Desk(engine)
    engine.close()


def test_a_delete_leaves_a_tombstone_and_a_purge_takes_it_at_its_age(desk: Desk) -> None:
    desk.put()
    assert desk.writer.delete(desk.index, [DOCUMENT.key]) == [True]
    assert (desk.states(), desk.entries()) == ({DocumentState.DELETED: 1}, {0})
    desk.now += TOMBSTONE_DAYS * DAY - 1
    assert desk.sets.purge() == 0
    desk.now += 2
    assert desk.sets.purge() == 1
    assert desk.states() == {}
    assert desk.put() is Outcome.NEW
    assert desk.sets.purge(days=0) == 0
    assert desk.states() == {DocumentState.SEARCHABLE: 1}


def test_no_age_is_below_the_grace(desk: Desk) -> None:
    """A writer that lost against the delete must find the tombstone, not nothing."""
    desk.put()
    desk.writer.delete(desk.index, [DOCUMENT.key])
    desk.now += 59
    assert desk.sets.purge(days=0) == 0
    desk.now += 2
    assert desk.sets.purge(days=0) == 1


def test_chunks_that_a_late_writer_leaves_are_deleted_before_their_tombstone(desk: Desk) -> None:
    """Otherwise a document that comes back, counting from 1 again, would one day reach the number they have."""
    desk.put()
    late = desk.begin()
    desk.writer.delete(desk.index, [DOCUMENT.key])
    assert generations.write(desk.engine, desk.index, late) == {}  # after the delete, and then its process is killed
    desk.now += TOMBSTONE_DAYS * DAY + 1
    assert desk.entries() == {2, 1}  # 2 windows, 1 text block
    assert desk.sets.purge() == 0
    assert desk.writer.sweep(desk.index) == 1
    assert desk.entries() == {0}
    desk.now += TOMBSTONE_DAYS * DAY + 1
    assert desk.sets.purge() == 1


def test_a_writer_that_comes_after_the_purge_brings_nothing_back(desk: Desk) -> None:
    desk.put()
    late = desk.begin()
    desk.writer.delete(desk.index, [DOCUMENT.key])
    desk.now += 61
    desk.writer.sweep(desk.index)
    desk.now += 61
    assert desk.sets.purge(days=0) == 1
    generations.write(desk.engine, desk.index, late)
    finished = desk.writer._finish(desk.index, late)
    generations.tidy(desk.engine, desk.index, late, finished)
    assert finished == {}
    assert (desk.states(), desk.entries()) == ({}, {0})


def test_a_tombstone_that_becomes_a_document_meanwhile_stays(desk: Desk) -> None:
    desk.put()
    desk.writer.delete(desk.index, [DOCUMENT.key])
    (tombstone,) = desk.engine.entries(state=DocumentState.DELETED)
    desk.put()
    assert desk.engine.delete_entries([tombstone]) == 0
    assert desk.states() == {DocumentState.SEARCHABLE: 1}


def test_the_ledger_is_gone_through_by_state(desk: Desk) -> None:
    desk.put()
    desk.writer.mark_failed(desk.index, [(Document(id="e", text=""), Failure("empty", Stage.SPLITTING))])
    failed = [entry.key for entry in desk.engine.entries(state=DocumentState.FAILED)]
    assert failed == [Document(id="e", text="").key]
    assert [e.key for e in desk.engine.entries(state=DocumentState.FAILED, retired_before=desk.now)] == []
    entry = ledger.blank(DOCUMENT.key)
    assert desk.engine.write_entries([entry]) == [None]
