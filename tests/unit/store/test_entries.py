import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.encoders import encoded, spec, split
from tests.unit.ranking.lists import PROPERTY
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, DocumentKey, SplitDocument, version_of
from umg_search.ports import BlockId, ChunkId
from umg_search.sparse_vectors import kept
from umg_search.store.entries import blocks_of, chunks_of, ids_of
from umg_search.store.names import block_id, chunk_id, document_hash, document_id
from umg_search.store.precision import stored_vector
from umg_search.store.units import unpack
from umg_search.windows import window_count, windows

VERSION = version_of(DocumentKey("default", "a").hash, 3)


def document(sentences: int) -> Document:
    return Document(
        id="a",
        text=" ".join(f"Word number {i}." for i in range(sentences)),
        collection="c",
        acl=("z", "a", "z"),
    )


@PROPERTY
@given(st.integers(1, 100))
def test_ids_by_arithmetic_are_those_of_the_entries(sentences: int) -> None:
    """A deletion finds all that a write made, years later, from two numbers."""
    item = document(sentences)
    parts = split(item)
    lexical = spec(experts=(Expert.LEXICAL,))
    chunks = [ChunkId(c.granularity, c.version, c.first) for c in chunks_of(encoded(item, lexical), VERSION, lexical)]
    blocks = [BlockId(b.version, b.number) for b in blocks_of(parts, VERSION)]
    assert ids_of(VERSION, parts.sentences, lexical.granularities) == (chunks, blocks)
    assert len(set(chunks)) == len(chunks) == sum(window_count(sentences, g) for g in Granularity)


def test_a_chunk_holds_what_searches_ask_for() -> None:
    every = spec()
    item = encoded(document(5), every)
    chunks = {(c.granularity, c.first): c for c in chunks_of(item, VERSION, every)}
    chunk = chunks[Granularity.G4, 1 * 2]
    assert (chunk.version, chunk.collection, chunk.attributes.acl) == (VERSION, "c", ("a", "z"))
    assert chunk.text == item.split.text_of(2, 5)
    assert chunk.dense.tolist() == stored_vector(item.dense[Granularity.G4][1], every.vectors).tolist()
    assert chunk.sparse.weights.tolist() == kept(item.sparse[Granularity.G4][1]).weights.tolist()
    (hits,) = unpack([[chunk.unit.decode()]])
    assert (hits.first.tolist(), hits.last.tolist(), hits.versions) == ([2], [5], (VERSION,))
    assert hits.counts.tolist() == list(item.split.counts)


def test_fields_of_experts_that_the_set_lacks_are_left_out() -> None:
    lexical = spec(experts=(Expert.LEXICAL,))
    dense = spec(experts=(Expert.DENSE,))
    assert all(
        c.dense is None and c.sparse is None and c.text
        for c in chunks_of(encoded(document(5), lexical), VERSION, lexical)
    )
    assert all(c.dense is not None and c.text is None for c in chunks_of(encoded(document(5), dense), VERSION, dense))


def test_a_window_of_zeros_goes_without_a_vector_and_the_others_keep_theirs() -> None:
    dense = spec(experts=(Expert.DENSE,), granularities=(Granularity.G2,))
    item = encoded(document(5), dense)
    item.dense[Granularity.G2][2] = 0
    vectors = [c.dense for c in chunks_of(item, VERSION, dense)]
    assert [v is None for v in vectors] == [False, False, True, False]


def test_vectors_that_are_fewer_than_windows_are_an_error() -> None:
    """Never silently a set with holes."""
    dense = spec(experts=(Expert.DENSE,), granularities=(Granularity.G2,))
    item = encoded(document(5), dense)
    short = replace(item, dense={Granularity.G2: item.dense[Granularity.G2][:-1]})
    with pytest.raises(IndexError):
        list(chunks_of(short, VERSION, dense))


@PROPERTY
@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=100))
def test_blocks_hold_the_exact_text_and_every_sentence_once(sentences: list[str]) -> None:
    text = "".join(sentences)
    bounds = tuple(np.cumsum([0, *map(len, sentences)]).tolist())
    parts = SplitDocument(Document(id="a", text=text), bounds, tuple(range(len(sentences))))
    blocks = list(blocks_of(parts, VERSION))
    assert "".join(block.text for block in blocks) == text
    assert [block.number for block in blocks] == list(range(-(-len(sentences) // 32)))
    assert [count for block in blocks for count in block.counts] == list(parts.counts)
    there = [block.text[a:b] for block in blocks for a, b in zip(block.bounds, block.bounds[1:], strict=False)]
    assert there == sentences
    assert [text[block.start : block.start + len(block.text)] for block in blocks] == [b.text for b in blocks]


@PROPERTY
@given(st.text(), st.text(), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_ids_in_engines_hold_no_text_of_the_user(collection: str, id: str, generation: int, first: int) -> None:
    document = DocumentKey(collection, id).hash
    version = version_of(document, generation)
    assert document_hash(document_id(document)) == document
    assert len(document_id(document)) == 22
    chunk = chunk_id(ChunkId(Granularity.G2, version, first))
    assert chunk == f"{document_id(document)}.{generation}.{first}"
    assert block_id(BlockId(version, first)) == chunk
    assert set(chunk) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


@PROPERTY
@given(st.integers(1, 80))
def test_ids_of_different_windows_differ_within_an_index(sentences: int) -> None:
    for granularity in Granularity:
        ids = [chunk_id(ChunkId(granularity, VERSION, w.first)) for w in windows(sentences, granularity)]
        assert len(set(ids)) == len(ids)


IDS = """
from tests.fakes.encoders import encoded, spec
from umg_search.model import Document, version_of
from umg_search.store.actions import block_action, chunk_action
from umg_search.store.entries import blocks_of, chunks_of
text = "One fish. Two fish. " * 3
for key in (("a", "x"), ("a", "y"), ("b", "x")):
    document = encoded(Document(id=key[1], text=text, collection=key[0], acl=("z", "y", "x")), spec())
    version = version_of(document.split.document.key.hash, 1)
    for chunk in chunks_of(document, version, spec()):
        print(chunk_action(chunk.granularity.label, chunk, None).lines)
    for block in blocks_of(document.split, version):
        print(block_action("text", block).lines)
"""


def test_the_same_paragraph_has_the_same_ids_and_entries_whatever_pythons_hash_seed() -> None:
    """The same paragraph twice in a document, in two documents, in two tenants with other PYTHONHASHSEED: all kept,
    the same ids on a re-run."""
    root = str(Path(__file__).parents[3])
    printed = [
        subprocess.run(  # noqa: S603 - the script above
            [sys.executable, "-c", IDS],
            env={**os.environ, "PYTHONPATH": root, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    entries = sum(window_count(6, granularity) for granularity in Granularity) + 1
    assert len(set(printed[0].splitlines())) == 3 * entries
