from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.fakes.encoders import encoded, spec, split
from tests.unit.ranking.lists import PROPERTY, ranked_lists
from umg_search.errors import ConfigurationError
from umg_search.evaluation.cache import Cache, digest
from umg_search.evaluation.codec import (
    document_from_arrays,
    document_to_arrays,
    lists_from_arrays,
    lists_to_arrays,
    pack,
    query_from_arrays,
    query_to_arrays,
    unpack,
)
from umg_search.model import Document, EncodedQuery, RankedList, SparseVector


def test_what_was_put_is_there_for_the_next_run(tmp_path: Path) -> None:
    with Cache(tmp_path / "new" / "cache") as cache:
        cache.put({b"a": b"one", b"b": b""})
        cache.put({b"a": b"two"})
    with Cache(tmp_path / "new" / "cache") as cache:
        assert [cache.get(key) for key in (b"a", b"b", b"c")] == [b"two", b"", None]


def test_a_cache_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="choose another"):
        Cache(tmp_path / "file")
    (tmp_path / "evaluation.sqlite").write_bytes(b"not a database, but long enough to be taken for one" * 20)
    with pytest.raises(ConfigurationError, match="choose another"):
        Cache(tmp_path)


def test_a_digest_tells_parts_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest("a", 1) == digest("a", 1) != digest("a", "1")
    assert digest("\ud800") != digest("\ud801")


@PROPERTY
@given(ranked_lists())
def test_ranked_lists_come_back(lists: list[RankedList]) -> None:
    found = lists_from_arrays(unpack(pack(lists_to_arrays(lists))))
    assert [ranked.channel for ranked in found] == [ranked.channel for ranked in lists]
    for one, other in zip(found, lists, strict=True):
        assert one.hits.distinct == other.hits.distinct
        assert (one.hits.table == other.hits.table).all()
        assert (one.hits.counts == other.hits.counts).all()
        assert (one.scores == other.scores).all()


def test_empty_lists_come_back() -> None:
    assert lists_from_arrays(unpack(pack(lists_to_arrays([])))) == ()


@pytest.mark.parametrize("with_sparse", [True, False])
def test_questions_come_back(*, with_sparse: bool) -> None:
    sparse = SparseVector(np.array([3, 9], np.int32), np.array([0.5, 2], np.float32)) if with_sparse else None
    query = EncodedQuery("why?", None if with_sparse else np.ones(4, np.float32), sparse)
    found = query_from_arrays("why?", unpack(pack(query_to_arrays(query))))
    assert found.text == "why?"
    assert (found.dense is None, found.sparse is None) == (with_sparse, not with_sparse)
    assert found.dense is None or (found.dense == query.dense).all()
    assert found.sparse is None or (found.sparse.weights == sparse.weights).all()


def test_documents_come_back() -> None:
    document = encoded(Document("a", "One sentence here. Another one there. And a third. " * 9), spec())
    found = document_from_arrays(split(document.split.document), unpack(pack(document_to_arrays(document))))
    assert found.split == document.split
    assert found.dense.keys() == document.dense.keys()
    for granularity, rows in document.dense.items():
        assert (found.dense[granularity] == rows).all()
        for one, other in zip(found.sparse[granularity], document.sparse[granularity], strict=True):
            assert (one.terms == other.terms).all()
            assert (one.weights == other.weights).all()
