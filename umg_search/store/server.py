"""Elasticsearch and OpenSearch as an engine: requests out, values back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np

from umg_search.errors import EngineError, IndexMismatch, QueryError
from umg_search.granularity import Expert
from umg_search.model import (
    DocumentHash,
    DocumentState,
    EncodedQuery,
    EngineInfo,
    Finding,
    IndexSet,
    LedgerEntry,
    Retrieval,
    SetSpec,
    StoredSet,
    TextBlock,
)
from umg_search.ports import BlockId, Chunk, ChunkId, Fetched, IndexSize, Scope
from umg_search.settings import Settings
from umg_search.store import actions, bodies
from umg_search.store.actions import Action, Outcome
from umg_search.store.bulk import send_all
from umg_search.store.client import connect
from umg_search.store.diagnosis.server import diagnose
from umg_search.store.names import Names, block_id, document_hash, document_id
from umg_search.store.precision import as_stored
from umg_search.store.records import block_from_json, entry_from_json
from umg_search.store.server_sets import ServerSets

PAGE = 500
"""Ledger entries read at once when the ledger is gone through."""

_GONE = 404
_CONFLICT = 409


class ServerEngine:
    """An Elasticsearch or OpenSearch cluster. Safe for threads; one instance a process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server = connect(settings)
        self._names = Names(settings.prefix)
        self._sets = ServerSets(self._server, self._names, settings)

    def info(self) -> EngineInfo:
        """Return kind, version and address of the server."""
        return EngineInfo(self._server.dialect.name, self._server.version, self._server.where)

    # --- index sets ---------------------------------------------------------------------------------------------

    def active_set(self) -> IndexSet | None:
        """Return the set behind the aliases, as seen within the last two seconds."""
        return self._sets.active()

    def create_set(self, spec: SetSpec) -> IndexSet:
        """Create version 1; several workers may do so at once."""
        return self._sets.create_first(spec)

    def sets(self) -> Sequence[StoredSet]:
        """Return all sets, from one request."""
        return self._sets.every()

    def build_set(self, spec: SetSpec) -> IndexSet:
        """Create the next version beside the others."""
        return self._sets.build(spec)

    def activate(self, index: IndexSet) -> None:
        """Flip all aliases in one request."""
        self._sets.activate(index)

    def drop_set(self, index: IndexSet) -> None:
        """Delete the indices of a set in one request."""
        self._sets.drop(index)

    def hold(self, owner: str, seconds: float) -> str:
        """Take or renew the lease on changes of sets; return who has it."""
        return self._sets.hold(owner, seconds)

    def release(self, owner: str) -> None:
        """Give the lease back."""
        self._sets.release(owner)

    # --- reading ------------------------------------------------------------------------------------------------

    def ranked_lists(self, index: IndexSet, query: EncodedQuery, *, depth: int, scope: Scope) -> Retrieval:
        """Ask every channel in one multi-search."""
        _check_vector(index, query)
        query = as_stored(query, index.spec)
        places = {channel: self._names.chunks(index, channel.granularity) for channel in index.spec.channels}
        request = bodies.multi_search(self._server.dialect, places, query, depth=depth, scope=scope)
        if not request.channels:
            return Retrieval(())
        answer = self._server.call("POST", "/_msearch", lines=request.body).body
        parts = dict(zip(request.channels, answer["responses"], strict=True))
        reasons = {channel: bodies.failure_of(part) for channel, part in parts.items()}
        failed = {channel: reason for channel, reason in reasons.items() if reason is not None}
        lists = bodies.read_lists({channel: part for channel, part in parts.items() if channel not in failed})
        return Retrieval(tuple(lists), failed, request.notes)

    def fetch(self, index: IndexSet, documents: Sequence[DocumentHash], blocks: Sequence[BlockId]) -> Fetched:
        """Read ledger entries and text blocks in one real-time multi-get."""
        wanted = [{"_index": self._names.documents, "_id": document_id(document)} for document in documents]
        wanted += [{"_index": self._names.text(index), "_id": block_id(block)} for block in blocks]
        if not wanted:
            return Fetched({}, {})
        found = self._server.call("POST", "/_mget", {"docs": wanted}).body["docs"]
        entries = [_entry(item) for item in found[: len(documents)] if _there(item)]
        texts: dict[BlockId, TextBlock] = {}
        for block, item in zip(blocks, found[len(documents) :], strict=True):
            if _there(item):
                texts[block] = block_from_json(block, item["_source"])
        return Fetched({entry.document: entry for entry in entries}, texts)

    def entries(
        self, *, retired_before: float | None = None, state: DocumentState | None = None
    ) -> Iterator[LedgerEntry]:
        """Go through the ledger page by page, in the order of ids."""
        self._server.call("POST", f"/{self._names.documents}/_refresh")
        wanted: list[dict[str, Any]] = []
        if retired_before is not None:
            wanted.append({"range": {"retired_since": {"lt": retired_before}}})
        if state is not None:
            wanted.append({"term": {"state": state.value}})
        body = {
            "query": {"bool": {"filter": wanted}},
            "size": PAGE,
            "sort": [{"document": "asc"}],
            "seq_no_primary_term": True,
        }
        while True:
            hits = self._server.call("POST", f"/{self._names.documents}/_search", body).body["hits"]["hits"]
            yield from map(_entry, hits)
            if len(hits) < PAGE:
                return
            body["search_after"] = hits[-1]["sort"]

    def states(self) -> Mapping[DocumentState, int]:
        """Count the ledger's documents by state."""
        self._server.call("POST", f"/{self._names.documents}/_refresh")
        body = {"size": 0, "aggs": {"states": {"terms": {"field": "state", "size": len(DocumentState)}}}}
        answer = self._server.call("POST", f"/{self._names.documents}/_search", body).body
        return {DocumentState(b["key"]): b["doc_count"] for b in answer["aggregations"]["states"]["buckets"]}

    def sizes(self, index: IndexSet) -> Mapping[str, IndexSize]:
        """Return entries and bytes (primary shards) of each index."""
        names = [*self._names.of_set(index).values(), self._names.documents]
        stats = self._server.call("GET", f"/{','.join(names)}/_stats/docs,store").body["indices"]
        primaries = {name: stats[name]["primaries"] for name in names}
        return {name: IndexSize(p["docs"]["count"], p["store"]["size_in_bytes"]) for name, p in primaries.items()}

    # --- writing ------------------------------------------------------------------------------------------------

    def write_entries(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry | None]:
        """Write ledger entries, each on condition of its token."""
        mark = uuid4().hex
        todo = [actions.entry_action(self._names.documents, entry, mark) for entry in entries]
        tokens: dict[DocumentHash, tuple[int, int]] = {}
        for outcome in self._bulk(todo):
            if outcome.done:
                tokens[outcome.action.subject.document] = _token(outcome.word)
            elif outcome.status != _CONFLICT:
                raise EngineError(f"The ledger refused an entry ({bodies.reason_of(outcome.word.get('error'))}).")
        tokens |= self._own_writes([e.document for e in entries if e.document not in tokens], mark)
        return [replace(entry, token=tokens[entry.document]) if entry.document in tokens else None for entry in entries]

    def delete_entries(self, entries: Sequence[LedgerEntry]) -> int:
        """Delete ledger entries, each on condition of its token."""
        todo = [actions.entry_deletion(self._names.documents, entry) for entry in entries]
        return sum(outcome.done for outcome in self._bulk(todo))

    def write_chunks(self, index: IndexSet, chunks: Sequence[Chunk]) -> Mapping[ChunkId, str]:
        """Write chunk entries."""
        return self._failures(actions.chunk_action(self._names.chunks(index, c.granularity), c) for c in chunks)

    def write_blocks(self, index: IndexSet, blocks: Sequence[TextBlock]) -> Mapping[BlockId, str]:
        """Write text blocks."""
        return self._failures(actions.block_action(self._names.text(index), block) for block in blocks)

    def update_access(
        self, index: IndexSet, chunks: Sequence[ChunkId], acl: tuple[str, ...], title: str | None = None
    ) -> Mapping[ChunkId, str]:
        """Replace ACL and title by partial updates: the servers keep vector and text, since both are in `_source`."""
        return self._failures(
            actions.access_action(self._names.chunks(index, chunk.granularity), chunk, acl, title) for chunk in chunks
        )

    def delete(
        self, index: IndexSet, chunks: Sequence[ChunkId], blocks: Sequence[BlockId]
    ) -> Mapping[ChunkId | BlockId, str]:
        """Delete entries by id, never by query: that works on a snapshot and misses what was not refreshed."""
        todo = [actions.delete_action(self._names.chunks(index, chunk.granularity), chunk) for chunk in chunks]
        todo += [actions.delete_action(self._names.text(index), block) for block in blocks]
        return self._failures(todo, also_fine=_GONE)

    def publish(self, index: IndexSet) -> None:
        """Refresh the indices of the set; durable they are already, by the servers' write-ahead log."""
        self._server.call("POST", f"/{','.join(self._names.of_set(index).values())}/_refresh")

    def diagnose(self, wanted: SetSpec | None) -> Sequence[Finding]:
        """Check the server and the indices under the prefix, with requests that change nothing."""
        analyzer = self._settings.analyzer if Expert.LEXICAL in self._settings.expert_list else ""
        return tuple(diagnose(self._server, self._names, wanted, analyzer))

    def close(self) -> None:
        """Nothing to release: connections end with the process."""

    # --- helpers ------------------------------------------------------------------------------------------------

    def _failures(self, todo: Iterable[Action], also_fine: int = 200) -> dict[Any, str]:
        return {
            outcome.action.subject: bodies.reason_of(outcome.word.get("error"))
            for outcome in self._bulk(todo)
            if not outcome.done and outcome.status != also_fine
        }

    def _bulk(self, todo: Iterable[Action]) -> Iterator[Outcome]:
        return send_all(self._server, todo, most_bytes=self._settings.bulk_bytes, retries=self._settings.retries)

    def _own_writes(self, documents: Sequence[DocumentHash], mark: str) -> dict[DocumentHash, tuple[int, int]]:
        """Return the tokens of conflicting entries that this very write made: the reply was lost, the retry refused."""
        if not documents:
            return {}
        wanted = [{"_index": self._names.documents, "_id": document_id(document)} for document in documents]
        found = self._server.call("POST", "/_mget", {"docs": wanted}).body["docs"]
        return {_hash(item): _token(item) for item in found if _there(item) and item["_source"]["write"] == mark}


