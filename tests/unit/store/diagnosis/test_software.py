"""Judges of client, licence, plugins, field types, analysers and rights: every verdict."""

import pytest

from umg_search.model import Finding, Verdict
from umg_search.store.diagnosis import software
from umg_search.store.diagnosis.facts import READING, WRITING, Probe
from umg_search.store.dialect import ELASTICSEARCH, OPENSEARCH, Dialect

DAY = 86_400
NOW = 1_800_000_000.0
MISSING = Probe(why="the server does not answer GET /x (HTTP 404)")
FORBIDDEN = Probe(why="this user may not ask GET /x (HTTP 403)")


@pytest.mark.parametrize(
    ("dialect", "server", "installed", "verdict", "said"),
    [
        (ELASTICSEARCH, "8.19.21", "8.19.3", Verdict.OK, "8.19.3"),
        (ELASTICSEARCH, "9.5.3", "8.19.3", Verdict.OK, "9.5.3"),
        (ELASTICSEARCH, "8.19.21", "9.1.0", Verdict.ERROR, "older major"),
        (ELASTICSEARCH, "9.5.3", "9.1.0", Verdict.WARNING, "newer"),
        (ELASTICSEARCH, "8.19.21", "8.18.1", Verdict.ERROR, "too old"),
        (OPENSEARCH, "2.19.1", "3.2.0", Verdict.OK, "3.2.0"),
        (OPENSEARCH, "3.5.0", "2.8.0", Verdict.ERROR, "too old"),
        (OPENSEARCH, "3.5.0", "4.0.0rc1", Verdict.WARNING, "newer"),
    ],
)
def test_a_client_is_judged_against_its_server(
    dialect: Dialect, server: str, installed: str, verdict: Verdict, said: str
) -> None:
    found = software.client(dialect, server, installed)
    assert found.verdict is verdict
    assert said in found.found
    assert ("pip install" in found.remedy) is (verdict is not Verdict.OK)


def licence(**values: object) -> Finding:
    return software.licence(Probe({"license": {"type": "trial", "status": "active"} | values}), NOW)


def test_every_active_licence_will_do() -> None:
    assert licence(type="basic").verdict is Verdict.OK
    assert licence(expiry_date_in_millis=(NOW + 100 * DAY) * 1000).verdict is Verdict.OK


def test_a_licence_that_ends_soon_or_has_ended_warns_and_names_the_free_one() -> None:
    soon = licence(expiry_date_in_millis=(NOW + (software.LICENCE_DAYS - 1) * DAY) * 1000)
    ended = licence(status="expired")
    assert [soon.verdict, ended.verdict] == [Verdict.WARNING] * 2
    assert "trial licence ends on 2027-" in soon.found
    assert "expired" in ended.found
    assert all("start_basic" in found.remedy for found in (soon, ended))


@pytest.mark.parametrize("probe", [MISSING, FORBIDDEN, Probe({"hello": "world"})])
def test_a_server_that_does_not_tell_its_licence_is_no_error(probe: Probe) -> None:
    assert software.licence(probe, NOW).verdict is Verdict.UNKNOWN


def nodes(**plugins: list[str]) -> Probe:
    return Probe(
        {
            "nodes": {
                f"id-{name}": {"name": name, "roles": ["data"], "plugins": [{"classname": c} for c in classes]}
                for name, classes in plugins.items()
            }
        }
    )


KNN = "org.opensearch.knn.plugin.KNNPlugin"


def test_every_data_node_needs_the_knn_plugin() -> None:
    assert software.knn_plugin(nodes(a=[KNN], b=[KNN])).verdict is Verdict.OK
    found = software.knn_plugin(nodes(a=[KNN], b=["org.opensearch.painless.PainlessPlugin"], c=[]))
    assert found.verdict is Verdict.ERROR
    assert "node b, c lacks" in found.found
    assert "opensearch-plugin install opensearch-knn" in found.remedy


def test_a_node_without_data_needs_no_plugin() -> None:
    probe = nodes(a=[KNN], manager=[])
    probe.body["nodes"]["id-manager"]["roles"] = ["cluster_manager"]
    assert software.knn_plugin(probe).verdict is Verdict.OK


def test_unknown_plugins_are_unknown() -> None:
    assert software.knn_plugin(FORBIDDEN).verdict is Verdict.UNKNOWN


def test_the_mapping_of_a_new_set_is_accepted_refused_or_not_known() -> None:
    refused = Probe(why="refused", refusal="No handler for type [rank_features] declared on field [sparse]")
    found = software.field_types(refused)
    assert found.verdict is Verdict.ERROR
    assert "rank_features" in found.found
    assert "mapper-extras" in found.remedy
    assert software.field_types(Probe({"template": {}})).verdict is Verdict.OK
    assert software.field_types(FORBIDDEN).verdict is Verdict.UNKNOWN
    assert software.field_types(None).verdict is Verdict.UNKNOWN


def test_an_analyser_is_there_missing_or_not_known() -> None:
    missing = software.analyzer("klingon", Probe(why="refused", refusal="failed to find global analyzer [klingon]"))
    assert missing.verdict is Verdict.ERROR
    assert "klingon" in missing.found
    assert "UMG_ANALYZER" in missing.remedy
    assert software.analyzer("english", Probe({"tokens": []})) == Finding("analyser", Verdict.OK, "english")
    assert software.analyzer("english", FORBIDDEN).verdict is Verdict.UNKNOWN


def allowed(*missing: str) -> Finding:
    granted = {action: action not in missing for action in (*READING, *WRITING)}
    return software.rights(ELASTICSEARCH, Probe({"username": "ann", "index": {"umg-*": granted}}))


def test_missing_rights_are_named_and_only_those_for_searches_are_errors() -> None:
    assert allowed().verdict is Verdict.OK
    reader = allowed(*WRITING)
    assert reader.verdict is Verdict.WARNING
    assert all(action in reader.found for action in WRITING)
    assert allowed("indices:data/read/search").verdict is Verdict.ERROR
    assert software.rights(ELASTICSEARCH, MISSING).verdict is Verdict.UNKNOWN


def test_opensearch_tells_roles_and_not_what_they_grant() -> None:
    admin = Probe({"user_name": "admin", "roles": ["own_index", "all_access"]})
    other = Probe({"user_name": "ann", "roles": ["umg_reader"]})
    assert software.rights(OPENSEARCH, admin).verdict is Verdict.OK
    found = software.rights(OPENSEARCH, other)
    assert found.verdict is Verdict.UNKNOWN
    assert "ann has the roles umg_reader" in found.found
    assert software.rights(OPENSEARCH, MISSING).verdict is Verdict.UNKNOWN
