"""The engine port in memory: exact scores, a refresh and conditional writes as servers have them, faults on request."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from tests.fakes.encoders import words
from tests.fakes.filters import holds
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import (
    DocumentHash,
    DocumentState,
    EncodedQuery,
    EngineInfo,
    Finding,
    IndexSet,
    LedgerEntry,
    RankedList,
    Retrieval,
    SetRole,
    SetSpec,
    StoredSet,
    StoredVector,
    TextBlock,
)
from umg_search.ports import Attributes, BlockId, Chunk, ChunkId, Fetched, IndexSize, Scope, Selection
from umg_search.store.filters import resolved
from umg_search.store.jobs import meets
from umg_search.store.units import unpack

EVERYBODY = "*"


class MemoryEngine:
    """Chunks are searchable from `publish` on; blocks and ledger entries at once.

    `calls` names every operation in order. `failing` names channels that fail, `refused` gives a reason for chunks that
    are not stored, `kept` one for entries that are not deleted. `before` runs something once, just before the next call
    of an operation.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failing: dict[Channel, str] = {}
        self.refused: Callable[[Chunk], str | None] = lambda _: None
        self.kept: dict[ChunkId | BlockId, str] = {}
        self.published: dict[ChunkId, Chunk] = {}
        self.chunks: dict[ChunkId, Chunk] = {}
        self.blocks: dict[BlockId, TextBlock] = {}
        self.ledger: dict[DocumentHash, LedgerEntry] = {}
        self._set: IndexSet | None = None
        self._writes = 0
        self._waiting: defaultdict[str, deque[Callable[[], object]]] = defaultdict(deque)

    def before(self, operation: str, act: Callable[[], object]) -> None:
        """Run `act` once, before the next call of an operation that has nothing else waiting."""
        self._waiting[operation].append(act)

    def info(self) -> EngineInfo:
        return EngineInfo("memory", "1", "here")

    def active_set(self) -> IndexSet | None:
        return self._set

    def create_set(self, spec: SetSpec) -> IndexSet:
        self._enter("create_set")
        self._set = self._set or IndexSet(1, spec)
        return self._set

    def sets(self) -> list[StoredSet]:
        return [] if self._set is None else [StoredSet(self._set, SetRole.ACTIVE)]

    def ranked_lists(self, index: IndexSet, query: EncodedQuery, *, depth: int, scope: Scope) -> Retrieval:
        self._enter("ranked_lists")
        inner = resolved(scope, index.spec)
        asked = [channel for channel in index.spec.channels if query.asks(channel.expert)]
        seen = [chunk for chunk in self.published.values() if _visible(chunk, inner)]
        lists = tuple(
            _ranked(channel, [chunk for chunk in seen if chunk.granularity is channel.granularity], query, depth)
            for channel in asked
            if channel not in self.failing
        )
        return Retrieval(lists, {c: why for c, why in self.failing.items() if c in asked})

    def fetch(self, index: IndexSet | None, documents: Sequence[DocumentHash], blocks: Sequence[BlockId]) -> Fetched:
        del index
        self._enter("fetch")
        return Fetched(
            {document: self.ledger[document] for document in documents if document in self.ledger},
            {block: self.blocks[block] for block in blocks if block in self.blocks},
        )

    def write_entries(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry | None]:
        self._enter("write_entries")
        return [self._write_entry(entry) for entry in entries]

    def write_chunks(self, index: IndexSet, chunks: Iterable[Chunk]) -> Mapping[ChunkId, str]:
        del index
        chunks = list(chunks)
        self._enter("write_chunks")
        reasons = {chunk_id(chunk): self.refused(chunk) for chunk in chunks}
        self.chunks |= {chunk_id(chunk): chunk for chunk in chunks if reasons[chunk_id(chunk)] is None}
        return {chunk: reason for chunk, reason in reasons.items() if reason is not None}

    def write_blocks(self, index: IndexSet, blocks: Iterable[TextBlock]) -> Mapping[BlockId, str]:
        del index
        self._enter("write_blocks")
        self.blocks |= {BlockId(block.version, block.number): block for block in blocks}
        return {}

    def update_attributes(
        self, index: IndexSet, changes: Iterable[tuple[Sequence[ChunkId], Attributes]]
    ) -> Mapping[ChunkId, str]:
        del index
        self._enter("update_attributes")
        every = {chunk: attributes for chunks, attributes in changes for chunk in chunks}
        there = {chunk: attributes for chunk, attributes in every.items() if chunk in self.chunks}
        self.chunks |= {chunk: replace(self.chunks[chunk], attributes=held) for chunk, held in there.items()}
        return {chunk: "missing" for chunk in every if chunk not in self.chunks}

    def delete(
        self, index: IndexSet, chunks: Sequence[ChunkId], blocks: Sequence[BlockId]
    ) -> Mapping[ChunkId | BlockId, str]:
        del index
        self._enter("delete")
        for chunk in set(chunks) - self.kept.keys():
            self.chunks.pop(chunk, None)
        for block in set(blocks) - self.kept.keys():
            self.blocks.pop(block, None)
        return {item: why for item, why in self.kept.items() if item in {*chunks, *blocks}}

    def publish(self, index: IndexSet) -> None:
        del index
        self._enter("publish")
        self.published = dict(self.chunks)

    def entries(self, **selection: Unpack[Selection]) -> Iterator[LedgerEntry]:
        self._enter("entries")
        yield from (entry for entry in list(self.ledger.values()) if meets(entry, selection))

    def states(self, *, batch: str | None = None) -> Mapping[DocumentState, int]:
        return Counter(entry.state for entry in self.ledger.values() if batch in {None, entry.batch})

    def collections(self, most: int) -> list[str]:
        counts = Counter(entry.key.collection for entry in self.ledger.values() if entry.key)
        return [name for name, _ in counts.most_common(most)]

    def sizes(self, index: IndexSet) -> Mapping[str, IndexSize]:
        counts = Counter(chunk.granularity for chunk in self.chunks.values())
        return {
            **{g.label: IndexSize(counts[g], 1) for g in index.spec.granularities},
            "text": IndexSize(len(self.blocks), 1),
        }

    def diagnose(self, wanted: SetSpec | None) -> Sequence[Finding]:
        del wanted
        return ()

    def close(self) -> None:
        self._enter("close")

    def _enter(self, operation: str) -> None:
        self.calls.append(operation)
        if self._waiting[operation]:
            self._waiting[operation].popleft()()

    def _write_entry(self, entry: LedgerEntry) -> LedgerEntry | None:
        stored = self.ledger.get(entry.document)
        if (stored.token if stored else None) != entry.token:
            return None
        self._writes += 1
        self.ledger[entry.document] = replace(entry, token=(self._writes, 1))
        return self.ledger[entry.document]


