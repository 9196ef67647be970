"""What the doctor says of each engine: nothing bad of a healthy one, and the right thing of one that was broken."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.conftest import SERVERS
from tests.fakes.encoders import DIMS, encoded, spec
from umg_search.granularity import Expert, Granularity
from umg_search.model import (
    Document,
    DocumentKey,
    Finding,
    IndexSet,
    SetSpec,
    TextBlock,
    VectorType,
    Verdict,
    version_of,
)
from umg_search.ports import Engine
from umg_search.settings import Settings
from umg_search.store.diagnosis.ledger import documents
from umg_search.store.differences import differences
from umg_search.store.embedded.database import DATABASE_FILE
from umg_search.store.writer import Writer
from umg_search.wiring import open_engine

LEAN = (Granularity.G2, Granularity.G8)
SPEC = spec(granularities=LEAN)


class Clinic:
    """An engine with one small index set, and what the doctor says of it."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.engine = engine
        self.settings = settings
        self.index: IndexSet = Writer(engine, grace=0).prepare(SPEC)

    def put(self, text: str = "One sentence. Another one. A third.") -> None:
        Writer(self.engine, grace=0).replace(self.index, [encoded(Document(id="a", text=text), SPEC)])

    def findings(self, *checks: str, wanted: SetSpec | None = SPEC) -> list[Finding]:
        found = self.engine.diagnose(wanted)
        return [finding for finding in found if not checks or finding.check in checks]

    def only(self, check: str, wanted: SetSpec | None = SPEC) -> Finding:
        (finding,) = self.findings(check, wanted=wanted)
        return finding

    def name(self, kind: str) -> str:
        return f"{self.settings.prefix}-{kind}"


@pytest.fixture
def clinic(engine_settings: Settings) -> Iterator[Clinic]:
    engine = open_engine(engine_settings)
    yield Clinic(engine, engine_settings)
    engine.close()


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, server_prefix: Callable[[str], tuple[str, str]]) -> Clinic:
    url, prefix = server_prefix(request.param)
    settings = Settings(engine=url, prefix=prefix, replicas=0, grace_s=0)
    return Clinic(open_engine(settings), settings)


@pytest.fixture
def ask(server: Clinic) -> Iterator[Callable[..., Any]]:
    """Send a request behind the engine's back."""
    with urllib3.PoolManager(retries=False) as http:

        def send(method: str, path: str, body: object = None) -> Any:
            url, headers = f"{server.settings.engine}/{path}", {"content-type": "application/json"}
            answer = http.request(method, url, body=None if body is None else json.dumps(body), headers=headers)
            assert answer.status < 300, answer.data
            return answer.json()

        yield send


def is_elasticsearch(server: Clinic) -> bool:
    return server.engine.info().name == "elasticsearch"


def test_a_healthy_engine_has_no_errors_and_no_warnings(clinic: Clinic) -> None:
    """Test nodes lack the routes for licence and rights: a stock server tells, these are unknown."""
    clinic.put()
    found = clinic.findings()
    assert [f for f in found if f.verdict in {Verdict.ERROR, Verdict.WARNING} and f.check != "disk"] == []
    assert {f.check for f in found if f.verdict is Verdict.UNKNOWN} <= {"licence", "rights"}
    assert documents(clinic.engine) == Finding("documents", Verdict.OK, "1 searchable")
    expected = {"index set", "shards", "leftovers", "disk"}
    assert {f.check for f in found} > expected


def test_a_set_that_derives_lists_lacks_nothing_and_differs_from_one_with_all_indices(
    engine_settings: Settings,
) -> None:
    engine = open_engine(engine_settings)
    deriving = spec(granularities=LEAN[:1], derived=LEAN[1:])
    Writer(engine, grace=0).prepare(deriving)
    found = [f for f in engine.diagnose(deriving) if f.check != "disk"]
    engine.close()
    assert [f for f in found if f.verdict in {Verdict.ERROR, Verdict.WARNING}] == []
    assert "derived: the index has 8, the settings say none" in differences(deriving, SPEC)


def test_before_the_first_ingest_there_is_nothing_to_complain_of_but_that(engine_settings: Settings) -> None:
    engine = open_engine(engine_settings)
    found = engine.diagnose(None)
    engine.close()
    assert [f.check for f in found if f.verdict is Verdict.WARNING and f.check != "disk"] == ["index set"]
    assert [f for f in found if f.verdict is Verdict.ERROR] == []


