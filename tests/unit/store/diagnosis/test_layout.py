"""Judges of aliases, leftovers, blocks, shards, mappings and vectors over invented indices: every verdict."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.encoders import DIMS, spec
from umg_search.errors import EngineUnsupported
from umg_search.granularity import Expert, Granularity
from umg_search.model import Finding, IndexSet, Verdict
from umg_search.store import mappings
from umg_search.store.diagnosis import contents, layout
from umg_search.store.diagnosis.facts import Probe
from umg_search.store.diagnosis.layout import Layout
from umg_search.store.dialect import ELASTICSEARCH, OPENSEARCH, Dialect
from umg_search.store.names import TEXT, Names
from umg_search.store.records import SCHEMA

NAMES = Names("umg")
SPEC = spec(granularities=(Granularity.G2, Granularity.G8))
ACTIVE = IndexSet(1, SPEC)
SILENT = Probe(why="this user may not ask GET /x (HTTP 403)")


def indices(dialect: Dialect = ELASTICSEARCH, *versions: int) -> dict[str, Any]:
    """Return what a server tells of the ledger and of whole sets, the first of which is active."""
    size = {"shards": 1, "replicas": 1, "refresh_s": 1}
    found: dict[str, Any] = {"umg-documents": mappings.ledger_index(dialect, **size) | {"aliases": {}}}
    for version in versions or (1,):
        for kind, name in NAMES.of_set(IndexSet(version, SPEC)).items():
            make = mappings.text_index if kind == TEXT else mappings.chunk_index
            active = version == (versions or (1,))[0]
            found[name] = make(dialect, SPEC, **size) | {"aliases": {NAMES.alias(kind): {}} if active else {}}
    return deepcopy(found)


def told(found: Any) -> list[tuple[str, Verdict]]:
    return [(finding.check, finding.verdict) for finding in found]


def only(found: Any) -> Finding:
    (finding,) = found
    return finding


def test_the_set_behind_the_text_alias_is_the_active_one() -> None:
    assert Layout(NAMES, indices(ELASTICSEARCH, 3, 2)).active() == IndexSet(3, SPEC)
    assert Layout(NAMES, {}).active() is None


def test_a_set_of_another_schema_is_refused_with_both_numbers() -> None:
    found = indices()
    found["umg-text-v1"]["mappings"]["_meta"]["schema"] = 99
    with pytest.raises(EngineUnsupported, match=rf"99.*{SCHEMA}"):
        Layout(NAMES, found).active()


def test_nothing_indexed_warns_and_says_what_to_do() -> None:
    finding = layout.text_alias(Layout(NAMES, {}))
    assert finding.verdict is Verdict.WARNING
    assert "umg ingest" in finding.remedy


def test_a_text_alias_on_two_indices_or_on_another_programs_is_an_error() -> None:
    two = indices(ELASTICSEARCH, 1, 2)
    two["umg-text-v2"]["aliases"] = {"umg-text": {}}
    assert Layout(NAMES, two).active() is None
    finding = layout.text_alias(Layout(NAMES, two))
    assert (finding.check, finding.verdict) == ("index set", Verdict.ERROR)
    assert "umg-text-v1 and umg-text-v2" in finding.found
    foreign = layout.text_alias(Layout(NAMES, {"umg-text": {}}))
    assert foreign.verdict is Verdict.ERROR
    assert "UMG_PREFIX" in foreign.remedy


def test_aliases_that_all_stand_for_the_active_set_are_well() -> None:
    finding = only(layout.aliases(Layout(NAMES, indices()), ACTIVE))
    assert finding == Finding("aliases", Verdict.OK, "3 aliases on v1")


def test_an_alias_on_another_version_on_two_or_on_none_is_named() -> None:
    found = indices(ELASTICSEARCH, 1, 2)
    found["umg-g02-v1"]["aliases"] = {}
    found["umg-g02-v2"]["aliases"] = {"umg-g02": {}}
    found["umg-g08-v2"]["aliases"] = {"umg-g08": {}}
    other, two = layout.aliases(Layout(NAMES, found), ACTIVE)
    assert told([other, two]) == [("aliases", Verdict.ERROR)] * 2
    assert "alias umg-g02 stands for umg-g02-v2, and the active set is v1" in other.found
    assert "umg-g08-v1 and umg-g08-v2" in two.found
    assert "umg-g08-v1 alone" in two.remedy
    found["umg-g02-v2"]["aliases"] = {}
    assert "stands for no index" in next(layout.aliases(Layout(NAMES, found), ACTIVE)).found


def test_an_index_of_the_set_that_is_gone_is_named() -> None:
    found = indices()
    del found["umg-g08-v1"], found["umg-documents"]
    finding = only(layout.aliases(Layout(NAMES, found), ACTIVE))
    assert finding.verdict is Verdict.ERROR
    assert "umg-g08-v1, umg-documents does not exist" in finding.found


def test_no_leftovers() -> None:
    assert only(layout.leftovers(Layout(NAMES, indices()), ACTIVE)) == Finding("leftovers", Verdict.OK, "none")


def test_another_whole_set_is_no_leftover_and_its_parts_are() -> None:
    found = indices(ELASTICSEARCH, 1, 2)
    finding = only(layout.leftovers(Layout(NAMES, found), ACTIVE))
    assert (finding.verdict, finding.found) == (Verdict.OK, "beside the active set there is v2")
    del found["umg-text-v2"]
    found["umg-mine"] = {}
    finding = only(layout.leftovers(Layout(NAMES, found), ACTIVE))
    assert finding.verdict is Verdict.WARNING
    assert "umg-g02-v2, umg-g08-v2, umg-mine belongs to no whole index set" in finding.found
    assert "DELETE /umg-g02-v2,umg-g08-v2,umg-mine" in finding.remedy


def test_an_active_set_that_lacks_an_index_is_no_leftover() -> None:
    found = indices()
    del found["umg-g08-v1"]
    assert told(layout.leftovers(Layout(NAMES, found), ACTIVE)) == [("leftovers", Verdict.OK)]


def test_closed_indices_and_blocks_are_errors_with_the_request_that_helps() -> None:
    found = indices()
    assert told(layout.blocks(Layout(NAMES, found))) == [("blocks", Verdict.OK)]
    found["umg-g02-v1"]["settings"]["index"]["verified_before_close"] = "true"
    found["umg-g08-v1"]["settings"]["index"]["blocks"] = {"read_only_allow_delete": "true", "write": "false"}
    found["umg-text-v1"]["settings"]["index"]["blocks"] = {"write": "true"}
    closed, flooded, written = layout.blocks(Layout(NAMES, found))
    assert told([closed, flooded, written]) == [("blocks", Verdict.ERROR)] * 3
    assert "POST /umg-g02-v1/_open" in closed.remedy
    assert flooded.remedy.startswith("free disk")
    assert '/umg-g08-v1/_settings {"index.blocks.read_only_allow_delete": null}' in flooded.remedy
    assert written.remedy.startswith("take it off")


def health(nodes: int = 1, **states: tuple[str, int, int]) -> Probe:
    """Return a cluster's health; of each index state, replicas and unassigned shards."""
    found = {
        f"umg-{kind}-v1": {"status": status, "number_of_replicas": replicas, "unassigned_shards": unassigned}
        for kind, (status, replicas, unassigned) in states.items()
    }
    return Probe({"status": "green", "number_of_data_nodes": nodes, "indices": found})


