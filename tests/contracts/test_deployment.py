"""What a shared cluster asks of us: requests that a narrow role allows, and indices that do not grow with tenants."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.fakes.asynchronous import Site, document
from tests.fakes.encoders import HashedWords, encoded, spec
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, Outcome
from umg_search.ports import Scope
from umg_search.search import Query, SearchService
from umg_search.settings import Settings
from umg_search.store.admin import Sets, lease
from umg_search.store.queue import ServerQueue
from umg_search.store.reader import Reader
from umg_search.store.server import ServerEngine
from umg_search.store.transports import Answer
from umg_search.store.writer import Writer
from umg_search.wiring import open_engine

ROLES = Path(__file__).parents[2] / "docs" / "roles"
KIND = spec(access_control=True, granularities=(Granularity.G2,))
READER, WRITER, OPERATOR = "umg_reader", "umg_writer", "umg_operator"

ACTIONS = {
    r"GET /": ["cluster:monitor/main"],
    r"GET /[^/]+": ["indices:admin/get"],
    r"GET /[^/]+/_mapping": ["indices:admin/mappings/get"],
    r"POST /[^/]+/_refresh": ["indices:admin/refresh", "indices:admin/refresh[s]"],
    r"POST /_msearch": ["indices:data/read/msearch", "indices:data/read/search"],
    r"POST /[^/]+/_search": ["indices:data/read/search"],
    r"POST /_mget": ["indices:data/read/mget", "indices:data/read/mget[shard]"],
    r"GET /[^/]+/_stats/docs,store": ["indices:monitor/stats"],
    r"PUT /[^/]+": ["indices:admin/create"],
    r"PUT /[^/]+/_(create|doc)/[^/]+": ["indices:data/write/index"],
    r"DELETE /[^/]+": ["indices:admin/delete"],
    r"POST /_aliases": ["indices:admin/aliases"],
    r"GET /_cluster/health/[^/]+": ["cluster:monitor/health"],
    r"POST /_bulk": ["indices:data/write/bulk", "indices:data/write/bulk[s]"],
    r"index": ["indices:data/write/index"],
    r"create": ["indices:data/write/index"],
    r"update": ["indices:data/write/update"],
    r"delete": ["indices:data/write/delete"],
}
"""The servers' names for what each request, and each kind of item in a bulk request, does."""


OPTIONAL = {"GET /_nodes/stats/fs", "GET /_cluster/settings"}
"""Requests that a submission does without where they are forbidden."""


class Recorded:
    """A server engine that keeps the method and path of each request, and the kinds of bulk items."""

    def __init__(self, settings: Settings) -> None:
        self.engine = ServerEngine(settings)
        self.queue = ServerQueue(settings)
        self.requests = {"GET /"}  # they were recognised by this one
        self._send = self.engine._server._send
        for server in (self.engine._server, self.queue._server):
            server._send = self._recording

    def _recording(self, method: str, path: str, body: bytes | None, kind: str) -> Answer:
        path_alone = path.partition("?")[0]
        self.requests.add(f"{method} {path_alone}")
        if path_alone == "/_bulk":
            heads = re.findall(rb'^\{"(index|create|update|delete)":\{"_index"', body or b"", re.MULTILINE)
            self.requests |= {head.decode() for head in heads}
        return self._send(method, path, body, kind)

    def actions(self) -> set[str]:
        return {action for request in self.requests - OPTIONAL for action in actions_of(request)}


def actions_of(request: str) -> list[str]:
    found = [actions for pattern, actions in ACTIONS.items() if re.fullmatch(pattern, request)]
    assert found, f"{request}: say in ACTIONS and in docs/roles which action of the servers this is"
    return found[0]


def allowed(server: str, role: str) -> list[str]:
    content = json.loads((ROLES / f"{server}.json").read_text(encoding="utf-8"))[role]
    if server == "elasticsearch":
        return [*content["cluster"], *(action for part in content["indices"] for action in part["privileges"])]
    parts = content["index_permissions"]
    return [*content["cluster_permissions"], *(action for part in parts for action in part["allowed_actions"])]


