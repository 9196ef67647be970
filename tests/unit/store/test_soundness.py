import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from umg_search.model import SparseVector
from umg_search.store.soundness import dense_fault, sparse_fault


def sparse(terms: list[int], weights: list[float]) -> SparseVector:
    return SparseVector(np.array(terms, np.int32), np.array(weights, np.float32))


@given(arrays(np.float32, 4, elements=st.floats(-1, 1, width=32)))
def test_only_zero_has_no_cosine_among_finite_vectors(vector: np.ndarray) -> None:
    assert bool(dense_fault(vector, 4)) is not bool(vector.any())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_have_no_cosine(bad: float) -> None:
    assert "NaN or infinite" in dense_fault(np.array([1.0, bad], np.float32), 2)


def test_other_shapes_are_named_with_both() -> None:
    assert "(3,)" in dense_fault(np.ones(3, np.float32), 2)
    assert "(2,)" in dense_fault(np.ones(3, np.float32), 2)


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        (sparse([], []), ""),
        (sparse([0, 7], [0.5, 2.0]), ""),
        (sparse([1], [0.0]), "positive"),
        (sparse([1], [-1.0]), "positive"),
        (sparse([1], [np.nan]), "positive"),
        (sparse([1], [np.inf]), "positive"),
        (sparse([7, 1], [1.0, 1.0]), "ascending"),
        (sparse([1, 1], [1.0, 1.0]), "ascending"),
        (sparse([-1, 1], [1.0, 1.0]), "ascending"),
        (sparse([1, 2], [1.0]), "weights"),
    ],
)
def test_sparse_vectors_are_positive_weights_of_ascending_terms(vector: SparseVector, why: str) -> None:
    fault = sparse_fault(vector)
    assert why in fault
    assert bool(why) is bool(fault)
