"""Encodings and ranked lists as bytes: numpy's own format, which runs no code when it is read."""

import io
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import (
    DocumentVersion,
    EncodedDocument,
    EncodedQuery,
    Hits,
    RankedList,
    SparseVector,
    SplitDocument,
)

_VERSION_BYTES = 20

Arrays = Mapping[str, NDArray[Any]]


def pack(arrays: Arrays) -> bytes:
    """Return named arrays as bytes."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]  # its stubs take the names for options
    return file.getvalue()


def unpack(raw: bytes) -> Arrays:
    """Return the arrays of `pack`."""
    with np.load(io.BytesIO(raw), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def lists_to_arrays(lists: Sequence[RankedList]) -> Arrays:
    """Return ranked lists as arrays, those of list i named `i.…`."""
    arrays: dict[str, NDArray[Any]] = {"channels": np.array([str(ranked.channel) for ranked in lists], dtype=np.str_)}
    for i, ranked in enumerate(lists):
        distinct = np.frombuffer(b"".join(ranked.hits.distinct), dtype=np.uint8)
        arrays |= {f"{i}.distinct": distinct, f"{i}.table": ranked.hits.table}
        arrays |= {f"{i}.counts": ranked.hits.counts, f"{i}.scores": ranked.scores}
    return arrays


def lists_from_arrays(arrays: Arrays) -> tuple[RankedList, ...]:
    """Return the lists of `lists_to_arrays`."""
    return tuple(_list(arrays, i, name) for i, name in enumerate(arrays["channels"].tolist()))


def query_to_arrays(query: EncodedQuery) -> Arrays:
    """Return the encodings of a question as arrays."""
    arrays: dict[str, NDArray[Any]] = {} if query.dense is None else {"dense": query.dense}
    if query.sparse is not None:
        arrays |= {"terms": query.sparse.terms, "weights": query.sparse.weights}
    return arrays


def query_from_arrays(text: str, arrays: Arrays) -> EncodedQuery:
    """Return the question of `query_to_arrays`."""
    sparse = SparseVector(arrays["terms"], arrays["weights"]) if "terms" in arrays else None
    return EncodedQuery(text, dense=arrays.get("dense"), sparse=sparse)


def document_to_arrays(document: EncodedDocument) -> Arrays:
    """Return the encodings of a document as arrays, without its text."""
    arrays: dict[str, NDArray[Any]] = {f"dense.{g.value}": rows for g, rows in document.dense.items()}
    for granularity, vectors in document.sparse.items():
        name = f"sparse.{granularity.value}"
        arrays[f"{name}.lengths"] = np.array([len(vector.terms) for vector in vectors], dtype=np.int64)
        arrays[f"{name}.terms"] = _joined([vector.terms for vector in vectors], np.int32)
        arrays[f"{name}.weights"] = _joined([vector.weights for vector in vectors], np.float32)
    return arrays


def document_from_arrays(split: SplitDocument, arrays: Arrays) -> EncodedDocument:
    """Return the document of `document_to_arrays`."""
    dense = {g: arrays[f"dense.{g.value}"] for g in Granularity if f"dense.{g.value}" in arrays}
    sparse = {g: _vectors(arrays, f"sparse.{g.value}") for g in Granularity if f"sparse.{g.value}.terms" in arrays}
    return EncodedDocument(split, dense, sparse)


def _list(arrays: Arrays, i: int, name: str) -> RankedList:
    expert, _, label = name.rpartition("-g")
    raw = arrays[f"{i}.distinct"].tobytes()
    distinct = [raw[start : start + _VERSION_BYTES] for start in range(0, len(raw), _VERSION_BYTES)]
    hits = Hits(tuple(map(DocumentVersion, distinct)), arrays[f"{i}.table"], arrays[f"{i}.counts"])
    return RankedList(Channel(Expert(expert), Granularity(int(label))), hits, arrays[f"{i}.scores"])


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


def _vectors(arrays: Arrays, name: str) -> list[SparseVector]:
    bounds = np.cumsum([0, *arrays[f"{name}.lengths"].tolist()]).tolist()
    terms, weights = arrays[f"{name}.terms"], arrays[f"{name}.weights"]
    return [SparseVector(terms[start:end], weights[start:end]) for start, end in pairwise(bounds)]
