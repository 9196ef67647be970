"""A model change without downtime, asked of every engine: build beside, flip at once, go back, drop.

Two models are played by words hashed with and without a salt; the second has other dimensions. What a set was built
with shows in its lists: a query of one model scores nonsense in the set of the other.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ingest.pipeline import IngestService
from ingest.rebuild import RebuildService
from ingest.sentences import SentenceOptions
from tests.fakes.encoders import HashedEncoders, encoded, spec
from tests.fakes.interposed import Interposed
from umg_search.errors import ConfigurationError, EngineBusy, IndexMismatch, NoIndexSet, SetIncomplete, UmgError
from umg_search.granularity import Expert, Granularity
from umg_search.model import (
    DeclaredField,
    DenseModel,
    Document,
    DocumentKey,
    FieldType,
    IndexSet,
    IngestReport,
    LedgerEntry,
    Outcome,
    SetRole,
    SetSpec,
    Verdict,
)
from umg_search.ports import Engine, Scope
from umg_search.search import Query, RankingOptions, SearchService
from umg_search.settings import Settings
from umg_search.store import ledger
from umg_search.store.admin import Lease, Sets
from umg_search.store.admin import pages as ledger_pages
from umg_search.store.reader import Reader
from umg_search.store.server_sets import SET_SECONDS
from umg_search.store.writer import Writer
from umg_search.wiring import open_engine

EXPERTS = (Expert.DENSE, Expert.LEXICAL)
OLD = spec(experts=EXPERTS, granularities=(Granularity.G2, Granularity.G8), access_control=True)
NEW = replace(
    OLD, granularities=(Granularity.G2, Granularity.G4), dense=DenseModel("hashed-words-2", 2 * OLD.dense.dims)
)
EVERYBODY = ("*",)


def prose(subject: str, sentences: int = 12) -> str:
    return " ".join(f"The {subject} has a part called {subject}{i} that people visit." for i in range(sentences))


def document(subject: str, **kind: object) -> Document:
    return Document(**{"id": subject, "text": prose(subject), "title": subject, "acl": EVERYBODY, **kind})  # type: ignore[arg-type]


SUBJECTS = ("harbour", "orchard", "glacier", "volcano")


class Library:
    """An engine with two models, and everything that writes, searches and rebuilds over it."""

    def __init__(self, engine: Engine, *, batch_chars: int = 1_500) -> None:  # two documents a batch
        self.engine = engine
        self.reader = Reader(engine)
        self.sets = Sets(engine, grace=0)
        self.search_service = SearchService(self.reader, HashedEncoders)
        self.rebuild_service = RebuildService(
            engine,
            HashedEncoders,  # type: ignore[arg-type] - a fake of the encoders
            sentences=SentenceOptions(),
            batch_chars=batch_chars,
            lease_seconds=1.0,
        )

    def put(self, *documents: Document, index_spec: SetSpec = OLD, engine: Engine | None = None) -> list[IngestReport]:
        service = IngestService(
            Writer(engine or self.engine, grace=0),
            HashedEncoders(index_spec),  # type: ignore[arg-type] - a fake of the encoders
            index_spec,
            sentences=SentenceOptions(),
            batch_chars=10_000,
        )
        return list(service.ingest(documents))

    def writer(self) -> Writer:
        return Writer(self.engine, grace=0)

    def build(self, index_spec: SetSpec = NEW) -> IndexSet:
        index, _ = self.rebuild_service.begin(index_spec)
        assert all(report.outcome is not Outcome.FAILED for report in self.rebuild_service.fill(index))
        return index

    def activate(self, index: IndexSet) -> list[IngestReport]:
        return list(self.rebuild_service.activate(index))

    def found(self, text: str, principals: tuple[str, ...] = ("anybody",)) -> set[str]:
        query = Query(text=text, scope=Scope(principals=principals), options=RankingOptions(budget=2_000), explain=True)
        result = self.search_service.search(query)
        assert not result.degraded
        found = {context.document_id for context in result.contexts if text.split(maxsplit=1)[0] in context.text}
        # Each channel of the set that answers finds the words best, so the query was encoded by the set's own model.
        assert all(report.top[0].document_id in found for report in result.channels if found)
        return found

    def entry(self, id: str) -> LedgerEntry:
        key = DocumentKey("default", id)
        return self.engine.fetch(self.reader.active_set(), [key.hash], []).entries[key.hash]

    def roles(self) -> dict[int, SetRole]:
        return {stored.index.version: stored.role for stored in self.engine.sets()}

    def entries_in(self, index: IndexSet) -> set[int]:
        sizes = self.engine.sizes(index)
        return {size.entries for name, size in sizes.items() if not name.endswith("documents")}


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[Engine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


@pytest.fixture
def library(engine: Engine) -> Library:
    made = Library(engine)
    made.put(*map(document, SUBJECTS))
    return made


def test_a_model_change_builds_beside_flips_at_once_goes_back_and_drops(library: Library) -> None:
    """Model change without downtime: build beside, flip all aliases at once, roll back."""
    old = library.reader.active_set()
    index = library.build()
    assert (index, library.reader.active_set()) == (IndexSet(2, NEW), old)
    assert library.roles() == {1: SetRole.ACTIVE, 2: SetRole.BUILDING}
    assert library.found("glacier glacier3") == {"glacier"}
    assert library.activate(index) == []
    assert library.reader.active_set() == index
    assert library.roles() == {1: SetRole.PREVIOUS, 2: SetRole.ACTIVE}
    assert library.found("glacier glacier3") == {"glacier"}
    assert library.reader.text(DocumentKey("default", "glacier"), ("anybody",)) == prose("glacier")
    previous, reports = library.rebuild_service.rollback()
    assert (previous, list(reports)) == (old, [])
    assert library.roles() == {1: SetRole.ACTIVE, 2: SetRole.PREVIOUS}
    assert library.found("glacier glacier3") == {"glacier"}
    library.rebuild_service.drop(2)
    assert library.roles() == {1: SetRole.ACTIVE}
    assert set(library.entry("glacier").sets) == {"v1"}
    assert library.found("glacier glacier3") == {"glacier"}
    assert library.build().version == 3, "a version is never used twice"


def test_a_set_of_finest_windows_that_derives_the_others_is_built_beside_and_left_again(library: Library) -> None:
    """In either direction: what a set derives is part of what its writers agree on."""
    deriving = replace(OLD, granularities=(Granularity.G2,), derived=(Granularity.G4, Granularity.G8))
    index = library.build(deriving)
    assert library.activate(index) == []
    assert library.reader.active_set().spec == deriving
    assert library.found("glacier glacier3") == {"glacier"}
    with pytest.raises(IndexMismatch, match=r"granularities: the index has 2, .*derived: the index has 4, 8, .* none"):
        library.put(document("glacier", text=prose("glacier", 3)))
    library.put(document("glacier", text=prose("glacier", 30)), index_spec=deriving)
    assert library.found("glacier glacier29") == {"glacier"}
    back = library.build(OLD)
    assert library.activate(back) == []
    assert library.reader.active_set().spec == OLD
    assert library.found("glacier glacier29") == {"glacier"}


def test_a_writer_with_another_model_is_refused_and_told_of_rebuild(library: Library) -> None:
    """The embedding model changes (384 to 768 dimensions) on an existing index: refused before any write, both numbers
    named, a new generation offered."""
    before = library.entry("glacier")
    with pytest.raises(IndexMismatch, match=r"dims 48.*dims 96.*umg index rebuild.*umg index activate"):
        library.put(document("glacier", text=prose("glacier", 3)), index_spec=NEW)
    assert library.entry("glacier") == before


def test_a_running_service_follows_a_flip_within_two_seconds(library: Library, engine_settings: Settings) -> None:
    """One in another process has a connection, and a memory of the active set, of its own."""
    embedded = engine_settings.engine.startswith("embedded:")
    other = Library(library.engine if embedded else open_engine(engine_settings))
    index = library.build()
    assert other.found("glacier glacier3") == {"glacier"}
    library.activate(index)
    assert other.found("glacier glacier3") == {"glacier"}  # in whichever set
    deadline = time.monotonic() + 2.5
    while other.reader.active_set() != index:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert other.found("glacier glacier3") == {"glacier"}


def test_searches_that_run_during_flips_see_every_document_once(library: Library) -> None:
    index = library.build()
    old = library.reader.active_set()
    done = threading.Event()
    faults: list[object] = []
    searches = 0

    def search() -> None:
        nonlocal searches
        while not done.is_set():
            try:
                found = library.found("glacier glacier3")
            except (UmgError, AssertionError) as error:
                faults.append(error)
            else:
                faults.extend([found] if found != {"glacier"} else [])
            searches += 1

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for target in (index, old, index):
        library.activate(target)
        time.sleep(0.1)
    done.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert searches > 10


def test_a_build_that_was_cut_short_is_continued(library: Library) -> None:
    index, coverage = library.rebuild_service.begin(NEW)
    assert (coverage.missing, coverage.characters) == (4, sum(len(prose(s)) for s in SUBJECTS))
    reports = library.rebuild_service.fill(index)
    first = [next(reports), next(reports)]
    reports.close()
    again, coverage = library.rebuild_service.begin(NEW)
    assert (again, coverage.current, coverage.missing) == (index, 2, 2)
    rest = list(library.rebuild_service.fill(index))
    assert {report.document_id for report in first + rest} == set(SUBJECTS)
    assert library.activate(index) == []


def test_kill_between_any_two_steps_of_a_build_leaves_the_live_set_alone_and_a_retry_finishes(library: Library) -> None:
    """Kill -9 between any two steps."""
    index, _ = library.rebuild_service.begin(NEW)

    def die() -> None:
        raise KeyboardInterrupt

    for operation in ("fetch", "write_entries", "write_blocks", "write_chunks", "publish", "write_entries"):
        broken = Interposed(library.engine)
        if operation == "write_entries":
            broken.before(operation, lambda: None)  # the second time: after the chunks, before they are live
        broken.before(operation, die)
        with pytest.raises(KeyboardInterrupt):
            list(Library(broken).rebuild_service.fill(index))
        assert library.found("glacier glacier3") == {"glacier"}
    library.build()
    library.activate(index)
    assert library.found("glacier glacier3") == {"glacier"}
    library.writer().sweep(index)
    assert library.entry("glacier").in_set("v2").retired == ()
    assert library.entries_in(index) == {4 * 11, 4 * 5, 4}  # 12 sentences: 11 windows of 2, 5 of 4, one text block


def test_writes_deletes_and_revocations_during_a_build_reach_both_sets(library: Library) -> None:
    index = library.build()
    library.put(
        document("orchard", text=prose("orchard", 30)),  # outdated in the new set
        document("library"),  # missing there
        document("glacier", acl=("ann",)),  # same text: attributes only
    )
    library.writer().delete(library.reader.active_set(), [DocumentKey("default", "volcano")])
    coverage = library.sets.coverage()
    assert (coverage["v1"].gap, coverage["v2"].outdated, coverage["v2"].missing) == (0, 1, 1)
    assert library.entry("volcano").sets["v2"].live is None
    reports = library.activate(index)
    assert {(report.document_id, report.outcome) for report in reports} == {
        ("orchard", Outcome.UPDATED),
        ("library", Outcome.NEW),
    }
    assert library.found("orchard orchard29") == {"orchard"}
    assert library.found("library library3") == {"library"}
    assert library.found("volcano volcano3") == set()
    assert library.found("glacier glacier3") == set()
    assert library.found("glacier glacier3", ("ann",)) == {"glacier"}  # every expert finds it: the chunks say so too
    assert library.reader.text(DocumentKey("default", "orchard"), ("anybody",)) == prose("orchard", 30)


def test_what_happened_since_the_flip_holds_after_a_rollback_too(library: Library) -> None:
    library.activate(library.build())
    library.put(document("orchard", text=prose("orchard", 30)), document("library"), index_spec=NEW)
    library.put(document("glacier", acl=("ann",)), index_spec=NEW)
    library.writer().delete(library.reader.active_set(), [DocumentKey("default", "volcano")])
    _, reports = library.rebuild_service.rollback()
    assert {report.document_id for report in reports} == {"orchard", "library"}
    assert library.reader.active_set().version == 1
    assert library.found("orchard orchard29") == {"orchard"}
    assert library.found("library library3") == {"library"}
    assert library.found("volcano volcano3") == set()
    assert library.found("glacier glacier3") == set()
    assert library.found("glacier glacier3", ("ann",)) == {"glacier"}


def test_a_text_that_came_back_with_other_readers_is_built_anew(library: Library) -> None:
    """The text is the same as in the other set, whose chunk entries still let the former readers find it."""
    index = library.build()
    library.put(document("glacier", text=prose("glacier", 3)))
    library.put(document("glacier", acl=("ann",)))
    assert library.sets.coverage()["v2"].outdated == 1
    library.activate(index)
    assert library.found("glacier glacier3", ("ann",)) == {"glacier"}


def test_changes_at_the_worst_moment_of_a_build_are_not_undone(library: Library) -> None:
    """Another process, without the new models, changes documents after their text was read, before they are live."""
    index, _ = library.rebuild_service.begin(NEW)
    slow = Interposed(library.engine)

    def meanwhile() -> None:
        library.put(document("glacier", text=prose("glacier", 30)), document("orchard", acl=("ann",)))
        library.writer().delete(library.reader.active_set(), [DocumentKey("default", "volcano")])

    slow.before("write_chunks", meanwhile)
    list(Library(slow, batch_chars=10_000).rebuild_service.fill(index))
    library.activate(index)
    assert library.reader.text(DocumentKey("default", "glacier"), ("anybody",)) == prose("glacier", 30)
    assert library.found("glacier glacier29") == {"glacier"}
    assert library.found("orchard orchard3") == set()
    assert library.found("orchard orchard3", ("ann",)) == {"orchard"}
    assert library.found("volcano volcano3") == set()


def test_a_write_that_a_flip_overtakes_is_refused_and_not_lost_silently(library: Library) -> None:
    """The writer's process has the old model only: its text must not become live where nobody looks."""
    index = library.build()
    slow = Interposed(library.engine)
    slow.before("publish", lambda: library.activate(index))
    with pytest.raises(IndexMismatch, match=r"dims 96.*dims 48"):
        library.put(document("glacier", text=prose("glacier", 30)), engine=slow)
    assert library.found("glacier glacier3") == {"glacier"}
    assert library.sets.coverage()["v2"].gap == 0
    assert library.entry("glacier").in_set("v1").live.sentences == 12


