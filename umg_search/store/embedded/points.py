"""Chunks as points of a Qdrant Edge shard: ids and payloads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as qdrant

from umg_search.granularity import Expert
from umg_search.model import DocumentVersion, EncodedQuery, SetSpec, SparseVector, StoredVector
from umg_search.ports import Chunk, ChunkId
from umg_search.store.embedded.filters import COLLECTION, attributes_payload
from umg_search.store.embedded.translation import reason
from umg_search.store.embedded.words import words
from umg_search.store.soundness import chunk_fault

DENSE = "dense"
SPARSE = "sparse"
UNIT = "unit"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Checked:
    """Chunks that can be stored, as points, and a reason for each that cannot."""

    points: Mapping[ChunkId, qdrant.Point]
    failed: Mapping[ChunkId, str]


def id_of(chunk: Chunk) -> ChunkId:
    """Return the identity of a chunk."""
    return ChunkId(chunk.granularity, chunk.version, chunk.first)


def point_id(version: DocumentVersion, first: int) -> UUID:
    """Return the point id of a chunk; the granularity is the shard's."""
    return UUID(bytes=blake2b(version + first.to_bytes(4, "big"), digest_size=16).digest())


def to_points(chunks: Sequence[Chunk], spec: SetSpec) -> Checked:
    """Check chunks and build their points; of two with one identity the later is kept."""
    points: dict[ChunkId, qdrant.Point] = {}
    failed: dict[ChunkId, str] = {}
    for chunk in chunks:
        why = chunk_fault(chunk, spec)
        if why:
            failed[id_of(chunk)] = why
            continue
        try:
            points[id_of(chunk)] = _to_point(chunk, spec)
        except (TypeError, ValueError) as error:  # a lone surrogate in collection or ACL
            failed[id_of(chunk)] = f"the chunk cannot be stored ({reason(error)})"
    return Checked(points, failed)


def expert_query(expert: Expert, query: EncodedQuery) -> qdrant.Query | qdrant.TextQuery | None:
    """Return what an expert asks a shard; None where the query has no such encoding."""
    if expert is Expert.LEXICAL:
        return qdrant.TextQuery(TEXT, words(query.text))
    if expert is Expert.DENSE:
        return None if query.dense is None else qdrant.Query.Nearest(_to_list(query.dense), using=DENSE)
    return None if query.sparse is None else qdrant.Query.Nearest(_to_sparse(query.sparse), using=SPARSE)


def _to_point(chunk: Chunk, spec: SetSpec) -> qdrant.Point:
    vector: dict[str, Any] = {}
    if chunk.dense is not None and Expert.DENSE in spec.experts:
        vector[DENSE] = _to_list(chunk.dense)
    if chunk.sparse is not None and len(chunk.sparse.terms) and Expert.SPARSE in spec.experts:
        vector[SPARSE] = _to_sparse(chunk.sparse)
    payload: dict[str, Any] = {
        UNIT: chunk.unit.decode("ascii"),
        COLLECTION: chunk.collection,
        **attributes_payload(chunk.attributes),
    }
    if chunk.text is not None and Expert.LEXICAL in spec.experts:
        payload[TEXT] = words(chunk.text)
    return qdrant.Point(point_id(chunk.version, chunk.first), vector, payload)


def _to_list(vector: StoredVector) -> list[float]:
    # Qdrant normalises in float32 and leaves a vector as it is whose square underflows there.
    exact = vector.astype(np.float64)
    values: list[float] = (exact / np.linalg.norm(exact)).tolist()
    return values


def _to_sparse(vector: SparseVector) -> qdrant.SparseVector:
    return qdrant.SparseVector(vector.terms.tolist(), vector.weights.tolist())