@pytest.mark.parametrize("experts", [(Expert.DENSE, Expert.LEXICAL), (Expert.SPARSE,)])
def test_no_mapping_of_ours_is_taken_for_a_drifted_one(engine_settings: Settings, experts: tuple[Expert, ...]) -> None:
    """Servers leave defaults out of their answers and add some: none of that is drift."""
    engine = open_engine(engine_settings)
    floats = replace(spec(experts=experts, granularities=(Granularity.G2,)), vectors=VectorType.FLOAT32)
    Writer(engine).prepare(floats)
    found = [f for f in engine.diagnose(None) if f.check in {"index set", "mapping", "vectors", "aliases"}]
    engine.close()
    assert {f.verdict for f in found} == {Verdict.OK}


def test_what_others_did_to_the_indices_is_told_with_the_request_that_helps(
    server: Clinic, ask: Callable[..., Any]
) -> None:
    one = {"settings": {"number_of_replicas": 0}}
    g02, g08, text = (server.name(kind) for kind in ("g02-v1", "g08-v1", "text-v1"))
    ask("PUT", f"{g08}/_mapping", {"properties": {"owner": {"type": "keyword"}}})
    ask("PUT", f"{g02}/_settings", {"index.number_of_replicas": 1})
    ask("PUT", f"{text}/_settings", {"index.blocks.read_only_allow_delete": True})
    ask("PUT", server.name("g02-v2"), one)
    ask("PUT", server.name("mine"), one)
    found = {f.check: f for f in server.findings("mapping", "shards", "blocks", "leftovers")}
    verdicts = {check: finding.verdict for check, finding in found.items()}
    assert verdicts == {
        "mapping": Verdict.WARNING,
        "shards": Verdict.WARNING,
        "blocks": Verdict.ERROR,
        "leftovers": Verdict.WARNING,
    }
    assert f"{g08}: owner is additional (keyword)" in found["mapping"].found
    assert f"{g02} is yellow" in found["shards"].found
    assert "read_only_allow_delete" in found["blocks"].found
    for check in ("shards", "blocks", "leftovers"):
        ask(*_request(found[check].remedy))
    assert {f.verdict for f in server.findings("shards", "blocks", "leftovers")} == {Verdict.OK}


def _request(remedy: str) -> tuple[str, str, object]:
    """Return the request in a remedy: method, path and body, up to the brace that ends it."""
    method, path, body = re.findall(r"(PUT|DELETE) /(\S+)(?: (\{.*?\}))?", remedy)[0]
    return method, path, json.loads(body) if body else None


def test_an_index_made_by_hand_with_other_dimensions_is_an_error_with_both_numbers(
    server: Clinic, ask: Callable[..., Any]
) -> None:
    """The server chooses similarity and quantisation by itself there, and says so or not."""
    name = server.name("g08-v1")
    field = (
        {"type": "dense_vector", "dims": 384} if is_elasticsearch(server) else {"type": "knn_vector", "dimension": 384}
    )
    meta = ask("GET", f"{name}/_mapping")[name]["mappings"]["_meta"]
    ask("DELETE", name)
    ask("PUT", name, {"aliases": {server.name("g08"): {}}, "mappings": {"_meta": meta, "properties": {"dense": field}}})
    found = server.findings("vectors")
    assert Verdict.ERROR in {f.verdict for f in found}
    assert f"is 384 instead of {DIMS}" in found[0].found
    if is_elasticsearch(server):
        assert "quantised to" in found[0].found  # 8 bits or 1, by version
    else:
        assert any("index.knn switched off" in f.found for f in found)
    missing = server.only("mapping")
    assert missing.verdict is Verdict.ERROR
    assert "is missing" in missing.found


def test_an_alias_on_two_indices_is_named(server: Clinic, ask: Callable[..., Any]) -> None:
    add = {"add": {"index": server.name("g02-v1"), "alias": server.name("g08")}}
    ask("POST", "_aliases", {"actions": [add]})
    found = server.only("aliases")
    assert found.verdict is Verdict.ERROR
    assert f"{server.name('g02-v1')} and {server.name('g08-v1')}" in found.found