def shards(probe: Probe, found: dict[str, Any] | None = None) -> list[Finding]:
    return list(layout.shards(probe, Layout(NAMES, indices() if found is None else found)))


def test_green_indices_are_well_and_a_silent_server_unknown() -> None:
    assert told(shards(health(g02=("green", 0, 0)))) == [("shards", Verdict.OK)]
    assert told(shards(SILENT)) == [("shards", Verdict.UNKNOWN)]


def test_replicas_on_a_single_node_warn_and_name_the_setting() -> None:
    finding = only(shards(health(g02=("yellow", 1, 1), text=("yellow", 1, 1))))
    assert finding.verdict is Verdict.WARNING
    assert "umg-g02-v1, umg-text-v1 is yellow: 2 copies of shards on no node" in finding.found
    assert "there are 1 replica and 1 data node" in finding.found
    assert '"index.number_of_replicas": 0' in finding.remedy
    assert "UMG_REPLICAS=0" in finding.remedy


def test_other_yellow_indices_are_waited_for() -> None:
    finding = only(shards(health(3, g02=("yellow", 1, 1))))
    assert finding.verdict is Verdict.WARNING
    assert "UMG_REPLICAS" not in finding.remedy
    assert "allocation/explain" in finding.remedy


def test_a_red_index_is_an_error_unless_it_is_just_starting() -> None:
    lost = only(shards(health(g02=("red", 0, 1), text=("green", 0, 0))))
    assert lost.verdict is Verdict.ERROR
    assert lost.found.startswith("umg-g02-v1 is red")
    assert only(shards(health(g02=("red", 0, 0)))).verdict is Verdict.WARNING


