import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.granularity import FINEST, Granularity
from umg_search.model import SparseVector
from umg_search.sparse_vectors import MOST_WEIGHTS, compose_sparse, heaviest, kept, maxima, tile_rows
from umg_search.windows import tiles, windows

counts_lists = st.lists(st.integers(0, 40), min_size=1, max_size=70)


def sparse(weights: list[float]) -> SparseVector:
    return SparseVector(np.arange(len(weights), dtype=np.int32), np.array(weights, dtype=np.float32))


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


def test_an_empty_document_has_no_encodings() -> None:
    assert all(not rows for rows in compose_sparse([], 0, Granularity).values())


def test_a_long_window_keeps_the_heaviest_of_its_terms() -> None:
    """Windows of 32 sentences share their terms with many others; the light ones cost bytes and find nothing."""
    finest = [SparseVector(np.arange(i * 40, i * 40 + 40, dtype=np.int32), np.linspace(1, 2, 40)) for i in range(31)]
    (row,) = compose_sparse(finest, 32, [Granularity.G32])[Granularity.G32]
    every = maxima(finest, *tile_rows(32, Granularity.G32))[0]
    assert len(every.terms) == 16 * 40
    assert len(row.terms) == MOST_WEIGHTS
    assert row.weights.min() >= np.sort(every.weights)[-MOST_WEIGHTS]


@given(st.lists(st.floats(2**-20, 2**10, width=32), max_size=300))
def test_what_is_kept_stays_as_it_is_when_it_is_kept_again(weights: list[float]) -> None:
    once = kept(sparse(weights))
    again = kept(once)
    assert (once.terms.tolist(), once.weights.tolist()) == (again.terms.tolist(), again.weights.tolist())
    assert len(once.terms) == min(MOST_WEIGHTS, len(weights))
    exact = np.asarray(weights, dtype=np.float64)[once.terms]
    assert np.all(once.weights <= exact)
    assert np.all(once.weights > exact * (1 - 2**-8))


def test_the_heaviest_terms_are_kept_in_order_of_their_ids() -> None:
    kept, dropped = heaviest(sparse([0.5, 2.0, 1.0, 3.0]), most=2)
    assert (kept.terms.tolist(), kept.weights.tolist(), dropped) == ([1, 3], [2.0, 3.0], 4 - 2)


def test_of_equally_heavy_terms_those_of_lower_id_are_kept() -> None:
    assert heaviest(sparse([1.0, 1.0, 1.0]), most=2)[0].terms.tolist() == [0, 1]


def test_a_vector_of_few_terms_is_left_as_it_is() -> None:
    vector = sparse([1.0, 2.0])
    assert heaviest(vector, 2) == (vector, 0)


@given(st.lists(st.floats(0.125, 5, width=16), max_size=30), st.integers(1, 20))
def test_no_term_that_is_dropped_is_heavier_than_one_that_is_kept(weights: list[float], most: int) -> None:
    kept, dropped = heaviest(sparse(weights), most=most)
    assert len(kept.terms) + dropped == len(weights)
    assert len(kept.terms) == min(most, len(weights))
    left_out = set(range(len(weights))) - set(kept.terms.tolist())
    assert max((weights[i] for i in left_out), default=0) <= min(kept.weights.tolist(), default=9)
    assert kept.terms.tolist() == sorted(kept.terms.tolist())


def test_maxima_do_not_depend_on_how_groups_are_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    finest = finest_sparse(60, 1)
    whole = maxima(finest, *tile_rows(60, Granularity.G8))
    monkeypatch.setattr("umg_search.sparse_vectors._BLOCK", 3)
    parts = maxima(finest, *tile_rows(60, Granularity.G8))
    assert [(v.terms.tolist(), v.weights.tolist()) for v in whole] == [
        (v.terms.tolist(), v.weights.tolist()) for v in parts
    ]
