"""Qdrant Edge shards: the chunk entries of an index set, one shard a granularity."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numpy as np
import qdrant_edge as qdrant

from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import EncodedQuery, RankedList, Retrieval, SetSpec
from umg_search.ports import Attributes, Chunk, ChunkId, IndexSize
from umg_search.store.embedded.filters import TITLE, attributes_payload, filter_indices
from umg_search.store.embedded.points import (
    DENSE,
    SPARSE,
    TEXT,
    UNIT,
    expert_query,
    point_id,
    to_points,
)
from umg_search.store.embedded.titles import with_titles
from umg_search.store.embedded.translation import reason
from umg_search.store.units import unpack

_DELETIONS = 20
"""Tries at a deletion. Seen once after a kill -9, and never again: points that a first deletion had left in place."""

_BATCH = 200
"""Points in one upsert: Qdrant Edge keeps Python's global lock meanwhile, so other threads wait for 20 to 60 ms."""

_DELETED_SHARE = 0.5
"""Share of deleted points at which a shard is rewritten; all threads wait for that, about 1.5 s for 10,000 points."""

_NEVER = 2**40
"""Kilobytes at which a segment would get an HNSW graph.

Exact search is kept: 16 ms over 100,000 vectors of 384 dimensions on one core, where a graph answers in 2 to 5 ms, but
takes minutes to build and finds 91 % of the true best 100.
"""


_Item = TypeVar("_Item")


class Shard:
    """The chunk entries of one granularity; its files are opened when first needed."""

    def __init__(self, folder: Path, granularity: Granularity, spec: SetSpec) -> None:
        self._folder = folder
        self._granularity = granularity
        self._spec = spec
        self._opened: qdrant.EdgeShard | None = None
        self._opening = Lock()
        self._writing = Lock()
        self._dirty = False

    def create(self) -> None:
        """Create the empty shard, with indices for the experts of the set."""
        self._folder.mkdir(parents=True)
        self._opened = qdrant.EdgeShard.create(str(self._folder), _config(self._spec))
        for field, kind in filter_indices(self._spec.fields).items():
            self._opened.update(qdrant.UpdateOperation.create_field_index(field, kind))
        for field in (TEXT, TITLE) if Expert.LEXICAL in self._spec.experts else ():
            self._opened.update(qdrant.UpdateOperation.create_field_index(field, _text_index()))
        self._opened.flush()

    def ranked_lists(
        self, experts: Sequence[Expert], query: EncodedQuery, depth: int, seen: qdrant.Filter | None
    ) -> Retrieval:
        """Ask experts of the set for their best windows; a failure of one leaves the others their answers."""
        asked = {e: expert_query(e, query) for e in experts if query.asks(e)}
        requests = {e: _request(q, depth, seen) for e, q in asked.items() if q is not None}
        if Expert.LEXICAL in requests and query.title_weight:
            requests[Expert.LEXICAL] = with_titles(query, depth, seen)
        failed = {self._channel(e): "the query has no such encoding" for e, q in asked.items() if q is None}
        try:
            answers = self._shard().query_batch(qdrant.QueryBatchRequest(list(requests.values())))
            lists = [self._ranked(e, points) for e, points in zip(requests, answers, strict=True)]
        except Exception:  # noqa: BLE001 - Qdrant Edge raises nothing narrower; the retry finds out whose fault it is
            return self._one_by_one(requests, failed)
        return Retrieval(tuple(lists), failed)

    def write(self, chunks: Sequence[Chunk]) -> dict[ChunkId, str]:
        """Write chunk entries; return a reason for each that failed."""
        failed: dict[ChunkId, str] = {}
        for start in range(0, len(chunks), _BATCH):
            checked = to_points(chunks[start : start + _BATCH], self._spec)
            failed |= checked.failed
            failed |= self._apply(checked.points, qdrant.UpdateOperation.upsert_points)
        return failed

    def update_attributes(self, chunks: Sequence[ChunkId], attributes: Attributes) -> dict[ChunkId, str]:
        """Replace the attributes of chunk entries; one that is missing is a failure."""
        payload = attributes_payload(attributes)
        ids: dict[ChunkId, qdrant.PointId] = {chunk: point_id(chunk.version, chunk.first) for chunk in chunks}
        found = self._present(ids)
        failed = {chunk: "there is no such chunk" for chunk in ids if chunk not in found}
        return failed | self._apply(found, lambda some: qdrant.UpdateOperation.set_payload(some, payload))

    def delete(self, chunks: Sequence[ChunkId]) -> dict[ChunkId, str]:
        """Delete chunk entries, and rewrite the shard once half of it is deleted ones."""
        left: dict[ChunkId, qdrant.PointId] = {chunk: point_id(chunk.version, chunk.first) for chunk in chunks}
        for _ in range(_DELETIONS):
            failed = self._apply(left, qdrant.UpdateOperation.delete_points)
            self._rewrite()
            left = {chunk: point for chunk, point in self._present(left).items() if chunk not in failed}
            if not left:
                return failed
        return failed | dict.fromkeys(left, "it is still there after it was deleted")

    def _present(self, ids: Mapping[ChunkId, "qdrant.PointId"]) -> dict[ChunkId, "qdrant.PointId"]:
        """Return those that exist."""
        found = {record.id for record in self._shard().retrieve(list(ids.values()), False, False)} if ids else set()
        return {chunk: point for chunk, point in ids.items() if point in found}

    def _rewrite(self) -> None:
        """Rewrite the shard where enough of it is deleted, unless the disk has no room for both copies."""
        with self._writing:
            # The new files are written through memory maps, where a full disk would end the process.
            if shutil.disk_usage(self._folder).free > 2 * bytes_of(self._folder):
                self._dirty |= self._shard().optimize()

    def flush(self) -> None:
        """Make all earlier writes durable."""
        with self._writing:
            if self._dirty:
                self._shard().flush()
                self._dirty = False

    def size(self) -> IndexSize:
        """Return points, and bytes on disk (files have holes: allocated blocks count)."""
        return IndexSize(self._shard().info().points_count, bytes_of(self._folder))

    def close(self) -> None:
        """Release the files."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    def _shard(self) -> qdrant.EdgeShard:
        if self._opened is None:
            with self._opening:
                if self._opened is None:
                    self._opened = qdrant.EdgeShard.load(str(self._folder))
        return self._opened

    def _ranked(self, expert: Expert, points: Sequence[qdrant.ScoredPoint]) -> RankedList:
        units = [str((point.payload or {})[UNIT]) for point in points]
        order = sorted(range(len(points)), key=lambda i: (-points[i].score, units[i]))
        scores = np.array([points[i].score for i in order], dtype=np.float64)
        if expert is Expert.DENSE:
            scores = np.clip(scores, -1.0, 1.0)  # rounding in float32 can pass the bounds of a cosine
        (hits,) = unpack([[units[i] for i in order]])
        return RankedList(self._channel(expert), hits, scores)

    def _one_by_one(self, requests: Mapping[Expert, qdrant.QueryRequest], failed: Mapping[Channel, str]) -> Retrieval:
        lists: list[RankedList] = []
        reasons = dict(failed)
        for expert, request in requests.items():
            try:
                lists.append(self._ranked(expert, self._shard().query(request)))
            except Exception as error:  # noqa: BLE001 - Qdrant Edge raises nothing narrower
                reasons[self._channel(expert)] = reason(error)
        return Retrieval(tuple(lists), reasons)

    def _apply(
        self, items: Mapping[ChunkId, _Item], operation: Callable[[list[_Item]], qdrant.UpdateOperation]
    ) -> dict[ChunkId, str]:
        """Update with all items at once; where that fails, with halves, until those at fault stand alone."""
        if not items:
            return {}
        try:
            with self._writing:
                self._dirty = True
                self._shard().update(operation(list(items.values())))
        except Exception as error:  # noqa: BLE001 - Qdrant Edge raises nothing narrower
            chunks = list(items)
            if len(chunks) == 1:
                return {chunks[0]: reason(error)}
            middle = len(chunks) // 2
            halves = (chunks[:middle], chunks[middle:])
            return {k: v for half in halves for k, v in self._apply({c: items[c] for c in half}, operation).items()}
        return {}

    def _channel(self, expert: Expert) -> Channel:
        return Channel(expert, self._granularity)


def bytes_of(folder: Path) -> int:
    """Return the bytes that a folder's files take on disk."""
    files = (Path(parent, name).stat() for parent, _, names in os.walk(folder) for name in names)
    return sum(_allocated(file) for file in files)


