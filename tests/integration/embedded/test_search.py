from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from umg_search.errors import IndexMismatch, QueryError
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import EncodedQuery, SparseVector
from umg_search.ports import Attributes, ChunkId, Scope
from umg_search.windows import window_count

TEXTS = [f"word number{i}" for i in range(40)]
ALL = {Channel(e, g): window_count(40, g) for e in Expert for g in Granularity}


def test_every_channel_finds_every_window_and_the_unit_comes_back_as_written(shelf: Any) -> None:
    chunks = shelf.add(shelf.encoded("a", TEXTS))
    assert shelf.found() == ALL
    g8 = next(ranked for ranked in shelf.search().lists if ranked.channel == Channel(Expert.SPARSE, Granularity.G8))
    written = {(c.version, c.first) for c in chunks if c.granularity is Granularity.G8}
    assert set(zip(g8.hits.versions, g8.hits.first.tolist(), strict=True)) == written
    assert g8.hits.counts.tolist()[:8] == [2] * 8


def test_lists_come_in_the_order_of_the_set_and_are_cut_at_the_depth(shelf: Any) -> None:
    shelf.add(shelf.encoded("a", TEXTS))
    lists = shelf.search(depth=3).lists
    assert [ranked.channel for ranked in lists] == list(shelf.index.spec.channels)
    assert {len(ranked.hits) for ranked in lists} == {2, 3}  # 32-sentence windows of 40 sentences: 2


def test_a_part_of_the_set_can_be_asked_and_then_the_whole(open_shelf: Any) -> None:
    first = open_shelf()
    chunks = first.add(first.encoded("a", TEXTS))
    first.engine.publish(first.index)
    first.engine.close()
    shelf = open_shelf()
    part = replace(shelf.index.spec, experts=(Expert.LEXICAL,), granularities=(Granularity.G8,))
    answer = shelf.engine.ranked_lists(
        replace(shelf.index, spec=part), EncodedQuery("word"), depth=5, scope=Scope(principals=("*",))
    )
    assert [ranked.channel for ranked in answer.lists] == [Channel(Expert.LEXICAL, Granularity.G8)]
    assert answer.failed == {}
    assert shelf.found() == ALL
    assert len(chunks) == sum(ALL.values()) / len(Expert)


def test_dense_scores_are_cosines_and_the_order_is_exact(shelf: Any) -> None:
    chunks = shelf.add(shelf.encoded("a", TEXTS))
    vectors = np.stack([c.dense for c in chunks if c.granularity is Granularity.G2])
    query = np.ones(8, np.float32)
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    dense = shelf.search().lists[0]
    assert dense.scores.tolist() == pytest.approx(np.sort(cosines)[::-1].tolist(), abs=1e-6)


def test_the_length_of_a_vector_does_not_change_its_cosine(shelf: Any) -> None:
    encoded = shelf.encoded("a", ["word"])
    chunks = [replace(c, dense=c.dense * np.float32(1e-25)) for c in shelf.chunks(encoded)]
    shelf.engine.write_chunks(shelf.index, chunks)
    short = [ranked.scores[0] for ranked in shelf.search().lists if ranked.channel.expert is Expert.DENSE]
    shelf.engine.write_chunks(shelf.index, shelf.chunks(encoded))
    long = [ranked.scores[0] for ranked in shelf.search().lists if ranked.channel.expert is Expert.DENSE]
    assert short == pytest.approx(long, abs=1e-6)


def test_sparse_scores_are_dot_products(shelf: Any) -> None:
    shelf.add(shelf.encoded("a", TEXTS))
    query = EncodedQuery("", None, SparseVector(np.array([1, 5], np.int32), np.array([0.5, 3.0], np.float32)))
    retrieval = shelf.engine.ranked_lists(shelf.index, query, depth=5, scope=Scope())
    sparse = {ranked.channel: ranked for ranked in retrieval.lists}[Channel(Expert.SPARSE, Granularity.G2)]
    assert sparse.scores.tolist() == [0.5 * 1 + 3 * 2, 0.5, 0.5, 0.5, 0.5]  # row 3 has term 2 + 3
    assert sparse.hits.first[0] == 3


def test_equal_scores_are_ordered_by_unit(shelf: Any) -> None:
    shelf.add(shelf.encoded("a", ["word"] * 40))
    sparse = {ranked.channel: ranked for ranked in shelf.search().lists}[Channel(Expert.SPARSE, Granularity.G2)]
    assert sparse.hits.first.tolist() == sorted(sparse.hits.first.tolist())


def test_bm25_prefers_the_rare_word_and_the_short_window(shelf: Any) -> None:
    shelf.add(shelf.encoded("a", ["word rare", "word", "word word word long long long", "word"]))
    lexical = {ranked.channel: ranked for ranked in shelf.search("rare word").lists}
    ranked = lexical[Channel(Expert.LEXICAL, Granularity.G2)]
    assert ranked.hits.first[0] == 0
    assert len(ranked.hits) == 3


@pytest.mark.parametrize(
    ("query", "finds"),
    [("DON'T", True), ("don", False), ("3.14", True), ("東京", True), ("京", True), ("gone", False), ("...", False)],
)
def test_lexical_words_are_those_of_the_standard_analyzer(shelf: Any, query: str, finds: bool) -> None:  # noqa: FBT001
    shelf.add(shelf.encoded("a", ["We don't eat 3.14 pies", "東京都に住む"]))
    experts = {channel.expert for channel in shelf.found(query)}
    assert (Expert.LEXICAL in experts) is finds


