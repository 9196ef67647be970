"""Encodings of any scale, and those that nobody can compare: the same on every engine."""

from collections.abc import Iterator

import numpy as np
import pytest

from tests.contracts.test_store import Store, prose
from tests.fakes.encoders import HashedWords
from umg_search.errors import QueryError
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import Document, EncodedDocument, Outcome, SparseVector, VectorType
from umg_search.ports import Engine, Scope
from umg_search.settings import Settings
from umg_search.wiring import open_engine

DENSE = Channel(Expert.DENSE, Granularity.G2)


@pytest.fixture
def engine(engine_settings: Settings) -> Iterator[Engine]:
    opened = open_engine(engine_settings)
    yield opened
    opened.close()


def encoded(store: Store, id: str) -> EncodedDocument:
    return store.encoded(Document(id=id, text=prose("harbour", 4)))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_vectors_far_from_norm_1_have_the_cosines_of_the_others(engine: Engine, scale: float) -> None:
    store = Store(engine, granularities=(Granularity.G2,), vectors=VectorType.FLOAT32)
    item = encoded(store, "a")
    rows = item.dense[Granularity.G2].copy()
    query = HashedWords(store.spec).encode_query("harbour1 people visit")
    item.dense[Granularity.G2][:] *= np.float32(scale)
    assert store.writer.replace(store.index, [item])[0].outcome is Outcome.NEW
    lists = store.reader.ranked_lists(store.index, query, depth=5, scope=Scope()).lists
    (found,) = [ranked for ranked in lists if ranked.channel == DENSE]
    assert found.scores.tolist() == pytest.approx(sorted(rows @ query.dense, reverse=True), abs=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_vector_that_is_no_number_fails_its_document_alone_and_names_the_chunk(engine: Engine, bad: float) -> None:
    store = Store(engine, granularities=(Granularity.G2,))
    item = encoded(store, "a")
    item.dense[Granularity.G2][1, 7] = bad
    failed, fine = store.writer.replace(store.index, [item, encoded(store, "b")])
    assert failed.reason == "chunk g02 from sentence 2: the dense vector holds NaN or infinite values"
    assert fine.outcome is Outcome.NEW


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_a_weight_that_is_no_positive_number_fails_its_document_alone(engine: Engine, bad: float) -> None:
    store = Store(engine, granularities=(Granularity.G2,))
    item = encoded(store, "a")
    item.sparse[Granularity.G2][1].weights[0] = bad
    failed, fine = store.writer.replace(store.index, [item, encoded(store, "b")])
    assert failed.reason == (
        "chunk g02 from sentence 2: the sparse vector holds a weight that is not a positive number"
    )
    assert fine.outcome is Outcome.NEW


def test_weights_too_small_to_be_stored_are_left_out(engine: Engine) -> None:
    store = Store(engine, granularities=(Granularity.G2,))
    item = encoded(store, "a")
    tiny = SparseVector(np.array([0, 1, 2], np.int32), np.array([1e-45, 0.0, 1e-30], np.float32))
    item.sparse[Granularity.G2][:] = [tiny] * len(item.sparse[Granularity.G2])
    assert store.writer.replace(store.index, [item])[0].outcome is Outcome.NEW


@pytest.mark.parametrize("bad", [np.nan, -1.0])
def test_a_question_with_such_a_weight_is_refused(engine: Engine, bad: float) -> None:
    store = Store(engine, granularities=(Granularity.G2,))
    query = HashedWords(store.spec).encode_query("harbour")
    query.sparse.weights[0] = bad
    with pytest.raises(QueryError, match="not a positive number"):
        store.reader.ranked_lists(store.index, query, depth=5, scope=Scope())
