"""Updates without a hole: documents are replaced all the time while others search, and writers are killed."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from ingest.pipeline import IngestService
from ingest.sentences import SentenceOptions
from tests.contracts import updating
from tests.contracts.updating import NAMES, SPEC, document, put
from tests.fakes.encoders import HashedEncoders, HashedWords
from tests.fakes.interposed import Interposed
from umg_search.model import Document, Outcome
from umg_search.ports import Engine
from umg_search.search import Query, RankingOptions, SearchService
from umg_search.settings import Settings
from umg_search.store.reader import Reader
from umg_search.store.reports import CONFLICT
from umg_search.store.writer import Writer
from umg_search.windows import window_count
from umg_search.wiring import open_engine

SEARCHES = 2_000
THREADS = 3
ROOT = Path(__file__).parents[2]
OPTIONS = RankingOptions(budget=150, depth=50)

Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def start(engine_settings: Settings) -> Iterator[Start]:
    """Start a process that writes; it is killed when the test ends."""
    started: list[subprocess.Popen[str]] = []

    def start_(mode: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(  # noqa: S603 - a script of this folder
            [sys.executable, updating.__file__, mode, engine_settings.model_dump_json(exclude={"broker"})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield start_
    for process in started:
        process.kill()
        process.communicate()


def is_embedded(settings: Settings) -> bool:
    return settings.engine.startswith("embedded:")


class Watch:
    """Searches for documents that change meanwhile, and knows which revisions are reported as stored."""

    def __init__(self, engine: Engine) -> None:
        self.service = SearchService(Reader(engine), HashedWords)
        self.stored = dict.fromkeys(NAMES, 0)
        self.faults: list[str] = []
        self.seen: set[tuple[str, int]] = set()

    def search(self, number: int) -> None:
        """Search once: what is found is one whole revision, not older than what was stored when the search began."""
        name = NAMES[number % len(NAMES)]
        least = self.stored[name]
        contexts = self.service.search(Query(text=f"the {name} to see", options=OPTIONS)).contexts
        own = [context for context in contexts if context.document_id == name]
        revisions = {int(context.text.partition(" r")[2].split()[0]) for context in own}
        self.seen |= {(name, revision) for revision in revisions}
        if not own:
            self.faults.append(f"{name}: nothing found")
        elif len(revisions) > 1 or min(revisions) < least:
            self.faults.append(f"{name}: {sorted(revisions)} where {least} was stored")
        elif any(c.text != document(name, min(revisions)).text[c.start : c.end] for c in own):
            self.faults.append(f"{name}: another text than that of revision {revisions}")


@pytest.mark.newest  # half a minute each
def test_two_thousand_searches_during_updates_find_no_hole_and_no_mixture(
    engine_settings: Settings, start: Start
) -> None:
    """One process replaces documents in a loop while this one searches; a server also refreshes every second, and a
    thread here refreshes at random moments, which publishes what the writer has not finished."""
    with closing(open_engine(engine_settings)) as engine:
        put(engine, *(document(name, 0) for name in NAMES))
        watch = Watch(engine)
        done = threading.Event()

        def note() -> None:
            if is_embedded(engine_settings):
                stored = updating.replacements(engine)
            else:
                stored = ((name, int(number)) for name, number in map(str.split, start("loop").stdout))
            for name, revision in stored:
                watch.stored[name] = revision
                if done.is_set():
                    return

        def refresh() -> None:
            index = engine.active_set()
            while not done.wait(0.05):
                engine.publish(index)

        with ThreadPoolExecutor(THREADS + 2) as pool:
            others = [pool.submit(note), pool.submit(refresh)]
            try:
                deadline = time.monotonic() + 30
                while not min(watch.stored.values()) and time.monotonic() < deadline:
                    time.sleep(0.05)
                list(pool.map(watch.search, range(SEARCHES)))
            finally:
                done.set()
            for other in others:
                other.result()
        assert watch.faults == []
        assert len(watch.seen) > 2 * len(NAMES), "documents changed while they were searched for"


def test_a_writer_killed_between_any_two_steps_leaves_a_whole_text_and_a_retry_finishes(
    engine_settings: Settings, start: Start
) -> None:
    """Kill -9 between any two steps: the old text stays searchable, a retry finishes."""
    name = NAMES[0]
    with closing(open_engine(engine_settings)) as engine:
        put(engine, document(name, 0))
    process = start("kill")
    for calls in count(1):
        revision = calls
        process.stdin.write(f"{calls} {revision}\n")
        process.stdin.flush()
        survived = bool(int(process.stdout.readline()))
        with closing(open_engine(engine_settings)) as engine:
            watch = Watch(engine)
            watch.search(0)
            assert (watch.faults, len(watch.seen)) == ([], 1)
            ((_, found),) = watch.seen
            assert found == revision or (found == revision - 1 and not survived)
            writer = Writer(engine, grace=0)
            (report,) = put(engine, document(name, revision))
            assert report.outcome is Outcome.UPDATED
            watch.stored[name] = revision
            watch.search(0)
            assert watch.faults == []
            writer.sweep(writer.prepare(SPEC))
            check_nothing_is_left_over(engine, revision)
        if survived:
            break
    assert calls > 6  # ledger, text, chunks, refresh, active set, ledger, deletion


def check_nothing_is_left_over(engine: Engine, revision: int) -> None:
    sentences = updating.LENGTHS[revision % len(updating.LENGTHS)]
    expected = {g.label: window_count(sentences, g) for g in SPEC.granularities} | {"text": -(-sentences // 32)}
    sizes = engine.sizes(engine.active_set())
    found = {kind: size.entries for kind in expected for index, size in sizes.items() if kind in index.split("-")}
    assert found == expected


def test_two_updates_within_a_second_leave_the_second(engine_settings: Settings) -> None:
    """Two updates within a second."""
    with closing(open_engine(engine_settings)) as engine:
        for revision in range(3):
            put(engine, document(NAMES[0], revision))
        watch = Watch(engine)
        watch.search(0)
        assert (watch.faults, watch.seen) == ([], {(NAMES[0], 2)})
        writer = Writer(engine, grace=0)
        writer.sweep(writer.prepare(SPEC))
        check_nothing_is_left_over(engine, 2)


def test_the_same_paragraph_is_kept_wherever_it_stands_and_a_rerun_writes_nothing(engine_settings: Settings) -> None:
    """The same paragraph twice in a document, in two documents, in two tenants; unchanged document again: no encoding,
    no write. (The same ids under another PYTHONHASHSEED: test_entries.)"""
    same = document("library", 1).text  # 4 sentences
    documents = [
        Document(id="twice", text=f"{same} {same}"),
        Document(id="again", text=same),
        *(Document(id="again", text=same, collection=tenant) for tenant in ("a", "b")),
    ]
    with closing(open_engine(engine_settings)) as engine:
        watched = Interposed(engine)
        assert ingested(watched, documents) == [Outcome.NEW] * 4
        sizes = engine.sizes(engine.active_set())
        for g in SPEC.granularities:
            (size,) = [size for name, size in sizes.items() if g.label in name.split("-")]
            assert size.entries == window_count(8, g) + 3 * window_count(4, g)
        watched.calls.clear()
        assert ingested(watched, documents) == [Outcome.UNCHANGED] * 4
        assert not {"write_chunks", "write_blocks", "write_entries", "delete", "publish"} & set(watched.calls)


def ingested(engine: Interposed, documents: list[Document]) -> list[Outcome]:
    service = IngestService(
        Writer(engine),  # type: ignore[arg-type] - hands every call on
        HashedEncoders(SPEC),  # type: ignore[arg-type] - a fake of the encoders
        SPEC,
        sentences=SentenceOptions(),
        batch_chars=10_000,
    )
    return [report.outcome for report in service.ingest(documents)]


def test_of_writers_at_the_same_moment_one_wins_and_each_is_told(engine_settings: Settings) -> None:
    """Two writers on one document: one wins, the other tries again, or reports the conflict."""
    with closing(open_engine(engine_settings)) as engine:
        put(engine, document(NAMES[0], 0))
        engines = [engine if is_embedded(engine_settings) else open_engine(engine_settings) for _ in range(3)]
        with ThreadPoolExecutor(len(engines)) as pool:
            reports = list(pool.map(put, engines, [document(NAMES[0], revision) for revision in (1, 2, 3)]))
        told = {revision: report for revision, (report,) in zip((1, 2, 3), reports, strict=True)}
        stored = {revision for revision, report in told.items() if report.outcome is Outcome.UPDATED}
        assert stored
        assert all(told[revision].reason == CONFLICT for revision in set(told) - stored)
        watch = Watch(engine)
        watch.search(0)
        assert watch.faults == []
        ((_, last),) = watch.seen
        assert last in stored
        writer = Writer(engine, grace=0)
        writer.sweep(writer.prepare(SPEC))
        check_nothing_is_left_over(engine, last)
