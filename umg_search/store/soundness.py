"""Encodings that engines could not compare: refused alike on all of them, some of which would store them silently."""

import numpy as np

from umg_search.errors import IndexMismatch, QueryError
from umg_search.model import EncodedQuery, SetSpec, SparseVector, StoredVector
from umg_search.ports import Chunk


def chunk_fault(chunk: Chunk, spec: SetSpec) -> str:
    """Say why a chunk entry cannot be stored; an empty text if it can."""
    why = ""
    if chunk.dense is not None and spec.dense is not None:
        why = dense_fault(chunk.dense, spec.dense.dims)
    if chunk.sparse is not None and not why:
        why = sparse_fault(chunk.sparse)
    return why


def check_query(query: EncodedQuery, spec: SetSpec) -> None:
    """Refuse a query whose encodings cannot be compared: IndexMismatch for other dimensions, else QueryError."""
    if query.dense is not None and spec.dense is not None:
        if query.dense.shape != (spec.dense.dims,):
            raise IndexMismatch(
                f"The query vector has shape {query.dense.shape}, and the index set holds vectors of "
                f"{spec.dense.dims} dimensions ({spec.dense.name}): use the model that the set was made with."
            )
        why = dense_fault(query.dense, spec.dense.dims)
        if why:
            raise QueryError(f"The query cannot be searched with: {why}.")
    why = sparse_fault(query.sparse) if query.sparse is not None else ""
    if why:
        raise QueryError(f"The query cannot be searched with: {why}.")


def dense_fault(vector: StoredVector, dims: int) -> str:
    """Say why a vector has no cosine with others; an empty text if it has."""
    if vector.shape != (dims,):
        return f"the dense vector has shape {vector.shape}, and the index set needs ({dims},)"
    if not np.isfinite(vector).all():
        return "the dense vector holds NaN or infinite values"
    if not vector.any():
        return "the dense vector is all zeros"
    return ""


def sparse_fault(vector: SparseVector) -> str:
    """Say why a sparse vector cannot be stored or searched with; an empty text if it can."""
    if vector.terms.shape != vector.weights.shape or vector.terms.ndim != 1:
        return f"the sparse vector has {vector.terms.shape} terms and {vector.weights.shape} weights"
    if not (np.isfinite(vector.weights) & (vector.weights > 0)).all():
        return "the sparse vector holds a weight that is not a positive number"
    if len(vector.terms) and (vector.terms[0] < 0 or (np.diff(vector.terms) <= 0).any()):
        return "the terms of the sparse vector are not in ascending order from 0 on"
    return ""
