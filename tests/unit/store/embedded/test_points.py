from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from umg_search.model import DocumentKey, DocumentVersion, SparseVector, version_of
from umg_search.store.embedded.points import dense_fault, point_id, sparse_fault

VERSION = version_of(DocumentKey("default", "a").hash, 1)


def sparse(terms: list[int], weights: list[float]) -> SparseVector:
    return SparseVector(np.array(terms, np.int32), np.array(weights, np.float32))


def test_a_point_id_never_changes() -> None:
    """Ids are on disk, another formula would store every chunk twice: `head -c 24 /dev/zero | b2sum -l 128`."""
    assert point_id(DocumentVersion(bytes(20)), 0) == UUID("941e0c50-2c87-4788-11f1-b6a130227018")


def test_point_ids_differ_by_version_and_by_sentence() -> None:
    other = version_of(DocumentKey("default", "a").hash, 2)
    assert len({point_id(VERSION, 0), point_id(VERSION, 1), point_id(other, 0)}) == 3


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
