"""Sparse vectors on servers: fields of an entry, and a packed copy from which a change of the entry restores them.

As JSON in `_source` they were three quarters of an index. They are left out there, and what servers rebuild an entry
from at a partial update lacks them: whoever sends one supplies them. Composed windows are composed again from the
finest ones, so only those have a copy.
"""

import zlib
from binascii import a2b_base64, b2a_base64
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import orjson

from umg_search.granularity import FINEST, Granularity
from umg_search.model import DocumentVersion, Encoding, SetSpec, SparseVector
from umg_search.ports import ChunkId
from umg_search.sparse_vectors import WEIGHT_BITS, compose_sparse
from umg_search.store.precision import decimals


def features(vector: SparseVector) -> orjson.Fragment:
    """Return the object of `rank_features`: a weight for each term, named by its vocabulary id."""
    pairs = zip(vector.terms.tolist(), decimals(vector.weights), strict=True)
    return orjson.Fragment("{" + ",".join(f'"{term}":{weight}' for term, weight in pairs) + "}")


def pack(vector: SparseVector) -> str:
    """Return a kept vector as text: differences of ids (u32) and weights (u16), byte by byte, deflated, base64."""
    gaps = np.diff(vector.terms, prepend=0).astype(">u4")
    weights = (vector.weights.view(np.uint32) >> WEIGHT_BITS).astype(">u2")
    planes = [part.view(np.uint8).reshape(-1, part.itemsize).T.tobytes() for part in (gaps, weights)]
    return b2a_base64(zlib.compress(b"".join(planes)), newline=False).decode("ascii")


def unpack(text: str) -> SparseVector:
    """Return the vector that `pack` was given."""
    planes = np.frombuffer(zlib.decompress(a2b_base64(text)), dtype=np.uint8).reshape(6, -1)
    gaps = np.ascontiguousarray(planes[:4].T).view(">u4")[:, 0]
    bits = np.ascontiguousarray(planes[4:].T).view(">u2")[:, 0].astype(np.uint32) << WEIGHT_BITS
    return SparseVector(np.cumsum(gaps).astype(np.int32), bits.view(np.float32))


def has_copy(granularity: Granularity, spec: SetSpec) -> bool:
    """Return whether entries of a granularity hold a packed copy of their sparse vector."""
    return spec.sparse is not None and (granularity is FINEST or spec.encoding is Encoding.DIRECT)


def restored(
    spec: SetSpec, chunks: Iterable[ChunkId], copies: Mapping[ChunkId, SparseVector]
) -> Mapping[ChunkId, SparseVector]:
    """Return the sparse vector of each chunk; `chunks` holds all of its documents. Missing copies count as empty."""
    if spec.encoding is Encoding.DIRECT:
        return copies
    finest: defaultdict[DocumentVersion, list[ChunkId]] = defaultdict(list)
    for chunk in sorted(chunks, key=lambda chunk: chunk.first):
        if chunk.granularity is FINEST:
            finest[chunk.version].append(chunk)
    found: dict[ChunkId, SparseVector] = {}
    for version, ids in finest.items():
        composed = _composed([copies.get(chunk, _EMPTY) for chunk in ids], spec)
        for granularity, vectors in composed.items():
            found |= {ChunkId(granularity, version, i * granularity.stride): v for i, v in enumerate(vectors)}
    return found


_EMPTY = SparseVector(np.empty(0, np.int32), np.empty(0, np.float32))


def _composed(finest: Sequence[SparseVector], spec: SetSpec) -> Mapping[Granularity, Sequence[SparseVector]]:
    # A document of one sentence has one window too; both have the same tiles.
    return compose_sparse(finest, len(finest) + 1, spec.granularities)