def test_a_write_that_asked_just_before_the_flip_is_caught_up(library: Library) -> None:
    """Between its question for the active set and its last write to the ledger the whole flip takes place."""
    index = library.build()
    slow = Interposed(library.engine)
    slow.before("write_entries", lambda: None)
    slow.before("write_entries", lambda: library.activate(index))
    with pytest.raises(IndexMismatch):
        library.put(document("glacier", text=prose("glacier", 30)), engine=slow)
    assert library.sets.coverage()["v2"].gap == 0
    quick = Interposed(library.engine)
    quick.before("activate", lambda: library.put(document("orchard", text=prose("orchard", 30)), index_spec=NEW))
    reports = list(Library(quick).rebuild_service.activate(IndexSet(1, OLD)))
    assert [report.document_id for report in reports] == ["orchard"]
    assert library.found("orchard orchard29") == {"orchard"}


def test_a_write_that_a_flip_to_equal_settings_overtakes_goes_to_the_new_set(library: Library) -> None:
    """A change of chunking or of the mapping alone leaves the specification as it is."""
    index = library.build(OLD)
    slow = Interposed(library.engine)
    slow.before("publish", lambda: library.activate(index))
    (report,) = library.put(document("glacier", text=prose("glacier", 30)), engine=slow)
    assert report.outcome is Outcome.UPDATED
    assert library.found("glacier glacier29") == {"glacier"}
    assert library.sets.coverage()["v2"].gap == 0