def test_collections_and_principals_filter_every_list(shelf: Any) -> None:
    shelf.add(shelf.encoded("a", TEXTS, collection="one", acl=("ann", "bob")))
    shelf.add(shelf.encoded("b", TEXTS, collection="two", acl=("*",)))
    shelf.add(shelf.encoded("c", TEXTS, collection="two", acl=()))
    twice = {channel: 2 * n for channel, n in ALL.items()}
    assert shelf.found(collection="one") == ALL
    assert shelf.found(collection="none") == {}
    assert shelf.found(principals=()) == ALL
    assert shelf.found(principals=("ann", "zoe")) == twice
    assert shelf.found(collection="two", principals=("ann",)) == ALL


def test_a_change_of_access_leaves_the_chunk_to_all_experts(shelf: Any) -> None:
    encoded = shelf.encoded("a", TEXTS, acl=("ann",))
    shelf.add(encoded)
    assert (
        shelf.engine.update_attributes(shelf.index, [(shelf.ids(encoded).chunks, Attributes(("bob",), {}, ()))]) == {}
    )
    shelf.engine.publish(shelf.index)
    assert shelf.found(principals=("ann",)) == {}
    assert shelf.found(principals=("bob",)) == ALL


def test_a_change_of_access_names_missing_chunks_and_changes_the_others(shelf: Any) -> None:
    encoded = shelf.encoded("a", TEXTS, acl=("ann",))
    shelf.add(encoded)
    missing = ChunkId(Granularity.G2, shelf.version(encoded), 999)
    failed = shelf.engine.update_attributes(
        shelf.index, [([missing, *shelf.ids(encoded).chunks], Attributes(("bob",), {}, ()))]
    )
    assert failed == {missing: "there is no such chunk"}
    assert shelf.found(principals=("bob",)) == ALL


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_chunk_with_an_unusable_vector_is_named_and_the_rest_is_stored(shelf: Any, bad: float) -> None:
    first, *others = shelf.chunks(shelf.encoded("a", TEXTS))
    broken = replace(first, dense=np.full(8, bad, np.float32))
    failed = shelf.engine.write_chunks(shelf.index, [broken, *others])
    assert list(failed) == [ChunkId(first.granularity, first.version, first.first)]
    assert "dense vector" in failed[next(iter(failed))]
    assert sum(shelf.found().values()) == sum(ALL.values()) - 3


def test_a_chunk_of_other_dimensions_is_named(shelf: Any) -> None:
    first, *_ = shelf.chunks(shelf.encoded("a", TEXTS))
    failed = shelf.engine.write_chunks(shelf.index, [replace(first, dense=np.ones(9, np.float32))])
    assert "(9,)" in next(iter(failed.values()))
    assert "(8,)" in next(iter(failed.values()))


def test_a_chunk_that_qdrant_refuses_is_named(shelf: Any) -> None:
    first, *others = shelf.chunks(shelf.encoded("a", TEXTS))
    failed = shelf.engine.write_chunks(shelf.index, [replace(first, collection="\ud800"), *others])
    assert list(failed) == [ChunkId(first.granularity, first.version, first.first)]


def test_chunks_without_a_vector_are_found_by_the_other_experts(shelf: Any) -> None:
    chunks = [replace(c, dense=None) for c in shelf.chunks(shelf.encoded("a", TEXTS))]
    assert shelf.engine.write_chunks(shelf.index, chunks) == {}
    assert {channel.expert for channel in shelf.found()} == {Expert.SPARSE, Expert.LEXICAL}


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_an_unusable_query_vector_is_refused(shelf: Any, bad: float) -> None:
    query = EncodedQuery("word", np.full(8, bad, np.float32))
    with pytest.raises(QueryError, match="dense vector"):
        shelf.engine.ranked_lists(shelf.index, query, depth=5, scope=Scope())


def test_a_query_vector_of_other_dimensions_names_both(shelf: Any) -> None:
    query = EncodedQuery("word", np.ones(9, np.float32))
    with pytest.raises(IndexMismatch, match=r"\(9,\).* 8 "):
        shelf.engine.ranked_lists(shelf.index, query, depth=5, scope=Scope())


def test_a_query_without_an_encoding_fails_in_those_channels_only(shelf: Any) -> None:
    shelf.add(shelf.encoded("a", TEXTS))
    retrieval = shelf.engine.ranked_lists(shelf.index, EncodedQuery("word"), depth=5, scope=Scope())
    assert {channel.expert for channel in retrieval.failed} == {Expert.DENSE, Expert.SPARSE}
    assert [ranked.channel.expert for ranked in retrieval.lists] == [Expert.LEXICAL] * 5


def test_a_damaged_shard_fails_in_its_channels_only(shelf: Any, open_shelf: Any) -> None:
    shelf.add(shelf.encoded("a", TEXTS))
    folder = shelf.engine._path / "v1" / "g04"
    shelf.engine.close()
    folder.rename(folder.with_name("elsewhere"))
    retrieval = open_shelf().search()
    assert {channel.granularity for channel in retrieval.failed} == {Granularity.G4}
    assert {ranked.channel.granularity for ranked in retrieval.lists} == set(Granularity) - {Granularity.G4}
