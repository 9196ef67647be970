"""A cluster of three nodes, one of which dies by SIGKILL while documents are stored and questions are asked."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

import pytest
import urllib3

from dev import servers
from dev.errors import MissingToolError
from tests.conftest import given_servers
from tests.contracts.test_store import Store, prose
from tests.fakes.encoders import split
from umg_search.errors import EngineBusy, EngineError
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, Outcome
from umg_search.settings import Settings
from umg_search.windows import window_count
from umg_search.wiring import open_engine

SERVER = "opensearch-3.5.0"
LEAN = (Granularity.G2, Granularity.G8)
PATIENCE = 120.0
"""Seconds that anything may take on a machine that is busy with something else."""

MISSED = 30.0
"""Seconds after a node's end within which searches may be degraded."""

VICTIM = 2
FIRST = Document(id="first", text=prose("glacier", 40, extra="a keptthing"))


@pytest.fixture
def cluster() -> Iterator[servers.RunningServer]:
    if given_servers():
        pytest.skip("nodes of servers that were named are not ours to kill")
    try:
        with servers.private(SERVER, nodes=3) as started:
            yield started
    except MissingToolError as error:
        if os.environ.get("CI"):  # there a missing server is a failure
            raise
        pytest.skip(str(error))


@dataclass
class Traffic:
    """Documents that were reported as stored, and what became of searches, by time."""

    stored: list[Document] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    searches: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)


@contextmanager
def traffic(settings: Settings) -> Iterator[Traffic]:
    """Store documents one after the other and ask questions, until the end of the block."""
    seen, ending = Traffic(), threading.Event()

    def repeat(step: Callable[[Store, int], None]) -> None:
        store, number = Store(open_engine(settings), granularities=LEAN), 0
        try:
            while not ending.is_set():
                step(store, number)
                number += 1
        except BaseException as error:  # noqa: BLE001 - told by the test
            seen.broken.append(error)

    def store_one(store: Store, number: int) -> None:
        document = Document(id=f"n{number}", text=prose(f"subject{number}", 12))
        try:
            (outcome,) = store.put(document)
        except EngineError as error:
            seen.refused.append(str(error))
        else:
            seen.stored += [document] if outcome is Outcome.NEW else []
        sleep(0.2)

    def ask(store: Store, _: int) -> None:
        begun = monotonic()
        result = store.search("a keptthing")
        assert result.degraded or "keptthing" in result.contexts[0].text
        seen.searches.append((begun, result.degraded))
        sleep(0.05)

    threads = [threading.Thread(target=repeat, args=(step,)) for step in (store_one, ask)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        ending.set()
        for thread in threads:
            thread.join()


def eventually(true: Callable[[], bool], what: str) -> None:
    deadline = monotonic() + PATIENCE
    while not true():
        assert monotonic() < deadline, what
        sleep(0.1)


def ask(method: str, url: str, body: Any = None) -> Any:
    with urllib3.PoolManager(retries=False) as http:
        return http.request(method, url, json=body).json()


def place(url: str, pattern: str, rule: str, node: str, *, priority: int) -> None:
    """Let new indices of a pattern lie on a node only (`require`), or on the others (`exclude`)."""
    settings = {f"index.routing.allocation.{rule}._name": node}
    template = {"index_patterns": [pattern], "template": {"settings": settings}, "priority": priority}
    assert ask("PUT", f"{url}/_index_template/{rule}", template).get("acknowledged")


@pytest.mark.long
def test_a_node_dies_searches_go_on_and_nothing_that_was_stored_is_lost(cluster: servers.RunningServer) -> None:
    """`frail` has no replica and one of its indices on the node that dies: that index is red until the node is back."""
    victim = cluster.nodes[VICTIM].name
    place(cluster.url, "frail-*", "exclude", victim, priority=1)
    place(cluster.url, "frail-g08*", "require", victim, priority=2)
    safe = Settings(engine=",".join(cluster.urls), prefix="safe", replicas=1, grace_s=0)
    frail = Store(
        open_engine(safe.model_copy(update={"prefix": "frail", "replicas": 0, "retries": 0})), granularities=LEAN
    )
    store = Store(open_engine(safe), granularities=LEAN)
    assert [*store.put(FIRST), *frail.put(FIRST)] == [Outcome.NEW] * 2
    eventually(lambda: ask("GET", f"{cluster.url}/_cluster/health")["status"] == "green", "no replicas")

    with traffic(safe) as seen:
        eventually(lambda: len(seen.stored) > 1 and len(seen.searches) > 1, "no traffic")
        cluster.kill(VICTIM)
        killed = monotonic()
        eventually(lambda: ask("GET", f"{cluster.url}/_cluster/health")["number_of_nodes"] == 2, "nobody noticed")
        a_red_index_is_told(frail)
        before = len(seen.stored)
        eventually(lambda: len(seen.stored) > before + 1, "no document is stored any more")
        eventually(lambda: seen.searches[-1][0] > killed and not seen.searches[-1][1], "searches stay degraded")
        servers.restart(cluster, VICTIM)
        eventually(lambda: ask("GET", f"{cluster.url}/_cluster/health")["status"] == "green", "it stays yellow")

    assert not seen.broken
    assert [when - killed for when, degraded in seen.searches if degraded and when > killed + MISSED] == []
    everything_is_there(store, [FIRST, *seen.stored])
    assert frail.put(FIRST, Document(id="second", text=prose("orchard", 9))) == [Outcome.UPDATED, Outcome.NEW]
    assert not frail.search("a keptthing").degraded


def a_red_index_is_told(frail: Store) -> None:
    """Searches name the channels of a red index, writes and counts name the index."""
    eventually(lambda: bool(frail.search("a keptthing").degraded), "the index is not red")
    result = frail.search("a keptthing")
    assert set(result.degraded) == {f"{expert}-g08" for expert in Expert}
    assert "keptthing" in result.contexts[0].text
    with pytest.raises(EngineError, match="no shard of frail-g08-v1 is active"):
        frail.reader.status()
    with pytest.raises(EngineBusy, match=r"cannot write to frail-g08-v1 for now \(unavailable_shards_exception"):
        frail.put(Document(id="second", text=prose("orchard", 9)))
    with pytest.raises(EngineBusy, match="lacks shards of frail-g08-v1: see to"):
        frail.engine.publish(frail.index)
    assert "keptthing" in frail.search("a keptthing").contexts[0].text


def everything_is_there(store: Store, documents: list[Document]) -> None:
    store.writer.sweep(store.index)
    for document in documents:
        assert store.reader.text(document.key) == document.text
    sizes = store.engine.sizes(store.index)
    states = {entry.key.id: entry.in_set(store.index.label).live for entry in store.engine.entries()}
    live = {name: state.sentences for name, state in states.items() if state}
    assert {document.id: split(document).sentences for document in documents}.items() <= live.items()
    for granularity in LEAN:
        entries = sizes[f"safe-{granularity.label}-v1"].entries
        assert entries == sum(window_count(sentences, granularity) for sentences in live.values())
    for document in documents[:3]:
        marked = document.text.split()[1]
        result = store.search(marked)
        assert {report.channel for report in result.channels} == set(store.spec.channels)
        assert result.contexts[0].document_id == document.id
