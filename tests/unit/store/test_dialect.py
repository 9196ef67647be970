from typing import Any

import numpy as np
import pytest

from umg_search.errors import ConfigurationError, EngineUnsupported
from umg_search.model import VectorType
from umg_search.store.dialect import ELASTICSEARCH, OPENSEARCH, Dialect, cosines, recognise

HERE = "http://host:9200"


def answer(number: str, **more: str) -> dict[str, Any]:
    return {"name": "node", "version": {"number": number, **more}, "tagline": "You Know, for Search"}


@pytest.mark.parametrize("number", ["8.19.0", "8.19.21", "8.20.0", "9.0.0", "9.5.3", "9.10.0-SNAPSHOT"])
def test_elasticsearch_is_recognised(number: str) -> None:
    assert recognise(answer(number, build_flavor="default"), HERE) == (ELASTICSEARCH, number)


@pytest.mark.parametrize("number", ["2.19.0", "2.19.1", "3.0.0-beta1", "3.5.0", "3.11.0"])
def test_opensearch_is_recognised(number: str) -> None:
    assert recognise(answer(number, distribution="opensearch"), HERE) == (OPENSEARCH, number)


@pytest.mark.parametrize(
    ("number", "more", "name", "least", "newest"),
    [
        ("8.18.9", {}, "elasticsearch", r"8\.19", r"9\.x"),
        ("7.17.0", {}, "elasticsearch", r"8\.19", r"9\.x"),
        ("10.0.0", {}, "elasticsearch", r"8\.19", r"9\.x"),
        ("2.18.0", {"distribution": "opensearch"}, "opensearch", r"2\.19", r"3\.x"),
        ("1.3.0", {"distribution": "opensearch"}, "opensearch", r"2\.19", r"3\.x"),
        ("4.0.0", {"distribution": "opensearch"}, "opensearch", r"2\.19", r"3\.x"),
    ],
)
def test_older_and_newer_versions_are_refused_and_the_supported_ones_named(
    number: str, more: dict[str, str], name: str, least: str, newest: str
) -> None:
    with pytest.raises(EngineUnsupported, match=rf"^{HERE} is {name} {number}; .*{least} or later, up to {newest}\.$"):
        recognise(answer(number, **more), HERE)


@pytest.mark.parametrize("number", ["", "nine", "9", "9.x.1"])
def test_a_version_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(EngineUnsupported):
        recognise(answer(number), HERE)


def test_serverless_is_refused_in_one_sentence() -> None:
    with pytest.raises(EngineUnsupported, match=r"Elasticsearch Serverless, which umg-search does not support"):
        recognise(answer("8.11.0", build_flavor="serverless"), HERE)


@pytest.mark.parametrize(
    "other", ["<html>", None, [], {}, {"version": "1.0"}, {"version": {"number": 9}}, {"ok": True}]
)
def test_what_is_no_search_engine_is_refused(other: object) -> None:
    with pytest.raises(EngineUnsupported, match="neither Elasticsearch nor OpenSearch: correct UMG_ENGINE"):
        recognise(other, HERE)


def test_an_unsupported_engine_is_wrong_configuration() -> None:
    assert issubclass(EngineUnsupported, ConfigurationError)


def test_scores_of_knn_are_turned_back_into_cosines() -> None:
    cosine = np.array([1.0, 0.5, 0.0, -1.0])
    assert cosines((1 + cosine) / 2).tolist() == pytest.approx(cosine.tolist())


FILTERS = [{"term": {"collection": "c"}}, {"terms": {"acl": ["*", "ann"]}}]


def test_filters_hold_inside_the_knn_search_of_elasticsearch() -> None:
    assert ELASTICSEARCH.knn([1.0], 100, FILTERS) == {
        "knn": {"field": "dense", "query_vector": [1.0], "k": 100, "num_candidates": 2 * 100, "filter": FILTERS}
    }


def test_filters_hold_inside_the_knn_search_of_opensearch() -> None:
    assert OPENSEARCH.knn([1.0], 100, FILTERS) == {
        "query": {
            "knn": {
                "dense": {
                    "vector": [1.0],
                    "k": 100,
                    "method_parameters": {"ef_search": 2 * 100},
                    "filter": {"bool": {"filter": FILTERS}},
                }
            }
        }
    }


@pytest.mark.parametrize("dialect", [ELASTICSEARCH, OPENSEARCH])
def test_without_filters_there_is_no_filter_clause(dialect: Dialect) -> None:
    assert "filter" not in str(dialect.knn([1.0], 5, []))


def test_each_server_calls_dimensions_by_its_own_name() -> None:
    reviewed = {"type": "dense_vector", "dims": 384, "element_type": "byte"}
    assert ELASTICSEARCH.vector_field(reviewed, 48, VectorType.INT8) == {**reviewed, "dims": 48}
    assert ELASTICSEARCH.vector_field(reviewed, 384, VectorType.FLOAT32) == {**reviewed, "element_type": "float"}
    assert OPENSEARCH.vector_field({"dimension": 384}, 48, VectorType.INT8) == {"dimension": 48, "data_type": "byte"}
