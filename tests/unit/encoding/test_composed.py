import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.encoding.composed import compose_dense, compose_sparse, tile_rows
from umg_search.encoding.vectors import bad_rows, maxima, normalised
from umg_search.granularity import FINEST, Granularity
from umg_search.model import SparseVector
from umg_search.windows import tiles, windows

counts_lists = st.lists(st.integers(0, 40), min_size=1, max_size=70)


def finest_vectors(sentences: int, seed: int) -> np.ndarray:
    count = len(windows(sentences, FINEST))
    return normalised(np.random.default_rng(seed).normal(size=(count, 6)).astype(np.float32))


def finest_sparse(sentences: int, seed: int) -> list[SparseVector]:
    rng = np.random.default_rng(seed)
    vectors = []
    for _ in windows(sentences, FINEST):
        terms = np.sort(rng.choice(30, size=rng.integers(0, 8), replace=False)).astype(np.int32)
        vectors.append(SparseVector(terms, rng.uniform(0.01, 3, size=len(terms)).astype(np.float32)))
    return vectors


@given(st.integers(0, 90), st.sampled_from(Granularity))
def test_tile_rows_are_the_tiles_of_each_window(sentences: int, granularity: Granularity) -> None:
    rows, lengths = tile_rows(sentences, granularity)
    numbers = {window: i for i, window in enumerate(windows(sentences, FINEST))}
    expected = [[numbers[tile] for tile in tiles(window)] for window in windows(sentences, granularity)]
    assert [len(e) for e in expected] == lengths.tolist()
    assert [row for e in expected for row in e] == rows.tolist()


@given(counts_lists, st.integers(0, 99))
def test_dense_is_the_token_weighted_mean_of_the_tiles(counts: list[int], seed: int) -> None:
    finest = finest_vectors(len(counts), seed)
    numbers = {window: i for i, window in enumerate(windows(len(counts), FINEST))}
    for granularity, rows in compose_dense(finest, counts, Granularity).items():
        for row, window in zip(rows, windows(len(counts), granularity), strict=True):
            total = sum(max(1, sum(counts[t.first : t.last])) * finest[numbers[t]].astype(float) for t in tiles(window))
            np.testing.assert_allclose(row, total / np.linalg.norm(total), atol=2e-6)
            assert np.linalg.norm(row) == pytest.approx(1, abs=1e-6)


@given(counts_lists, st.integers(0, 99))
def test_sparse_is_the_largest_weight_of_each_term_over_the_tiles(counts: list[int], seed: int) -> None:
    finest = finest_sparse(len(counts), seed)
    numbers = {window: i for i, window in enumerate(windows(len(counts), FINEST))}
    for granularity, rows in compose_sparse(finest, len(counts), Granularity).items():
        for row, window in zip(rows, windows(len(counts), granularity), strict=True):
            expected: dict[int, float] = {}
            for tile in tiles(window):
                for term, weight in zip(*finest[numbers[tile]], strict=True):
                    expected[int(term)] = max(expected.get(int(term), 0), float(weight))
            assert dict(zip(row.terms.tolist(), row.weights.tolist(), strict=True)) == expected
            assert row.terms.tolist() == sorted(expected)
            assert row.terms.dtype == np.int32
            assert row.weights.dtype == np.float32


def test_vectors_that_cancel_out_give_no_vector_rather_than_nan() -> None:
    finest = np.asarray([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    row = compose_dense(finest, [3, 3, 3, 3], [Granularity.G4])[Granularity.G4]
    assert row.tolist() == [[0, 0]]
    assert bad_rows(row).tolist() == [0]


def test_a_window_without_a_vector_counts_for_nothing() -> None:
    finest = np.asarray([[0, 0], [0, 1], [1, 0]], dtype=np.float32)
    assert compose_dense(finest, [3, 3, 3, 3], [Granularity.G4])[Granularity.G4].tolist() == [[1, 0]]


def test_an_empty_document_has_no_encodings() -> None:
    dense = compose_dense(np.empty((0, 4), np.float32), [], Granularity)
    assert {rows.shape for rows in dense.values()} == {(0, 4)}
    assert all(not rows for rows in compose_sparse([], 0, Granularity).values())


def test_maxima_do_not_depend_on_how_groups_are_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    finest = finest_sparse(60, 1)
    whole = maxima(finest, *tile_rows(60, Granularity.G8))
    monkeypatch.setattr("umg_search.encoding.vectors._BLOCK", 3)
    parts = maxima(finest, *tile_rows(60, Granularity.G8))
    assert [(v.terms.tolist(), v.weights.tolist()) for v in whole] == [
        (v.terms.tolist(), v.weights.tolist()) for v in parts
    ]


@pytest.mark.long
def test_five_thousand_sentences_compose_in_a_fraction_of_a_second() -> None:
    rng = np.random.default_rng(0)
    finest = normalised(rng.normal(size=(4999, 384)).astype(np.float32))
    start = time.process_time()
    compose_dense(finest, [20] * 5000, Granularity)
    assert time.process_time() - start < 0.5


def test_bad_rows_are_zero_nan_or_infinite() -> None:
    rows = np.asarray([[1, 0], [0, 0], [np.nan, 1], [np.inf, 1], [0, -2]], dtype=np.float32)
    assert bad_rows(rows).tolist() == [1, 2, 3]
    assert bad_rows(normalised(rows)).tolist() == [1, 2, 3]