@pytest.mark.parametrize("operation", ["write_blocks", "write_chunks"])
def test_a_write_into_a_set_that_is_dropped_makes_no_index_of_its_own(library: Library, operation: str) -> None:
    """The flip, and a drop that does not wait, take place between the ledger's word and the entries."""
    index = library.build(OLD)
    slow = Interposed(library.engine)

    def overtake() -> None:
        library.activate(index)
        library.engine.drop_set(IndexSet(1, OLD))

    slow.before(operation, overtake)
    (report,) = library.put(document("glacier", text=prose("glacier", 30)), engine=slow)
    assert report.outcome is Outcome.UPDATED
    assert library.found("glacier glacier29") == {"glacier"}
    assert library.roles() == {2: SetRole.ACTIVE}
    assert {f.verdict for f in library.engine.diagnose(None) if f.check == "leftovers"} == {Verdict.OK}


@pytest.mark.parametrize("operation", ["ranked_lists", "fetch"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_search_whose_set_is_dropped_is_answered_from_the_one_that_is_active_now(
    library: Library, operation: str, *, whole: bool
) -> None:
    """It loads a model for seconds, say, while the set is flipped and dropped, or a drop is on its way."""
    index, old = library.build(), IndexSet(1, OLD)
    slow = Interposed(library.engine)

    def overtake() -> None:
        library.activate(index)
        for page in ledger_pages(library.engine.entries()):
            library.engine.write_entries([ledger.leave(entry, old.label) for entry in page])
        if whole:
            library.engine.drop_set(old)

    slow.before(operation, overtake)
    assert Library(slow).found("glacier glacier3") == {"glacier"}


def test_a_drop_waits_until_every_process_has_noticed_the_flip(library: Library, engine_settings: Settings) -> None:
    embedded = engine_settings.engine.startswith("embedded:")
    waited: list[float] = []
    sets = Sets(library.engine, grace=0, sleep=waited.append)
    library.activate(library.build())
    sets.drop(1)
    assert waited == [0.0 if embedded else SET_SECONDS]
    sets.drop(library.build(replace(NEW, analyzer="simple")).version)
    assert len(waited) == 1, "nobody searches a set that was never active"


def test_a_document_that_the_new_model_cannot_encode_keeps_the_set_from_being_activated(library: Library) -> None:
    old = library.reader.active_set()
    library.writer().replace(old, [encoded(document("odd", text="It is unreadable. To it."), OLD)])
    index, _ = library.rebuild_service.begin(NEW)
    reports = {report.document_id: report.outcome for report in library.rebuild_service.fill(index)}
    assert reports == {**dict.fromkeys(SUBJECTS, Outcome.NEW), "odd": Outcome.FAILED}
    with pytest.raises(SetIncomplete, match=r"1 documents.*'odd'.*ValueError.*umg index activate 2"):
        library.activate(index)
    assert library.reader.active_set() == old
    assert library.found("unreadable") == {"odd"}
    library.writer().delete(old, [DocumentKey("default", "odd")])
    assert library.activate(index) == []


def test_a_document_that_others_change_each_time_keeps_the_set_from_being_activated(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be missing after the flip."""
    index = library.build()
    library.put(document("glacier", text=prose("glacier", 14)))
    store = library.rebuild_service._builder.store

    def contested(target: IndexSet, copies: list) -> dict:
        library.engine.write_entries([ledger.fence(entry, 0.0) for entry, _ in copies])
        return store(target, copies)

    monkeypatch.setattr(library.rebuild_service._builder, "store", contested)
    with pytest.raises(SetIncomplete, match="changed 1 documents each time"):
        library.activate(index)
    assert library.roles() == {1: SetRole.ACTIVE, 2: SetRole.BUILDING}
    monkeypatch.undo()
    assert [report.document_id for report in library.activate(index)] == ["glacier"]


def test_two_rebuilds_at_once_make_one_set_and_the_other_is_told(library: Library) -> None:
    index, _ = library.rebuild_service.begin(NEW)
    reports = library.rebuild_service.fill(index)
    next(reports)
    other = Library(library.engine)
    attempts = (
        lambda: other.rebuild_service.begin(NEW),
        lambda: other.activate(index),
        lambda: other.rebuild_service.drop(2),
    )
    for act in attempts:
        with pytest.raises(EngineBusy, match=r"being changed by process \d+ on "):
            act()
    assert len(list(reports)) == 3
    assert other.build() == index
    assert library.roles() == {1: SetRole.ACTIVE, 2: SetRole.BUILDING}


def test_the_lease_of_a_process_that_was_killed_ends_by_itself(library: Library) -> None:
    killed = Lease(library.engine, seconds=60)
    killed.take()
    with pytest.raises(EngineBusy, match="if it was killed"):
        library.rebuild_service.begin(NEW)
    library.engine.hold(killed._owner, 0)
    index, _ = library.rebuild_service.begin(NEW)
    assert library.engine.hold("somebody else", 60) == "somebody else"
    killed.take()
    with pytest.raises(EngineBusy, match="somebody else"):
        killed.check()
    library.engine.release("somebody else")
    assert len(list(library.rebuild_service.fill(index))) == 4


def test_a_set_that_is_being_built_with_other_settings_is_named(library: Library) -> None:
    library.rebuild_service.begin(NEW)
    with pytest.raises(IndexMismatch, match=r"set v2 that is being built .*dims 96.*dims 7.*umg index drop 2"):
        library.rebuild_service.begin(replace(NEW, dense=replace(NEW.dense, dims=7)))


def test_only_a_set_that_can_be_spared_is_dropped(library: Library) -> None:
    with pytest.raises(ConfigurationError, match="v1 is the active one"):
        library.rebuild_service.drop(1)
    with pytest.raises(ConfigurationError, match="no index set of version 7: there are 1"):
        library.rebuild_service.drop(7)
    with pytest.raises(ConfigurationError, match="no previous index set"):
        library.rebuild_service.rollback()
    index = library.build()
    library.engine.activate(index)  # as if killed right after the flip, with a write on its way
    old = IndexSet(1, OLD)
    entry = library.entry("glacier")
    changed = document("glacier", text=prose("glacier", 3))
    begun, number = ledger.begin(entry, changed, "v1", 3, time.time())
    (begun,) = library.engine.write_entries([begun])
    library.engine.write_entries([ledger.finish(begun, changed, "v1", number, time.time())])
    with pytest.raises(ConfigurationError, match="newest text of 1 documents"):
        library.rebuild_service.drop(old.version)


def test_nothing_indexed_yet_is_said(engine: Engine) -> None:
    with pytest.raises(NoIndexSet, match="umg ingest"):
        Library(engine).rebuild_service.begin(NEW)


def test_metadata_that_do_not_fit_the_set_that_is_built_are_named_before_the_flip(library: Library) -> None:
    """The set that is searched takes them; the other one loses the document until they are corrected."""
    typed = replace(NEW, fields=(DeclaredField("year", FieldType.INTEGER),))
    index = library.build(typed)
    (report,) = library.put(document("glacier", metadata={"year": "long ago"}))
    assert report.outcome is Outcome.UPDATED
    with pytest.raises(SetIncomplete, match="year"):
        library.activate(index)
    assert library.found("glacier glacier3") == {"glacier"}
    library.put(document("glacier", metadata={"year": 1997}))
    assert [report.document_id for report in library.activate(index)] == ["glacier"]
    assert library.found("glacier glacier3") == {"glacier"}
