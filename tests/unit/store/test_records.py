import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.errors import EngineError, EngineUnsupported
from umg_search.granularity import Expert, Granularity
from umg_search.model import (
    DeclaredField,
    DenseModel,
    DocumentHash,
    DocumentKey,
    DocumentState,
    DocumentVersion,
    Encoding,
    FieldType,
    Generation,
    Headers,
    Job,
    LedgerEntry,
    Retired,
    SetSpec,
    SetState,
    SparseModel,
    TextBlock,
)
from umg_search.ports import BlockId
from umg_search.store.records import (
    SCHEMA,
    block_from_json,
    block_to_json,
    entry_from_json,
    entry_to_json,
    spec_from_json,
    spec_to_json,
)

NUMBERS = st.integers(0, 2**31)
TIMES = st.floats(0, 1e12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
SPECS = st.builds(
    SetSpec,
    schema=st.just(SCHEMA),
    granularities=st.lists(st.sampled_from(Granularity), unique=True).map(tuple),
    experts=st.lists(st.sampled_from(Expert), unique=True).map(tuple),
    tokenizer=st.text(),
    encoding=st.sampled_from(Encoding),
    analyzer=st.text(),
    access_control=st.booleans(),
    dense=st.none() | st.builds(DenseModel, st.text(), NUMBERS, st.text(), st.text()),
    sparse=st.none() | st.builds(SparseModel, st.text()),
    headers=st.sampled_from(Headers),
    fields=st.dictionaries(st.text(), st.sampled_from(FieldType)).map(
        lambda types: tuple(sorted(DeclaredField(name, kind) for name, kind in types.items()))
    ),
    derived=st.lists(st.sampled_from(Granularity), unique=True).map(tuple),
)
STATES = st.builds(
    SetState,
    live=st.none() | st.builds(Generation, NUMBERS, NUMBERS),
    retired=st.lists(st.builds(Retired, NUMBERS, NUMBERS, TIMES)).map(tuple),
)
ENTRIES = st.builds(
    LedgerEntry,
    document=st.binary(min_size=16, max_size=16).map(DocumentHash),
    key=st.none() | st.builds(DocumentKey, st.text(), st.text()),
    title=st.text(),
    metadata=st.dictionaries(st.text(), JSON),
    acl=st.lists(st.text()).map(tuple),
    text_fingerprint=st.text(),
    attributes_fingerprint=st.text(),
    state=st.sampled_from(DocumentState),
    error=st.text(),
    changed_at=TIMES,
    characters=NUMBERS,
    next_generation=NUMBERS,
    sets=st.dictionaries(st.from_regex(r"v\d+", fullmatch=True), STATES),
    stage=st.text(),
    error_class=st.text(),
    job=st.none() | st.builds(Job, st.text(), NUMBERS, st.text(), NUMBERS, NUMBERS, NUMBERS, st.text(), TIMES),
    batch=st.text(),
    source=st.text(),
    token=st.none() | st.tuples(NUMBERS, NUMBERS),
)
BLOCKS = st.builds(
    TextBlock,
    version=st.binary(min_size=20, max_size=20).map(DocumentVersion),
    number=NUMBERS,
    start=NUMBERS,
    text=st.text(),
    bounds=st.lists(NUMBERS).map(tuple),
    counts=st.lists(NUMBERS).map(tuple),
)
SPEC = SetSpec(SCHEMA, (Granularity.G2,), (Expert.LEXICAL,), "words", Encoding.DIRECT, "standard", access_control=False)
ENTRY = LedgerEntry(DocumentHash(bytes(16)), DocumentKey("default", "a"))


def through_json(data: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(data))


@given(SPECS)
def test_specifications_come_back_as_they_were(spec: SetSpec) -> None:
    assert spec_from_json(through_json(spec_to_json(spec))) == spec


@given(ENTRIES)
def test_entries_come_back_as_they_were(entry: LedgerEntry) -> None:
    assert entry_from_json(entry.document, through_json(entry_to_json(entry)), entry.token) == entry


@given(BLOCKS)
def test_blocks_come_back_as_they_were(block: TextBlock) -> None:
    assert block_from_json(BlockId(block.version, block.number), through_json(block_to_json(block))) == block


def test_the_shape_of_an_entry_is_fixed() -> None:
    """Entries are on disk and in indices with a strict mapping."""
    state = SetState(Generation(2, 40), (Retired(1, 30, 5.0),), "f2")
    entry = replace(ENTRY, sets={"v1": state}, job=Job("b1", 3, "f3", 7, 2, 1, "r1", 6.0), batch="b1", source="/docs")
    assert entry_to_json(entry) == {
        "collection": "default",
        "id": "a",
        "title": "",
        "metadata": {},
        "acl": [],
        "text_fingerprint": "",
        "attributes_fingerprint": "",
        "state": "writing",
        "error": "",
        "stage": "",
        "error_class": "",
        "changed_at": 0.0,
        "characters": 0,
        "next_generation": 1,
        "sets": {"v1": {"live": [2, 40], "retired": [[1, 30, 5.0]], "text_fingerprint": "f2"}},
        "job": {
            "batch": "b1",
            "number": 3,
            "fingerprint": "f3",
            "characters": 7,
            "attempts": 2,
            "deaths": 1,
            "run": "r1",
            "sent_at": 6.0,
        },
        "batch": "b1",
        "source": "/docs",
    }


@pytest.mark.parametrize("schema", [SCHEMA + 1, 0, None, "1"])
def test_another_schema_is_refused_and_both_are_named(schema: object) -> None:
    with pytest.raises(EngineUnsupported, match=rf"schema {schema!r}.*schema {SCHEMA} only"):
        spec_from_json({**spec_to_json(SPEC), "schema": schema})


@pytest.mark.parametrize(
    "change",
    [
        lambda data: {**data, "surprise": 1},
        lambda data: {name: value for name, value in data.items() if name != "title"},
        lambda data: {**data, "state": "asleep"},
        lambda data: {**data, "id": None},
        lambda data: {**data, "acl": None},
        lambda data: {**data, "sets": {"v1": {"live": [1], "retired": [], "text_fingerprint": ""}}},
        lambda data: {**data, "sets": {"v1": {"live": None}}},
        lambda data: {**data, "sets": []},
        lambda data: {**data, "job": {"batch": "b1"}},
        lambda data: {**data, "changed_at": "yesterday"},
    ],
)
def test_entries_with_other_fields_or_values_are_refused(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    with pytest.raises(EngineError, match="stored ledger entry cannot be read"):
        entry_from_json(ENTRY.document, change(entry_to_json(ENTRY)), None)


@pytest.mark.parametrize("change", [{"experts": ["oracle"]}, {"granularities": [3]}, {"dense": {"size": 1}}, {"x": 1}])
def test_specifications_with_other_fields_or_values_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(EngineError, match="stored index set cannot be read"):
        spec_from_json({**spec_to_json(SPEC), **change})


def test_blocks_with_other_fields_are_refused() -> None:
    with pytest.raises(EngineError, match="stored text block cannot be read"):
        block_from_json(BlockId(DocumentVersion(bytes(20)), 0), {"text": ""})