def _allocated(file: os.stat_result) -> int:
    blocks = getattr(file, "st_blocks", None)  # Windows has none
    return file.st_size if blocks is None else blocks * 512


def _config(spec: SetSpec) -> qdrant.EdgeConfig:
    dense = {}
    if Expert.DENSE in spec.experts and spec.dense is not None:
        dense[DENSE] = qdrant.EdgeVectorParams(size=spec.dense.dims, distance=qdrant.Distance.Cosine)
    # Qdrant insists on one kind of vector: a set with the lexical expert alone gets a sparse one that stays empty.
    sparse = {SPARSE: qdrant.EdgeSparseVectorParams()} if Expert.SPARSE in spec.experts or not dense else {}
    return qdrant.EdgeConfig(
        vectors=dense,
        sparse_vectors=sparse,
        optimizers=qdrant.EdgeOptimizersConfig(
            deleted_threshold=_DELETED_SHARE, indexing_threshold=_NEVER, default_segment_number=1
        ),
        # publish() flushes before the ledger names a generation, so a log would only write everything twice: without
        # one a point takes half the disk, and opening half the time.
        wal_enabled=False,
    )


def _text_index() -> qdrant.TextIndexParams:
    return qdrant.TextIndexParams(
        tokenizer=qdrant.TokenizerType.Whitespace,  # texts arrive as words, see words.py
        lowercase=False,
        stemmer=qdrant.DisabledStemmer(),
        scoring=True,
    )


def _request(query: qdrant.Query | qdrant.TextQuery, depth: int, seen: qdrant.Filter | None) -> qdrant.QueryRequest:
    return qdrant.QueryRequest(
        limit=depth, query=query, filter=seen, with_payload=[UNIT], params=qdrant.SearchParams(exact=True)
    )
