"""What `_source` leaves out of chunk entries, and the packed copy from which a change of an entry restores it.

As JSON, vectors and term weights were most of an index. Servers rebuild an entry from its `_source` at a partial
update, so whoever sends one supplies what is missing there. OpenSearch 3 and Elasticsearch 9.2 leave vectors out by
themselves and put them back, but OpenSearch does so only where `_source` is otherwise whole: sets without the sparse
expert leave it so.
"""

import zlib
from binascii import a2b_base64, b2a_base64
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import orjson

from umg_search.granularity import FINEST, Granularity
from umg_search.model import DocumentVersion, Encoding, SetSpec, SparseVector, StoredVector
from umg_search.ports import Chunk, ChunkId
from umg_search.sparse_vectors import WEIGHT_BITS, compose_sparse
from umg_search.store.precision import decimals

_LENGTH = 4
"""Bytes of the length of the vector's part, big-endian."""

_EMPTY = SparseVector(np.empty(0, np.int32), np.empty(0, np.float32))


class Copy(NamedTuple):
    """What an entry is asked for by vectors and terms; None where it has none."""

    dense: StoredVector | None = None
    sparse: SparseVector | None = None


def has_copies(spec: SetSpec) -> bool:
    """Return whether the entries of a set hold copies, and their `_source` no vectors and terms."""
    return spec.sparse is not None


def copied(chunk: Chunk, spec: SetSpec) -> Copy:
    """Return what the copy of an entry holds: terms only where they cannot be composed from others'."""
    composed = spec.encoding is Encoding.COMPOSED and chunk.granularity is not FINEST
    return Copy(chunk.dense, None if composed else chunk.sparse)


def features(vector: SparseVector) -> orjson.Fragment:
    """Return the object of `rank_features`: a weight for each term, named by its vocabulary id."""
    pairs = zip(vector.terms.tolist(), decimals(vector.weights), strict=True)
    return orjson.Fragment("{" + ",".join(f'"{term}":{weight}' for term, weight in pairs) + "}")


def pack(copy: Copy) -> str:
    """Return a copy as base64: the vector as its numbers lie in memory, then terms and weights, deflated."""
    dense = b"" if copy.dense is None else copy.dense.tobytes()
    terms = b"" if copy.sparse is None else zlib.compress(_planes(copy.sparse))
    return b2a_base64(len(dense).to_bytes(_LENGTH) + dense + terms, newline=False).decode("ascii")


def unpack(text: str, spec: SetSpec) -> Copy:
    """Return the copy that `pack` was given."""
    raw = a2b_base64(text)
    middle = _LENGTH + int.from_bytes(raw[:_LENGTH])
    dense = np.frombuffer(raw[_LENGTH:middle], dtype=spec.vectors.value) if middle > _LENGTH else None
    return Copy(dense, _vector(zlib.decompress(raw[middle:])) if raw[middle:] else None)


def restored(spec: SetSpec, copies: Mapping[ChunkId, Copy]) -> Mapping[ChunkId, Copy]:
    """Return the copies of all entries of some documents with the terms that are composed from others'."""
    if spec.encoding is Encoding.DIRECT:
        return copies
    terms = _composed(spec, copies)
    return {chunk: copy._replace(sparse=terms.get(chunk)) for chunk, copy in copies.items()}


def _composed(spec: SetSpec, copies: Mapping[ChunkId, Copy]) -> Mapping[ChunkId, SparseVector]:
    finest: defaultdict[DocumentVersion, list[ChunkId]] = defaultdict(list)
    for chunk in sorted(copies, key=lambda chunk: chunk.first):
        if chunk.granularity is FINEST:
            finest[chunk.version].append(chunk)
    found: dict[ChunkId, SparseVector] = {}
    for version, ids in finest.items():
        vectors = [copies[chunk].sparse or _EMPTY for chunk in ids]
        # A document of one sentence has one window too, like one of two; both have the same tiles.
        for granularity, rows in compose_sparse(vectors, len(ids) + 1, spec.granularities).items():
            found |= {_id(granularity, version, number): row for number, row in enumerate(rows)}
    return found


def _id(granularity: Granularity, version: DocumentVersion, number: int) -> ChunkId:
    return ChunkId(granularity, version, number * granularity.stride)


def _planes(vector: SparseVector) -> bytes:
    """Return differences of ids (u32) and weights (u16), byte by byte: like bytes together deflate well."""
    gaps = np.diff(vector.terms, prepend=0).astype(">u4")
    weights = (vector.weights.view(np.uint32) >> WEIGHT_BITS).astype(">u2")
    return b"".join(part.view(np.uint8).reshape(-1, part.itemsize).T.tobytes() for part in (gaps, weights))


def _vector(raw: bytes) -> SparseVector:
    planes = np.frombuffer(raw, dtype=np.uint8).reshape(6, -1)
    gaps = np.ascontiguousarray(planes[:4].T).view(">u4")[:, 0]
    bits = np.ascontiguousarray(planes[4:].T).view(">u2")[:, 0].astype(np.uint32) << WEIGHT_BITS
    return SparseVector(np.cumsum(gaps).astype(np.int32), bits.view(np.float32))