def chunk_id(chunk: Chunk) -> ChunkId:
    return ChunkId(chunk.granularity, chunk.version, chunk.first)


def cosine(stored: StoredVector, asked: StoredVector) -> float:
    one, other = stored.astype(np.float64), asked.astype(np.float64)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def chunk_ids(engine: MemoryEngine, granularity: Granularity) -> set[ChunkId]:
    return {chunk for chunk in engine.chunks if chunk.granularity is granularity}


def _visible(chunk: Chunk, scope: Scope) -> bool:
    if scope.collections and chunk.collection not in scope.collections:
        return False
    held = chunk.attributes
    values = {"labels": held.labels, **{f"fields.{name}": some for name, some in held.fields.items()}}
    if scope.filter is not None and not holds(scope.filter, lambda name: values[name], lambda _, value: value):
        return False
    return scope.principals is None or bool({*scope.principals, EVERYBODY} & set(held.acl))


def _ranked(channel: Channel, chunks: Sequence[Chunk], query: EncodedQuery, depth: int) -> RankedList:
    scored = [(_score(channel.expert, chunk, query), chunk) for chunk in chunks]
    found = [(score, chunk) for score, chunk in scored if score is not None]
    best = sorted(found, key=lambda pair: (-pair[0], pair[1].version, pair[1].first))[:depth]
    (hits,) = unpack([[chunk.unit.decode() for _, chunk in best]])
    return RankedList(channel, hits, np.array([score for score, _ in best]))


def _score(expert: Expert, chunk: Chunk, query: EncodedQuery) -> float | None:
    if expert is Expert.DENSE:
        return None if chunk.dense is None or query.dense is None else cosine(chunk.dense, query.dense)
    if expert is Expert.LEXICAL:
        wanted_words = set(words(query.text))
        shared = [len(wanted_words & set(words(text or ""))) for text in (chunk.text, chunk.attributes.title)]
        return shared[0] + query.title_weight * shared[1] or None
    if chunk.sparse is None or query.sparse is None:
        return None
    wanted = dict(zip(query.sparse.terms.tolist(), query.sparse.weights.tolist(), strict=True))
    pairs = zip(chunk.sparse.terms.tolist(), chunk.sparse.weights.tolist(), strict=True)
    return sum(wanted.get(term, 0.0) * weight for term, weight in pairs) or None