def write_everything(engine: ServerEngine) -> None:
    """Make a set; add, change, regroup and delete a document; clean up."""
    kind = KIND
    writer = Writer(engine, grace=0)
    index = writer.prepare(kind)
    first = Document(id="d", text="The gate is shut. It opens at seven.", acl=("ann",))
    second = replace(first, text="The gate is open. Nobody minds it.")
    assert [writer.replace(index, [encoded(d, kind)])[0].outcome for d in (first, second)] == [
        Outcome.NEW,
        Outcome.UPDATED,
    ]
    writer.update_attributes(index, replace(second, acl=("bob",)))
    writer.sweep(index)
    other = replace(first, id="e")
    writer.replace(index, [encoded(other, kind)])
    assert writer.delete(index, [other.key]) == [True]


def queue_everything(engine: ServerEngine, queue: ServerQueue) -> None:
    """Submit, work, fail, retry, cancel and sweep."""
    site = Site(engine, queue, now=time.time(), spec=KIND)
    site.submit(document("q"), document("long", sentences=201))
    site.work_all()
    assert site.control().retry().queued == 1
    assert site.control().cancel("b1") == 1
    site.sweep()
    assert [batch.id for batch in queue.batches()] == ["b1"]
    for name in ("q", "long"):
        site.delete(name)


def operate_everything(engine: ServerEngine) -> None:
    """Build a set beside the one that is there, go over to it and back, drop it, and purge."""
    sets = Sets(engine, grace=0)
    active = engine.active_set()
    with lease(engine):
        index = sets.begin(replace(active.spec, analyzer="simple"))
        for each in (index, active):
            sets.flip(each)
        sets.drop(index.version)
    assert sets.purge(days=0) == 1 + 2


def read_everything(engine: ServerEngine) -> None:
    reader = Reader(engine)
    found = SearchService(reader, HashedWords).search(Query(text="gate open", scope=Scope((), ("bob",))))
    assert [context.document_id for context in found.contexts] == ["d"]
    assert reader.text(Document(id="d", text="").key, ("bob",))
    assert sum(reader.status().documents.values()) == 1 + 1 + 2  # with the tombstones


@pytest.fixture
def server_settings(engine_settings: Settings) -> Settings:
    if engine_settings.engine.startswith("embedded:"):
        pytest.skip("the embedded engine knows no users")
    return engine_settings


def test_roles_allow_what_is_asked_and_nothing_else(server_settings: Settings) -> None:
    reading, writing, operating = (Recorded(server_settings) for _ in range(3))
    queue_everything(writing.engine, writing.queue)
    write_everything(writing.engine)
    read_everything(reading.engine)
    operate_everything(operating.engine)
    server = writing.engine.info().name
    needs = {READER: reading.actions(), WRITER: writing.actions() | reading.actions()}
    needs[OPERATOR] = needs[WRITER] | operating.actions()
    for role, needed in needs.items():
        patterns = allowed(server, role)
        literal = [pattern.replace("[", "[[]") for pattern in patterns]  # brackets belong to the names
        assert [action for action in sorted(needed) if not any(fnmatchcase(action, p) for p in literal)] == []
        assert [pattern for pattern in literal if not any(fnmatchcase(action, pattern) for action in needed)] == []


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[ServerEngine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


def indices(settings: Settings, engine: ServerEngine) -> set[str]:
    """Return everything that is stored under the prefix or in the folder, whoever made it."""
    folder = settings.engine.removeprefix("embedded:")
    if folder != settings.engine:
        return {str(path) for path in Path(folder).glob("v*/*/")}
    return set(engine._server.call("GET", f"/{settings.prefix}*/_alias").body)


def test_three_hundred_collections_make_no_index_of_their_own(engine: ServerEngine, engine_settings: Settings) -> None:
    kind = spec(experts=(Expert.LEXICAL,), granularities=(Granularity.G2,))
    writer = Writer(engine, grace=0)
    index = writer.prepare(kind)
    before = indices(engine_settings, engine)
    assert before
    tenants = [Document(id="readme.md", collection=f"tenant-{i}", text=f"Common words. Word{i}.") for i in range(300)]
    reports = writer.replace(index, [encoded(tenant, kind) for tenant in tenants])
    assert {report.outcome for report in reports} == {Outcome.NEW}
    assert indices(engine_settings, engine) == before
    search = SearchService(Reader(engine), HashedWords)
    for tenant in (tenants[0], tenants[299]):
        found = search.search(Query(text="common words", scope=Scope((tenant.collection,), None)))
        assert [context.collection for context in found.contexts] == [tenant.collection]
