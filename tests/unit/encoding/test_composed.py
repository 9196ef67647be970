import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.encoding.composed import compose_dense
from umg_search.encoding.vectors import bad_rows, normalised
from umg_search.granularity import FINEST, Granularity
from umg_search.windows import tiles, windows

counts_lists = st.lists(st.integers(0, 40), min_size=1, max_size=70)


def finest_vectors(sentences: int, seed: int) -> np.ndarray:
    count = len(windows(sentences, FINEST))
    return normalised(np.random.default_rng(seed).normal(size=(count, 6)).astype(np.float32))


@given(counts_lists, st.integers(0, 99))
def test_dense_is_the_token_weighted_mean_of_the_tiles(counts: list[int], seed: int) -> None:
    finest = finest_vectors(len(counts), seed)
    numbers = {window: i for i, window in enumerate(windows(len(counts), FINEST))}
    for granularity, rows in compose_dense(finest, counts, Granularity).items():
        for row, window in zip(rows, windows(len(counts), granularity), strict=True):
            total = sum(max(1, sum(counts[t.first : t.last])) * finest[numbers[t]].astype(float) for t in tiles(window))
            np.testing.assert_allclose(row, total / np.linalg.norm(total), atol=2e-6)
            assert np.linalg.norm(row) == pytest.approx(1, abs=1e-6)


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
