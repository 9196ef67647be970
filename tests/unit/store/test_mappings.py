"""Index bodies: the reviewed JSON with what a deployment decides."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest

from tests.fakes.encoders import spec
from umg_search.granularity import Expert
from umg_search.store.dialect import ELASTICSEARCH, OPENSEARCH, Dialect
from umg_search.store.mappings import FIELDS_OF, chunk_index, lease_index, ledger_index, queue_index, text_index
from umg_search.store.records import SCHEMA, spec_from_json

DIALECTS = pytest.mark.parametrize("dialect", [ELASTICSEARCH, OPENSEARCH], ids=lambda dialect: dialect.name)
SIZE = {"shards": 3, "replicas": 2, "refresh_s": 1.5}


def every_field(properties: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in properties.items():
        yield name, field
        yield from every_field(field.get("properties", {}))


@DIALECTS
def test_every_mapping_is_strict_so_that_none_grows(dialect: Dialect) -> None:
    for body in (
        chunk_index(dialect, spec(), **SIZE),
        text_index(dialect, spec(), **SIZE),
        ledger_index(dialect, **SIZE),
        lease_index(dialect, **SIZE),
        queue_index(dialect, **SIZE),
    ):
        assert body["mappings"]["dynamic"] == "strict"


@DIALECTS
def test_metadata_of_the_user_is_kept_but_not_mapped(dialect: Dialect) -> None:
    fields = ledger_index(dialect, **SIZE)["mappings"]["properties"]
    assert fields["metadata"] == {"type": "object", "enabled": False}
    assert fields["sets"] == {"type": "object", "enabled": False}
    assert queue_index(dialect, **SIZE)["mappings"]["properties"]["document"] == {"type": "object", "enabled": False}


@DIALECTS
def test_shards_and_replicas_are_the_deployments(dialect: Dialect) -> None:
    for body in (
        chunk_index(dialect, spec(), **SIZE),
        text_index(dialect, spec(), **SIZE),
        ledger_index(dialect, **SIZE),
        queue_index(dialect, **SIZE),
    ):
        index = body["settings"]["index"]
        assert (index["number_of_shards"], index["number_of_replicas"]) == (3, 2)
        assert index["refresh_interval"] == "1500ms"


@DIALECTS
@pytest.mark.parametrize("experts", [(Expert.DENSE,), (Expert.SPARSE,), (Expert.LEXICAL,), tuple(Expert)])
def test_a_chunk_index_has_the_fields_of_its_experts_alone(dialect: Dialect, experts: tuple[Expert, ...]) -> None:
    fields = chunk_index(dialect, spec(experts=experts), **SIZE)["mappings"]["properties"]
    own = {name for expert in experts for name in FIELDS_OF[expert]}
    assert set(fields) == {"unit", "collection", "acl", "fields", "labels", *own}


@DIALECTS
def test_the_packed_value_is_a_doc_value_that_nobody_searches(dialect: Dialect) -> None:
    fields = chunk_index(dialect, spec(), **SIZE)["mappings"]["properties"]
    assert fields["unit"] == {"type": "binary", "doc_values": True}


@DIALECTS
def test_dimensions_and_analyser_are_those_of_the_set(dialect: Dialect) -> None:
    fields = chunk_index(dialect, replace(spec(), analyzer="german"), **SIZE)["mappings"]["properties"]
    assert 48 in fields["dense"].values()
    assert 384 not in fields["dense"].values()
    assert fields["text"]["analyzer"] == "german"


@DIALECTS
def test_meta_is_the_specification_of_the_set(dialect: Dialect) -> None:
    for body in (chunk_index(dialect, spec(), **SIZE), text_index(dialect, spec(), **SIZE)):
        assert spec_from_json(json.loads(json.dumps(body["mappings"]["_meta"]))) == spec()
    assert ledger_index(dialect, **SIZE)["mappings"]["_meta"] == {"schema": SCHEMA}


@DIALECTS
def test_making_one_body_leaves_the_next_as_reviewed(dialect: Dialect) -> None:
    chunk_index(dialect, spec(experts=(Expert.DENSE,)), **SIZE)
    reviewed = json.loads((files("es_mappings") / dialect.folder / "chunks.json").read_text("utf-8"))
    fields = chunk_index(dialect, spec(), **SIZE)["mappings"]["properties"]
    assert set(fields) == set(reviewed["mappings"]["properties"])


def test_the_two_servers_differ_in_the_vector_field_alone() -> None:
    one, other = (chunk_index(d, spec(), **SIZE)["mappings"]["properties"] for d in (ELASTICSEARCH, OPENSEARCH))
    assert {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)} == {"dense"}
    assert text_index(ELASTICSEARCH, spec(), **SIZE) == text_index(OPENSEARCH, spec(), **SIZE)
    assert ledger_index(ELASTICSEARCH, **SIZE) == ledger_index(OPENSEARCH, **SIZE)
    assert queue_index(ELASTICSEARCH, **SIZE) == queue_index(OPENSEARCH, **SIZE)


@DIALECTS
def test_no_field_indexes_what_is_only_read_back(dialect: Dialect) -> None:
    fields = dict(every_field(text_index(dialect, spec(), **SIZE)["mappings"]["properties"]))
    assert all(field["index"] is False for field in fields.values())
