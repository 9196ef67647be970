"""Bulk requests exactly as they go out (tests/golden)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY
from umg_search.granularity import Granularity
from umg_search.model import (
    DocumentHash,
    DocumentKey,
    Generation,
    LedgerEntry,
    Retired,
    SetState,
    SparseVector,
    TextBlock,
    version_of,
)
from umg_search.ports import Attributes, BlockId, Chunk, ChunkId
from umg_search.store import actions
from umg_search.store.actions import Action
from umg_search.store.copies import Copy

GOLDEN = Path(__file__).parents[2] / "golden"
DOCUMENT = DocumentHash(bytes(range(16)))
VERSION = version_of(DOCUMENT, 3)
CHUNK = Chunk(
    granularity=Granularity.G4,
    version=VERSION,
    first=6,
    unit=b"AAEC",
    collection="manuals",
    attributes=Attributes(("*", "ann"), {"lang": ("de", "en"), "year": ()}, ("6:sourcewiki",), "Dots"),
    dense=np.array([0.5, -0.25], dtype=np.float32),
    sparse=SparseVector(np.array([7, 3001], dtype=np.int32), np.array([1.5, 0.25], dtype=np.float32)),
    text="Dots: u.s. 3.14.",
)
BLOCK = TextBlock(version=VERSION, number=1, start=40, text="One. Two.", bounds=(0, 5, 9), counts=(1, 2))
ENTRY = LedgerEntry(
    document=DOCUMENT,
    key=DocumentKey("manuals", "a/b c.md"),
    title="A",
    metadata={"deep": [1, None]},
    acl=("ann",),
    sets={"v1": SetState(Generation(2, 40), (Retired(1, 30, 5.0), Retired(3, 2, 4.0)))},
)


def lines(action: Action) -> list[Any]:
    assert action.lines.endswith(b"\n")
    return [json.loads(line) for line in action.lines.splitlines()]


def golden(name: str) -> list[Any]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("bulk-chunk.ndjson", actions.chunk_action("umg-g04-v1", CHUNK, Copy(CHUNK.dense, CHUNK.sparse))),
        ("bulk-block.ndjson", actions.block_action("umg-text-v1", BLOCK)),
        ("bulk-new-entry.ndjson", actions.entry_action("umg-documents", ENTRY, "m1")),
        ("bulk-entry.ndjson", actions.entry_action("umg-documents", replace(ENTRY, token=(17, 2)), "m2")),
        (
            "bulk-attributes.ndjson",
            actions.attributes_action(
                "umg-g04-v1",
                ChunkId(Granularity.G4, VERSION, 6),
                Attributes(("bob",), {"lang": (), "year": (2020,)}, (), "New"),
                actions.left_out("AAAA", Copy(CHUNK.dense, CHUNK.sparse)),
            ),
        ),
        ("bulk-delete-chunk.ndjson", actions.delete_action("umg-g04-v1", ChunkId(Granularity.G4, VERSION, 6))),
        ("bulk-delete-block.ndjson", actions.delete_action("umg-text-v1", BlockId(VERSION, 1))),
    ],
)
def test_an_action_is_exactly_this(name: str, action: Action) -> None:
    assert lines(action) == golden(name)


def test_an_action_tells_whom_it_concerns() -> None:
    assert actions.chunk_action("i", CHUNK, None).subject == ChunkId(Granularity.G4, VERSION, 6)
    assert actions.block_action("i", BLOCK).subject == BlockId(VERSION, 1)
    assert actions.entry_action("i", ENTRY, "m").subject is ENTRY


def test_what_a_chunk_does_not_have_is_no_field() -> None:
    """A null vector would be refused by one server and cost an exists query in the other."""
    nothing = SparseVector(np.array([], dtype=np.int32), np.array([], dtype=np.float32))
    untitled = replace(CHUNK.attributes, title=None)
    for chunk in (
        replace(CHUNK, dense=None, sparse=None, text=None, attributes=untitled),
        replace(CHUNK, dense=None, sparse=nothing, text=None, attributes=untitled),
    ):
        assert set(actions.chunk_source(chunk, None)) == {"unit", "collection", "acl", "fields", "labels"}


def test_names_of_sparse_terms_are_numbers() -> None:
    """Terms with dots ("u.s.", "3.14") would be paths of objects."""
    assert set(lines(actions.chunk_action("i", CHUNK, None))[1]["sparse"]) == {"7", "3001"}


def test_a_ledger_entry_that_nobody_waits_for_has_no_time_of_retirement() -> None:
    source = lines(actions.entry_action("i", replace(ENTRY, sets={}), "m"))[1]
    assert source["retired_since"] is None


# --- cutting into requests -----------------------------------------------------------------------------------------


def sized(*sizes: int) -> list[Action]:
    return [Action(number, b"x" * size) for number, size in enumerate(sizes)]


def subjects(batches: list[list[Action]]) -> list[list[int]]:
    return [[action.subject for action in batch] for batch in batches]


def test_requests_hold_as_much_as_fits() -> None:
    assert subjects(list(actions.requests(sized(4, 6, 5, 5, 1), 10))) == [[0, 1], [2, 3], [4]]


def test_a_single_larger_action_goes_alone() -> None:
    assert subjects(list(actions.requests(sized(1, 99, 1), 10))) == [[0], [1], [2]]


def test_no_action_is_no_request() -> None:
    assert list(actions.requests([], 10)) == []


@PROPERTY
@given(st.lists(st.integers(1, 30), max_size=30), st.integers(1, 60))
def test_all_actions_go_out_in_order_and_no_request_passes_the_limit(sizes: list[int], most: int) -> None:
    batches = list(actions.requests(sized(*sizes), most))
    assert [action for batch in batches for action in batch] == sized(*sizes)
    assert all(len(batch) == 1 or sum(len(a.lines) for a in batch) <= most for batch in batches)


# --- answers -------------------------------------------------------------------------------------------------------


def test_every_item_of_an_answer_goes_to_its_action() -> None:
    todo = sized(1, 1, 1)
    answer = {"items": [{"index": {"status": 201}}, {"delete": {"status": 404}}, {"create": {"status": 409}}]}
    found = list(actions.outcomes(todo, answer))
    assert [(o.action.subject, o.status, o.done) for o in found] == [(0, 201, True), (1, 404, False), (2, 409, False)]


def test_an_answer_with_fewer_items_is_an_error() -> None:
    """Bulk results are always consumed: a missing one is not a success."""
    with pytest.raises(ValueError, match="zip"):
        list(actions.outcomes(sized(1, 1), {"items": [{"index": {"status": 201}}]}))