def _there(item: Mapping[str, Any]) -> bool:
    if "error" in item and item["error"].get("type") != "index_not_found_exception":
        raise EngineError(f"A read of {item['_index']} failed ({bodies.reason_of(item['error'])}).")
    return bool(item.get("found"))


def _entry(item: Mapping[str, Any]) -> LedgerEntry:
    source = {name: value for name, value in item["_source"].items() if name not in actions.SERVER_FIELDS}
    return entry_from_json(_hash(item), source, _token(item))


def _hash(item: Mapping[str, Any]) -> DocumentHash:
    return document_hash(item["_id"])


def _token(item: Mapping[str, Any]) -> tuple[int, int]:
    return item["_seq_no"], item["_primary_term"]


def _check_vector(index: IndexSet, query: EncodedQuery) -> None:
    """Refuse a query vector that no kNN search can be asked with."""
    if index.spec.dense is None or query.dense is None:
        return
    if query.dense.shape != (index.spec.dense.dims,):
        raise IndexMismatch(
            f"The query vector has {query.dense.shape[-1]} dimensions, the index {index.spec.dense.dims}: "
            f"use the model of the index, {index.spec.dense.name!r}."
        )
    if not np.all(np.isfinite(query.dense)) or not np.any(query.dense):
        raise QueryError("The model gave no usable vector for this question (zeros, NaN or infinite): rephrase it.")
