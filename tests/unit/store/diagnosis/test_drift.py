"""Mappings compared: what counts as a difference, what does not, and how it is said."""

from copy import deepcopy
from typing import Any

import pytest

from tests.fakes.encoders import spec
from umg_search.store.diagnosis.drift import MAPPING, Difference, differences
from umg_search.store.dialect import ELASTICSEARCH, OPENSEARCH, Dialect
from umg_search.store.mappings import chunk_index


def mapping(dialect: Dialect = ELASTICSEARCH) -> dict[str, Any]:
    found: dict[str, Any] = chunk_index(dialect, spec(), shards=1, replicas=1, refresh_s=1)["mappings"]
    return found


@pytest.mark.parametrize("dialect", [ELASTICSEARCH, OPENSEARCH], ids=lambda dialect: dialect.name)
def test_a_mapping_is_like_itself_and_like_what_servers_make_of_it(dialect: Dialect) -> None:
    """Servers leave defaults out, sort, and write booleans and numbers as texts."""
    told = mapping(dialect)
    del told["properties"]["unit"]["doc_values"]
    told["properties"]["collection"]["index"] = "true"
    told["properties"]["fields"] = {"properties": {"year": {"type": "long"}}}
    told["properties"] = dict(sorted(told["properties"].items()))
    assert differences(mapping(dialect), mapping(dialect)) == []
    wanted = mapping(dialect)
    wanted["properties"]["fields"] = {"type": "object", "properties": {"year": {"type": "long"}}}
    assert differences(wanted, told) == []


def test_missing_and_additional_fields_are_named_with_their_types() -> None:
    told = mapping()
    del told["properties"]["sparse"]
    told["properties"]["owner"] = {"type": "keyword", "fields": {"raw": {"type": "text"}}}
    missing, *additional = sorted(differences(mapping(), told), key=lambda d: d.found is not None)
    assert (str(missing), missing.essential) == ("sparse is missing (rank_features)", True)
    assert [str(d) for d in additional] == ["owner is additional (keyword)", "owner.raw is additional (text)"]
    assert [d.essential for d in additional] == [False, False]


@pytest.mark.parametrize(
    ("field", "change", "said", "essential"),
    [
        ("dense", {"dims": 64}, "dense: dims is 64 instead of 48", True),
        ("dense", {"similarity": "dot_product"}, "dense: similarity is dot_product instead of cosine", True),
        ("dense", {"element_type": "float"}, "dense: element_type is float instead of byte", True),
        ("unit", {"doc_values": False}, "unit: doc_values is false instead of true", True),
        ("text", {"analyzer": "english"}, "text: analyzer is english instead of standard", False),
        ("text", {"type": "keyword"}, "text: type is keyword instead of text", True),
    ],
)
def test_a_parameter_is_named_with_both_values(field: str, change: dict[str, Any], said: str, essential: bool) -> None:  # noqa: FBT001 - a parameter of the test
    told = mapping()
    told["properties"][field] |= change
    (difference,) = differences(mapping(), told)
    assert (str(difference), difference.essential) == (said, essential)


def test_parameters_within_parameters_are_named_by_their_path() -> None:
    told = mapping()
    told["properties"]["dense"]["index_options"] = {"type": "bbq_hnsw", "m": 16, "ef_construction": 128}
    assert differences(mapping(), told) == [Difference("dense", "index_options.type", "hnsw", "bbq_hnsw")]


def test_what_concerns_the_mapping_as_a_whole_is_compared_too() -> None:
    told = deepcopy(mapping()) | {"dynamic": "true", "_source": {"enabled": False}}
    told["_meta"]["encoding"] = "composed"
    assert [(str(d), d.essential) for d in differences(mapping(), told)] == [
        (f"{MAPPING}: _meta.encoding is composed instead of direct", True),
        (f"{MAPPING}: _source.enabled is false instead of true", True),
        (f"{MAPPING}: _source.excludes is not set instead of ['dense', 'sparse', 'copy']", False),
        (f"{MAPPING}: dynamic is true instead of strict", False),
    ]