def test_two_indices_behind_the_text_alias_leave_no_active_set(server: Clinic, ask: Callable[..., Any]) -> None:
    add = {"add": {"index": server.name("g02-v1"), "alias": server.name("text")}}
    ask("POST", "_aliases", {"actions": [add]})
    found = server.only("index set")
    assert found.verdict is Verdict.ERROR
    assert f"alias {server.name('text')} stands for" in found.found
    assert "_aliases" in found.remedy


def test_a_closed_index_is_an_error_and_not_red_or_drifted(server: Clinic, ask: Callable[..., Any]) -> None:
    ask("POST", f"{server.name('g08-v1')}/_close")
    found = server.only("blocks")
    assert (found.verdict, found.found) == (Verdict.ERROR, f"index {server.name('g08-v1')} is closed")
    assert {f.verdict for f in server.findings("mapping", "vectors", "aliases", "shards", "leftovers")} == {Verdict.OK}


def test_a_missing_index_of_the_set_is_named(server: Clinic, ask: Callable[..., Any]) -> None:
    ask("DELETE", server.name("g08-v1"))
    found = server.only("aliases")
    assert found.verdict is Verdict.ERROR
    assert server.name("g08-v1") in found.found


def test_an_analyser_that_the_server_lacks_is_an_error(server: Clinic) -> None:
    engine = open_engine(server.settings.model_copy(update={"analyzer": "klingon"}))
    found = {f.check: f for f in engine.diagnose(None)}
    assert found["analyser"].verdict is Verdict.ERROR
    assert "UMG_ANALYZER" in found["analyser"].remedy


def test_a_new_set_that_the_server_would_refuse_is_foretold(server: Clinic, ask: Callable[..., Any]) -> None:
    refused = server.only("field types", wanted=replace(SPEC, analyzer="klingon"))
    assert refused.verdict is Verdict.ERROR
    assert "klingon" in refused.found
    assert server.only("field types").verdict is Verdict.OK
    listed = ask("GET", "_index_template")["index_templates"]
    assert [template for template in listed if server.settings.prefix in str(template)] == []


def test_replaced_generations_are_counted_until_they_are_swept(clinic: Clinic) -> None:
    clinic.put()
    clinic.put("One other sentence. And another one.")
    assert "deletes: 1" in documents(clinic.engine).found
    Writer(clinic.engine, grace=0, clock=lambda: 9e9).sweep(clinic.index)
    assert documents(clinic.engine).found == "1 searchable"


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Clinic]:
    settings = Settings(engine=f"embedded:{tmp_path / 'index'}")
    engine = open_engine(settings)
    clinic = Clinic(engine, settings)
    clinic.put()
    yield clinic
    engine.close()


def test_a_shard_that_cannot_be_opened_is_named(embedded: Clinic, tmp_path: Path) -> None:
    embedded.engine.close()
    for file in (tmp_path / "index" / "v1" / "g08").rglob("*"):
        if file.is_file():
            file.write_bytes(b"x")
    engine = open_engine(embedded.settings)
    found = {f.check: f for f in engine.diagnose(None)}
    engine.close()
    assert found["shards"].verdict is Verdict.ERROR
    assert "g08" in found["shards"].found
    assert found["shards"].remedy


def test_a_damaged_database_is_an_error(embedded: Clinic, tmp_path: Path) -> None:
    version = version_of(DocumentKey("default", "a").hash, 1)
    blocks = [TextBlock(version, number, 0, "x" * 2_000, (0, 2_000), (1,)) for number in range(200)]
    embedded.engine.write_blocks(embedded.index, blocks)
    embedded.engine.close()
    file = tmp_path / "index" / DATABASE_FILE
    data = bytearray(file.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\x2a" * 4096
    file.write_bytes(data)
    engine = open_engine(embedded.settings)
    found = {f.check: f for f in engine.diagnose(None)}
    engine.close()
    assert found["database"].verdict is Verdict.ERROR
    assert "damaged" in found["database"].found


def test_the_remains_of_a_set_in_the_folder_are_named(embedded: Clinic, tmp_path: Path) -> None:
    (tmp_path / "index" / "v7").mkdir()
    assert embedded.only("leftovers").verdict is Verdict.WARNING