def test_a_closed_index_is_not_also_called_red() -> None:
    found = indices()
    found["umg-g02-v1"]["settings"]["index"]["verified_before_close"] = "true"
    assert told(shards(health(g02=("red", 0, 1)), found)) == [("shards", Verdict.OK)]


def drift(found: dict[str, Any], dialect: Dialect = ELASTICSEARCH) -> dict[str, Any]:
    return contents.drifted(dialect, Layout(NAMES, found), ACTIVE)


def test_mappings_as_they_would_be_made_now_are_well() -> None:
    assert told(contents.mapping(drift(indices()))) == [("mapping", Verdict.OK)]


def test_a_drifted_mapping_is_named_with_its_index() -> None:
    found = indices()
    found["umg-g02-v1"]["mappings"]["properties"]["owner"] = {"type": "keyword"}
    found["umg-text-v1"]["mappings"]["properties"]["start"]["type"] = "integer"
    del found["umg-documents"]["mappings"]["properties"]["state"]
    by_index = {f.found.partition(":")[0]: f for f in contents.mapping(drift(found))}
    assert by_index["umg-g02-v1"].verdict is Verdict.WARNING
    assert "owner is additional (keyword)" in by_index["umg-g02-v1"].found
    assert by_index["umg-text-v1"].verdict is Verdict.ERROR
    assert "type is integer instead of long" in by_index["umg-text-v1"].found
    assert "state is missing" in by_index["umg-documents"].found


def test_many_differences_are_counted() -> None:
    found = indices()
    found["umg-g02-v1"]["mappings"]["properties"] |= {f"x{i}": {"type": "long"} for i in range(6)}
    assert "and 2 other differences" in only(contents.mapping(drift(found))).found  # 6 - 4 that are named


def vectors(found: dict[str, Any], dialect: Dialect = ELASTICSEARCH, active: IndexSet = ACTIVE) -> list[Finding]:
    return list(contents.vectors(dialect, Layout(NAMES, found), active, drift(found, dialect)))


def dense_of(found: dict[str, Any]) -> dict[str, Any]:
    field: dict[str, Any] = found["umg-g02-v1"]["mappings"]["properties"]["dense"]
    return field


def test_vectors_are_described_as_they_are_on_the_server() -> None:
    assert only(vectors(indices())).found == f"{DIMS} dimensions of byte in hnsw on 2 indices"
    found = only(vectors(indices(OPENSEARCH), OPENSEARCH))
    assert (found.verdict, found.found) == (
        Verdict.OK,
        f"{DIMS} dimensions of byte in lucene hnsw on 2 indices",
    )


def test_other_dimensions_than_the_models_are_an_error_with_both_numbers() -> None:
    found = indices()
    dense_of(found)["dims"] = 768
    finding = only(vectors(found))
    assert finding.verdict is Verdict.ERROR
    assert f"dims is 768 instead of {DIMS}" in finding.found
    assert "'hashed-words' gives 48" in finding.found


def test_quantisation_that_a_server_chose_by_itself_warns_and_is_named() -> None:
    found = indices()
    dense_of(found)["index_options"] = {"type": "bbq_hnsw", "m": 16, "ef_construction": 128}
    finding = only(vectors(found))
    assert finding.verdict is Verdict.WARNING
    assert "bbq_hnsw, quantised to 1 bit" in finding.found


def test_quantisation_on_opensearch_is_named_too() -> None:
    found = indices(OPENSEARCH)
    dense_of(found)["method"]["parameters"]["encoder"] = {"name": "sq", "parameters": {}}
    finding = only(vectors(found, OPENSEARCH))
    assert finding.verdict is Verdict.WARNING
    assert "encoder sq" in finding.found


def test_a_vector_field_that_is_missing_or_not_searchable_is_an_error() -> None:
    found = indices()
    del found["umg-g02-v1"]["mappings"]["properties"]["dense"]
    assert only(vectors(found)).verdict is Verdict.ERROR
    off = indices(OPENSEARCH)
    off["umg-g02-v1"]["settings"]["index"]["knn"] = False
    finding = only(vectors(off, OPENSEARCH))
    assert (finding.verdict, finding.found) == (Verdict.ERROR, "umg-g02-v1 has index.knn switched off")


def test_a_set_without_vectors_says_nothing_of_them() -> None:
    bare = replace(ACTIVE, spec=spec(experts=(Expert.LEXICAL,)))
    assert vectors(indices(), active=bare) == []
