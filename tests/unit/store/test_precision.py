"""What is kept of encodings, whatever their scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.model import SparseVector, VectorType
from umg_search.store.precision import LEAST_WEIGHT, WEIGHT_BITS, decimals, stored_vector, stored_weights


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1.0, 1e20, 1e37])
@pytest.mark.parametrize("kind", VectorType)
def test_the_scale_of_a_vector_leaves_no_trace(kind: VectorType, scale: float) -> None:
    rows = np.array([[3, 4], [-1, 0.5]])
    stored = stored_vector((rows * scale).astype(np.float32), kind)
    np.testing.assert_allclose(stored.astype(np.float64), stored_vector(rows, kind).astype(np.float64), rtol=1e-6)
    if kind is VectorType.FLOAT32:
        np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1.0, rtol=1e-6)


@given(st.lists(st.floats(0, width=32, allow_infinity=False), min_size=1))
def test_every_weight_that_is_kept_is_one_that_servers_take(weights: list[float]) -> None:
    terms = np.arange(len(weights), dtype=np.int32)
    kept = stored_weights(SparseVector(terms, np.array(weights, np.float32)))
    assert kept.terms.tolist() == [i for i, w in enumerate(weights) if np.float32(w) >= LEAST_WEIGHT]
    assert all(weight >= LEAST_WEIGHT for weight in kept.weights)
    written = np.array([float(text) for text in decimals(kept.weights)], np.float32)
    assert (written.view(np.uint32) >> WEIGHT_BITS << WEIGHT_BITS == kept.weights.view(np.uint32)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_a_weight_that_is_to_be_refused_is_not_dropped(bad: float) -> None:
    kept = stored_weights(SparseVector(np.array([1, 2], np.int32), np.array([bad, 1.0], np.float32)))
    assert kept.terms.tolist() == [1, 2]
