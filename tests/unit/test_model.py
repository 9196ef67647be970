import os
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import G2, G8, PROPERTY, Text, fused, hits, ranked
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import (
    Document,
    DocumentHash,
    DocumentKey,
    Encoding,
    Hits,
    IndexSet,
    LedgerEntry,
    Selected,
    SetSpec,
    SetState,
    SplitDocument,
    document_of,
    generation_of,
    ranges,
    unit_keys,
    version_of,
)

A, B = Text("a", tuple(range(1, 21))), Text("b", (7, 8, 9))


# --- identity ------------------------------------------------------------------------------------------------------


def test_where_a_collection_ends_and_an_id_begins_matters() -> None:
    assert DocumentKey("a", "bc").hash != DocumentKey("ab", "c").hash
    assert DocumentKey("", "abc").hash != DocumentKey("abc", "").hash


@PROPERTY
@given(st.sets(st.tuples(st.text(max_size=4), st.text(max_size=4)), min_size=2, max_size=20))
def test_different_documents_have_different_hashes_of_sixteen_bytes(keys: set[tuple[str, str]]) -> None:
    hashes = {DocumentKey(*key).hash for key in keys}
    assert len(hashes) == len(keys)
    assert {len(hash_) for hash_ in hashes} == {16}


def test_an_id_with_a_lone_surrogate_has_a_hash() -> None:
    """A file name that is no UTF-8 reaches Python so."""
    assert DocumentKey("default", "a\udcff").hash != DocumentKey("default", "a\ufffd").hash


def test_a_hash_is_the_same_in_every_process_and_for_ever() -> None:
    """It is stored: other PYTHONHASHSEED, another version of this module, the same bytes."""
    assert DocumentKey("default", "docs/a b.md").hash.hex() == hash_with_seed("1") == hash_with_seed("2")


def hash_with_seed(seed: str) -> str:
    program = "from umg_search.model import DocumentKey; print(DocumentKey('default', 'docs/a b.md').hash.hex())"
    done = subprocess.run(  # noqa: S603 - this interpreter, a fixed program
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_hash_of_a_known_document() -> None:
    assert DocumentKey("default", "docs/a b.md").hash.hex() == "681b7392ca871edf1676162b930c6806"


@PROPERTY
@given(st.binary(min_size=16, max_size=16), st.integers(0, 2**32 - 1))
def test_versions_come_apart_again(raw: bytes, generation: int) -> None:
    version = version_of(DocumentHash(raw), generation)
    assert (document_of(version), generation_of(version), len(version)) == (raw, generation, 20)


@PROPERTY
@given(st.binary(min_size=16, max_size=16), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_versions_of_a_document_sort_by_generation(raw: bytes, one: int, other: int) -> None:
    document = DocumentHash(raw)
    assert (version_of(document, one) < version_of(document, other)) == (one < other)


def test_the_key_of_a_document_is_its_collection_and_id() -> None:
    assert Document(id="x", text="", collection="c").key == DocumentKey("c", "x")
    assert Document(id="x", text="").key == DocumentKey("default", "x")


# --- values --------------------------------------------------------------------------------------------------------


def test_values_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Document(id="x", text="").text = "y"


def test_the_text_of_sentences_is_a_slice() -> None:
    split = SplitDocument(Document(id="x", text="One. Two. Three."), (0, 5, 10, 16), (1, 1, 1))
    assert split.sentences == 3
    assert split.text_of(0, 3) == "One. Two. Three."
    assert split.text_of(1, 2) == "Two. "


def test_channels_of_a_set_are_every_expert_at_every_granularity() -> None:
    spec = SetSpec(
        1, (G2, G8), (Expert.DENSE, Expert.LEXICAL), "words", Encoding.DIRECT, "standard", access_control=False
    )
    assert [str(c) for c in spec.channels] == ["dense-g02", "dense-g08", "lexical-g02", "lexical-g08"]
    assert IndexSet(3, spec).label == "v3"


def test_a_set_that_the_ledger_does_not_name_holds_nothing_of_a_document() -> None:
    assert LedgerEntry(DocumentHash(bytes(16)), None).in_set("v9") == SetState(None, ())


def test_the_tokens_of_a_selection_are_those_of_its_sentences() -> None:
    assert Selected(A.version, 0, 3, 1.0, (1, 2, 3)).tokens == 1 + 2 + 3


# --- columns -------------------------------------------------------------------------------------------------------


def rows_of(found: Hits) -> list[tuple[object, ...]]:
    """Return each row with its own token counts."""
    ends = np.cumsum(found.count_length)
    return [
        (
            found.versions[i],
            int(found.first[i]),
            int(found.last[i]),
            int(found.count_first[i]),
            tuple(found.counts[end - length : end].tolist()),
        )
        for i, (end, length) in enumerate(zip(ends.tolist(), found.count_length.tolist(), strict=True))
    ]


@PROPERTY
@given(st.lists(st.integers(0, 5), max_size=12))
def test_taking_rows_takes_their_token_counts(rows: list[int]) -> None:
    found = hits(G2, [(A, 0), (B, 1), (A, 7), (A, 18), (B, 0), (A, 3)])
    taken = found.take(np.array(rows, dtype=np.int64))
    assert rows_of(taken) == [rows_of(found)[row] for row in rows]
    assert len(taken) == len(rows)


def test_hits_of_a_small_window_have_the_counts_of_its_parent() -> None:
    assert rows_of(hits(G2, [(A, 7)])) == [(A.version, 7, 9, 4, tuple(range(5, 13)))]


@PROPERTY
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=10))
def test_ranges_are_all_their_numbers_one_after_the_other(parts: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in parts], dtype=np.int64)
    lengths = np.array([length for _, length in parts], dtype=np.int64)
    assert ranges(starts, lengths).tolist() == [start + i for start, length in parts for i in range(length)]


UNIT = st.tuples(st.integers(0, 2**20), st.integers(0, 2**32 - 300), st.integers(1, 255))


@PROPERTY
@given(st.lists(UNIT, min_size=2, max_size=10))
def test_unit_keys_order_units_by_document_first_and_last_sentence(units: list[tuple[int, int, int]]) -> None:
    document, first, length = np.array(units, dtype=np.int64).T
    keys = unit_keys(document, first, first + length).tolist()
    assert [key for key, _ in sorted(zip(keys, units, strict=True))] == sorted(keys)
    assert [unit for _, unit in sorted(zip(keys, units, strict=True))] == sorted(units)
    assert len(set(keys)) == len(set(units))


def test_a_list_without_some_versions_keeps_scores_and_counts_with_their_hits() -> None:
    channel = Channel(Expert.DENSE, Granularity.G2)
    item = ranked(channel, (A, 0, 0.9), (B, 0, 0.8), (A, 5, 0.7))
    rest = item.without(frozenset({A.version}))
    assert (rest.channel, rest.scores.tolist()) == (channel, [0.8])
    assert rows_of(rest.hits) == [(B.version, 0, 2, 0, (7, 8, 9))]
    assert item.without(frozenset({Text("c", (1,)).version})) is item
    nothing = item.without(frozenset({A.version, B.version}))
    assert (len(nothing.hits), nothing.scores.tolist(), nothing.hits.counts.tolist()) == (0, [], [])


def test_selections_of_a_fused_list_name_version_sentences_and_tokens() -> None:
    found = fused((A, G2, 7, 0.5), (B, G2, 0, 0.5))
    chosen = found.selected(0, 7, 9, int(found.place[0]), 0.25)
    assert (chosen.version, chosen.first, chosen.last, chosen.score, chosen.counts) == (A.version, 7, 9, 0.25, (8, 9))
