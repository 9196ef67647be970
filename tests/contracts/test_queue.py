"""The queue on each server: texts, runs, submissions, the broker's mark, and the ledger's conditions."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest

from tests.conftest import SERVERS
from umg_search.errors import ConfigurationError
from umg_search.model import Batch, Document, DocumentHash, DocumentState, Looks, QueuedText, TextKey
from umg_search.ports import Engine, Queue, Selection
from umg_search.settings import Settings
from umg_search.store import jobs, ledger
from umg_search.wiring import open_engine, open_queue

DOCUMENT = Document(
    id="a b/ü.md",
    text="Ships dock at dawn. \r\nCranes 🏗 unload them.",
    title="Ships",
    collection="port",
    metadata={"deep": [1, None, {"x": 2.5}], "a.b": "c"},
    acl=("ann", "bob"),
)


class Place(NamedTuple):
    engine: Engine
    queue: Queue


@pytest.fixture(params=SERVERS)
def place(request: pytest.FixtureRequest, server_prefix: Callable[[str], tuple[str, str]]) -> Iterator[Place]:
    url, prefix = server_prefix(request.param)
    settings = Settings(engine=url, prefix=prefix, replicas=0, grace_s=0)
    made = Place(open_engine(settings), open_queue(settings))
    made.queue.create()
    yield made
    made.queue.close()
    made.engine.close()


def key(number: int, byte: int = 1) -> TextKey:
    return TextKey(DocumentHash(bytes([byte]) * 16), number, "f1")


def test_texts_come_back_as_they_were_until_they_are_deleted(place: Place) -> None:
    other = replace(DOCUMENT, id="b", text="x" * 70_000, metadata={}, acl=())
    assert place.queue.put_texts([QueuedText(key(1), DOCUMENT, 5.0), QueuedText(key(2), other, 6.0)]) == {}
    assert place.queue.texts([key(1), key(2), key(3)]) == {key(1): DOCUMENT, key(2): other}
    place.queue.delete_texts([key(1), key(3)])
    assert place.queue.texts([key(1), key(2)]) == {key(2): other}


def test_texts_are_gone_through_by_age_and_the_backlog_is_their_bytes(place: Place) -> None:
    texts = [QueuedText(key(1, byte), DOCUMENT, float(byte)) for byte in range(1, 6)]
    place.queue.put_texts(texts)
    place.queue.extend_run("r1", 1.0, "")  # records of another kind are no texts
    assert {text.key for text in place.queue.old_texts(before=3.0)} == {key(1, 1), key(1, 2)}
    backlog = place.queue.backlog()
    assert (backlog.documents, backlog.bytes) == (5, 5 * len(DOCUMENT.text.encode()))
    assert backlog.free_bytes is not None
    assert backlog.free_bytes > 0


def test_an_old_text_is_deleted_unless_it_was_queued_again(place: Place) -> None:
    place.queue.put_texts([QueuedText(key(1, byte), DOCUMENT, 5.0) for byte in (1, 2, 3)])
    found = list(place.queue.old_texts(before=6.0))
    place.queue.put_texts([QueuedText(key(1, 2), DOCUMENT, 7.0)])
    place.queue.delete_texts([key(1, 3)])
    assert place.queue.delete_old_texts(found) == 1
    assert set(place.queue.texts([key(1, byte) for byte in (1, 2, 3)])) == {key(1, 2)}


def test_a_run_is_at_work_until_its_time_and_forgotten_when_it_ends(place: Place) -> None:
    for run, until in (("r1", 10.0), ("r2", 20.0), ("task/3", 30.0)):
        place.queue.extend_run(run, until, "worker 1")
    place.queue.extend_run("r2", 25.0, "worker 1")
    assert place.queue.runs(["r1", "r2", "task/3", "never"]) == {"r1": 10.0, "r2": 25.0, "task/3": 30.0}
    assert place.queue.end_runs(before=20.0) == 1
    place.queue.end_run("task/3")
    place.queue.end_run("never")
    assert place.queue.runs(["r1", "r2", "task/3"]) == {"r2": 25.0}


def test_submissions_are_listed_newest_first(place: Place) -> None:
    first, second = Batch("b1", 5.0, "/docs", queued=2, unchanged=3, failed=1), Batch("b2", 6.0)
    for batch in (first, second, replace(first, complete=True)):
        place.queue.write_batch(batch)
    assert place.queue.batch("b1") == replace(first, complete=True)
    assert place.queue.batch("b3") is None
    assert place.queue.batches() == [second, replace(first, complete=True)]
    assert place.queue.batches(most=1) == [second]
    assert place.queue.old_batches(before=6.0) == [replace(first, complete=True)]
    place.queue.delete_batches(["b1", "never"])
    assert place.queue.batches() == [second]


def test_the_brokers_mark_is_remembered(place: Place) -> None:
    assert place.queue.marker() is None
    place.queue.set_marker("m1")
    assert place.queue.marker() == "m1"


def test_the_looks_of_a_sweeper_are_remembered(place: Place) -> None:
    assert place.queue.looks() == Looks(0.0, 0.0)
    place.queue.set_looks(Looks(last=1_000.25, before=900.5))
    assert place.queue.looks() == Looks(last=1_000.25, before=900.5)


def test_a_queue_is_made_once_and_before_any_set(place: Place) -> None:
    place.queue.set_marker("m1")
    place.queue.create()
    assert place.queue.marker() == "m1"
    assert place.engine.active_set() is None
    assert place.engine.fetch(None, [DOCUMENT.key.hash], []).entries == {}


def test_servers_select_entries_as_the_ledger_means_it(place: Place) -> None:
    """The same conditions as in the unit test of `meets`, which is what the embedded engine does."""
    blank = [ledger.blank(replace(DOCUMENT, id=str(i)).key) for i in range(4)]
    queued = jobs.queued(blank[0], DOCUMENT, "b1", "/docs", 20.0)
    entries = [queued, ledger.remove(blank[1], 60.0)]
    waiting = jobs.queued(blank[2], DOCUMENT, "b1", "", 30.0)
    assert waiting.pending is not None
    entries.append(jobs.taken(waiting, waiting.pending, "r1", 31.0))
    begun, _ = ledger.begin(blank[3], DOCUMENT, "v1", 2, 40.0)
    stored = [entry for entry in place.engine.write_entries([*entries, begun]) if entry is not None]
    selections: list[Selection] = [
        {},
        {"state": DocumentState.QUEUED},
        {"batch": "b1"},
        {"batch": "b1", "held": True},
        {"batch": "b1", "held": False},
        {"source": "/docs", "collection": "port"},
        {"collection": "elsewhere"},
        {"sent_before": 20.5},
        {"sent_before": 20.0},
        {"sent_before": 50.0},
        {"retired_before": 40.5},
    ]
    for selection in selections:
        found = {entry.document for entry in place.engine.entries(**selection)}
        assert found == {e.document for e in stored if jobs.meets(e, selection)}, selection
    assert place.engine.states(batch="b1") == {DocumentState.QUEUED: 1, DocumentState.ENCODING: 1}


def test_the_embedded_engine_has_no_queue() -> None:
    with pytest.raises(ConfigurationError, match=r"embedded:.* is open to one process at a time: use `umg ingest`"):
        open_queue(Settings(engine="embedded:somewhere"))
