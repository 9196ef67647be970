"""The kill matrix: SIGKILL of everything that takes part in asynchronous ingestion, at every boundary of its stages.

Each kill meets one new document and one that gets another text. Afterwards both are searchable, exactly once, nothing
waits, and a search has found the one or the other text at every moment. The stops are in tests/hooks.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest

from dev import redis_server, servers
from dev.errors import MissingToolError
from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions
from tests.conftest import given_servers
from tests.processes import Deployment, Stops, deployment, until
from umg_search.encoding.tokens import WordCounter
from umg_search.errors import EngineError, UmgError
from umg_search.granularity import Granularity
from umg_search.model import Document, DocumentKey, DocumentState
from umg_search.ports import Engine
from umg_search.search import Query, RankingOptions, SearchService
from umg_search.settings import Settings
from umg_search.store.reader import Reader
from umg_search.windows import window_count
from umg_search.wiring import encoders_of, open_engine

SERVER = "opensearch-3.5.0"
PATIENCE_S = 150.0
"""Longest time in which a document must be done after a kill: that of a message that nobody had a lease for."""

METHODS = (
    "umg_search.store.queue:ServerQueue.put_texts",
    "umg_search.store.queue:ServerQueue.extend_run",
    "umg_search.store.queue:ServerQueue.texts",
    "umg_search.store.queue:ServerQueue.delete_texts",
    "umg_search.store.queue:ServerQueue.end_run",
    "umg_search.encoding.encoders:Encoders.encode",
    "umg_search.store.server:ServerEngine.write_entries",
    "umg_search.store.server:ServerEngine.write_chunks",
    "umg_search.store.server:ServerEngine.write_blocks",
    "umg_search.store.server:ServerEngine.publish",
    "tasks.sender:CelerySender.send",
)
WORKING = (
    "ServerQueue.extend_run:before",  # the message is taken, no lease yet
    "ServerQueue.texts:before",  # leased
    "Encoders.encode:before",
    "Encoders.encode:after",
    "ServerEngine.write_chunks:before",  # the generation is named
    "ServerEngine.write_chunks:after",
    "ServerEngine.write_blocks:after",
    "ServerEngine.publish:after",  # all is there, and the ledger does not say so
    "ServerQueue.delete_texts:before",  # searchable
    "ServerQueue.end_run:before",  # all is done but the message's end
)
SUBMITTING = (
    "ServerQueue.put_texts:before",
    "ServerQueue.put_texts:after",
    "ServerEngine.write_entries:after",
    "CelerySender.send:before",
    "CelerySender.send:after",
)


@dataclass(frozen=True)
class Kill:
    """Who is killed, while which side stands where."""

    victim: str
    place: str

    @property
    def submitting(self) -> bool:
        return self.place in SUBMITTING


# Redis last: what it could not acknowledge counts as waiting until the visibility timeout, and the sweeper then takes
# longer for messages that were never sent.
FEW = (
    Kill("client", "ServerQueue.put_texts:after"),
    Kill("client", "CelerySender.send:after"),
    Kill("child", "Encoders.encode:before"),
    Kill("child", "ServerEngine.write_chunks:after"),
    Kill("child", "ServerQueue.delete_texts:before"),
    Kill("worker", "ServerQueue.texts:before"),
    Kill("worker", "ServerEngine.publish:after"),
    Kill("engine", "ServerEngine.write_chunks:after"),
    Kill("redis", "Encoders.encode:after"),
    Kill("redis", "CelerySender.send:before"),
    Kill("wiped redis", "ServerEngine.write_chunks:before"),
    Kill("wiped redis", "CelerySender.send:after"),
)
ALL = (
    *(Kill(*each) for each in product(("child", "worker", "redis", "wiped redis", "engine"), WORKING)),
    *(Kill(*each) for each in product(("client", "redis", "wiped redis", "engine"), SUBMITTING)),
)


@dataclass
class Watch:
    """Asks one question over and over: what came of it that should not have."""

    missed: list[str] = field(default_factory=list)
    asked: int = 0


class Scene:
    """A deployment on a server and a Redis of its own, whose processes may be killed and come back."""

    def __init__(
        self,
        umg: Deployment,
        stops: Stops,
        settings: Settings,
        folder: Path,
        *,
        server: servers.RunningServer,
        broker: redis_server.RunningRedis,
    ) -> None:
        self._umg = umg
        self._stops = stops
        self._folder = folder
        self.settings = settings
        self._server = server
        self._broker = broker
        self._documents: dict[str, Document] = {}
        self._worker = self._start_worker()
        umg.start("sweeper", "--every", 1)

    @contextmanager
    def opened(self) -> Iterator[Engine]:
        with closing(open_engine(self.settings)) as engine:
            yield engine

    def first(self) -> None:
        """Make the document that changes from then on."""
        assert self._submitted([_document("kept", 0)])
        self._settle()

    def round(self, number: int, kill: Kill) -> float:
        """Submit, kill, let everything come back, and check; return the seconds from the kill until all was done."""
        offered = [_document("kept", number), _document(f"new-{number}", number)]
        self._stops.arm(kill.place)
        client = self._submit(offered, self._stops.hooks if kill.submitting else None)
        if not kill.submitting:
            assert client.wait(60) == 0
        stopped = self._stops.reached()
        began = time.monotonic()
        getattr(self, "_kill_" + kill.victim.replace(" ", "_"))(stopped)
        if kill.submitting:
            client.wait(60)
        if client.returncode:  # what a user whose command ended so does, until the engine has all its shards again
            until(lambda: self._submitted(offered), PATIENCE_S, what="it could not be submitted")
        self._settle()
        seconds = time.monotonic() - began
        self._check()
        return seconds

    # --- killing -------------------------------------------------------------------------------------------------

    def _kill_child(self, stopped: int) -> None:
        os.kill(stopped, signal.SIGKILL)

    def _kill_client(self, stopped: int) -> None:
        os.kill(stopped, signal.SIGKILL)

    def _kill_worker(self, stopped: int) -> None:
        self._worker.kill()
        self._worker.wait()
        until(lambda: not Path(f"/proc/{stopped}").exists(), what="the child of a dead worker did not end")
        self._worker = self._start_worker()

    def _kill_redis(self, _: int, *, wiped: bool = False) -> None:
        self._broker.kill()
        self._stops.go()
        time.sleep(0.5)
        self._broker = redis_server.restart(self._broker, wiped=wiped)

    def _kill_wiped_redis(self, stopped: int) -> None:
        self._kill_redis(stopped, wiped=True)

    def _kill_engine(self, _: int) -> None:
        self._server.kill()
        self._stops.go()
        time.sleep(0.5)
        self._server = servers.restart(self._server, 0)

    # --- what goes on ----------------------------------------------------------------------------------------------

    def _start_worker(self) -> "subprocess.Popen[bytes]":
        return self._umg.start("worker", hooks=self._stops.hooks)

    def _submitted(self, documents: list[Document]) -> bool:
        return self._submit(documents).wait(60) == 0

    def _submit(self, documents: list[Document], hooks: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        folder = self._folder / "offered"
        folder.mkdir(exist_ok=True)
        for document in documents:
            (folder / f"{document.id}.txt").write_text(document.text, encoding="utf-8")
            self._documents[document.id] = document
        return self._umg.start("submit", folder, hooks=hooks)

    def _settle(self) -> None:
        """Wait until nothing waits or is worked on."""
        want = {DocumentState.SEARCHABLE: len(self._documents)}
        seen: dict[DocumentState, int] = {}

        def settled() -> bool:
            seen.clear()
            try:
                with self.opened() as engine:
                    seen.update(engine.states())
            except EngineError:
                return False
            return seen == want

        try:
            until(settled, PATIENCE_S)
        except AssertionError:
            pytest.fail(f"after {PATIENCE_S:.0f} s the states are {seen}, not {want}")

    def _check(self) -> None:
        """Every text is the newest, and the indices hold each chunk once."""
        with self.opened() as engine:
            reader = Reader(engine)
            for document in self._documents.values():
                assert reader.text(DocumentKey("default", f"{document.id}.txt"), ()) == document.text
            split = split_documents(list(self._documents.values()), WordCounter(), SentenceOptions())
            want = {g: sum(window_count(each.sentences, g) for each in split) for g in (Granularity.G2, Granularity.G8)}
            index = reader.active_set()

            def found() -> dict[Granularity, int]:
                engine.publish(index)
                sizes = engine.sizes(index)
                return {g: next(s.entries for name, s in sizes.items() if f"g{g:02d}" in name) for g in want}

            until(lambda: found() == want, 30, what=f"the indices do not come to {want}")


def _document(name: str, number: int) -> Document:
    """Return a text that says its number, longer or shorter than the one before."""
    sentences = [f"The {name} lighthouse has number {number} and step {step} of it." for step in range(3 + number % 5)]
    return Document(id=name, text=" ".join(sentences))


@contextmanager
def watched(settings: Settings, bears: Callable[[], bool]) -> Iterator[Watch]:
    """Ask for the changing document all the time; it must be found, unless the engine itself is away."""
    watch, end = Watch(), threading.Event()

    def ask() -> None:
        with closing(open_engine(settings)) as engine:
            service = SearchService(Reader(engine), encoders_of(settings), remembered_questions=0)
            query = Query(text="the kept lighthouse number", options=RankingOptions(budget=400))
            while not end.wait(0.1):
                watch.asked += 1
                try:
                    found = [context.document_id for context in service.search(query).contexts]
                except UmgError as error:
                    if not bears():
                        watch.missed.append(str(error))
                else:
                    if "kept.txt" not in found:
                        watch.missed.append(f"found {found}")

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield watch
    finally:
        end.set()
        thread.join()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    if given_servers():
        pytest.skip("nodes of servers that were named are not ours to kill")
    try:
        with servers.private(SERVER) as server, redis_server.private() as broker:
            (tmp_path / "logs").mkdir()
            values = {
                "engine": server.url,
                "prefix": "kills",
                "broker": broker.url,
                "replicas": 0,
                "grace_s": 0,
                "experts": "lexical",  # no model is loaded: it is the order of things that is tested here
                "index_preset": "lean",
                "lease_s": 3,
                "resend_s": 60,
                "task_time_limit_s": 10,
                "retries": 2,
            }
            stops = Stops(tmp_path / "stops", METHODS)
            with deployment(tmp_path / "logs", **values) as umg:
                made = Scene(umg, stops, Settings(**values), tmp_path, server=server, broker=broker)  # type: ignore[arg-type]
                made.first()
                yield made
    except MissingToolError as error:
        if os.environ.get("CI"):  # there a missing server is a failure
            raise
        pytest.skip(str(error))


def _matrix(scene: Scene, kills: tuple[Kill, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Go through kills, one after the other, and print each as a row of a table."""
    killing: list[Kill] = []
    with watched(scene.settings, lambda: killing[-1].victim == "engine") as watch:
        for number, kill in enumerate(kills, start=1):
            killing.append(kill)
            seconds = scene.round(number, kill)
            with capsys.disabled():
                head = "\n kill  victim        at                                     all done after\n"
                row = f"{number:5}  {kill.victim:12}  {kill.place:36}  {seconds:6.1f} s"
                print(f"{head if number == 1 else ''}{row}")  # noqa: T201 - the table is for people
    assert watch.asked > len(kills)
    assert watch.missed == []


def test_whoever_is_killed_each_document_is_searchable_once(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    _matrix(scene, FEW, capsys)


@pytest.mark.long
def test_the_whole_matrix_twice(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    twice = (*ALL, *ALL)
    assert len(twice) >= 100
    _matrix(scene, twice, capsys)
