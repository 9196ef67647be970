"""Elasticsearch and OpenSearch as an engine: requests out, values back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Unpack
from uuid import uuid4

from umg_search.errors import EngineBusy, EngineError, SetDropped
from umg_search.granularity import Channel, Expert
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
from umg_search.ports import Attributes, BlockId, Chunk, ChunkId, Fetched, IndexSize, Scope, Selection
from umg_search.settings import Settings
from umg_search.store import actions, bodies
from umg_search.store.actions import Action, Outcome
from umg_search.store.batches import batches
from umg_search.store.bulk import Bulk
from umg_search.store.client import Connection, connect
from umg_search.store.copies import copied, has_copies, restored, unpack
from umg_search.store.diagnosis.server import diagnose
from umg_search.store.filters import resolved
from umg_search.store.names import TEXT, WRITING, Names, block_id, chunk_id, document_hash, document_id
from umg_search.store.precision import as_stored
from umg_search.store.records import block_from_json, entry_from_json
from umg_search.store.retrying import BUSY
from umg_search.store.server_sets import SET_SECONDS, ServerSets
from umg_search.store.soundness import check_query, chunk_fault

PAGE = 500
"""Ledger entries read at once when the ledger is gone through."""

MOST_IDS = 500
"""Entries of one multi-get: 500 blocks of text are about 2 MB."""

SEE_TO = "see to this index, or try again later"

NO_INDEX = "index_not_found_exception"

_GONE = 404
_TIMED_OUT = 408
_CONFLICT = 409


class ServerEngine:
    """An Elasticsearch or OpenSearch cluster. Safe for threads; one instance a process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server = connect(settings)
        self._bulk = Bulk(self._server, settings.bulk_bytes)
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

    def seconds_to_follow(self) -> float:
        """Return how long the active set is remembered."""
        return SET_SECONDS

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
        check_query(query, index.spec)
        query = as_stored(query, index.spec)
        places = {channel: self._names.chunks(index, channel.granularity) for channel in index.spec.channels}
        seen = resolved(scope, index.spec)
        retrieval, few = self._lists(index, places, query, depth=depth, scope=seen, brief=True)
        if few:  # an index so small that all terms cost nothing
            whole, _ = self._lists(index, few, query, depth=depth, scope=seen, brief=False)
            found = {ranked.channel: ranked for ranked in (*retrieval.lists, *whole.lists)}
            retrieval = replace(retrieval, lists=tuple(found.values()))
        return retrieval

    def _lists(
        self,
        index: IndexSet,
        places: Mapping[Channel, str],
        query: EncodedQuery,
        *,
        depth: int,
        scope: Scope,
        brief: bool,
    ) -> tuple[Retrieval, Mapping[Channel, str]]:
        """Return lists, and the places of those that a brief search has left shorter than they could be."""
        request = bodies.multi_search(self._server.dialect, places, query, depth=depth, scope=scope, brief=brief)
        if not request.channels:
            return Retrieval(()), {}
        answers: list[Mapping[str, Any]] = []
        for lines in bodies.parts(request, self._settings.bulk_bytes):
            answers += self._server.call("POST", "/_msearch", lines=lines).body["responses"]
        parts = dict(zip(request.channels, answers, strict=True))
        reasons = {channel: bodies.failure_of(part) for channel, part in parts.items()}
        failed = {channel: reason for channel, reason in reasons.items() if reason is not None}
        if any(reason.startswith(NO_INDEX) for reason in failed.values()):
            self._check_there(index)
        lists = bodies.read_lists({channel: part for channel, part in parts.items() if channel not in failed})
        short = {ranked.channel for ranked in lists if len(ranked.hits) < depth}
        few = {channel: places[channel] for channel in request.brief if channel in short}
        return Retrieval(tuple(lists), failed, request.notes), few

    def fetch(self, index: IndexSet | None, documents: Sequence[DocumentHash], blocks: Sequence[BlockId]) -> Fetched:
        """Read text blocks and ledger entries by real-time multi-gets, one unless there are very many.

        The ledger comes last: what was deleted or revoked while the blocks were read is seen.
        """
        wanted = [{"_index": self._names.text(index), "_id": block_id(block)} for block in blocks if index is not None]
        wanted += [{"_index": self._names.documents, "_id": document_id(document)} for document in documents]
        found = multi_get(self._server, wanted)
        texts = {
            block: block_from_json(block, item["_source"])
            for block, item in zip(blocks, found[: len(blocks)], strict=True)
            if item is not None
        }
        if index is not None and blocks and not texts:
            self._check_there(index)
        entries = [_entry(item) for item in found[len(blocks) :] if item is not None]
        return Fetched({entry.document: entry for entry in entries}, texts)

    def entries(self, **selection: Unpack[Selection]) -> Iterator[LedgerEntry]:
        """Go through the ledger page by page, in the order of ids."""
        if not exists(self._server, self._names.documents):
            return
        refresh(self._server, [self._names.documents])
        body = {
            "query": bodies.selected(selection),
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

    def states(self, *, batch: str | None = None) -> Mapping[DocumentState, int]:
        """Count the ledger's documents by state."""
        if not exists(self._server, self._names.documents):
            return {}
        refresh(self._server, [self._names.documents])
        query = bodies.selected({} if batch is None else {"batch": batch})
        body = {
            "query": query,
            "size": 0,
            "aggs": {"states": {"terms": {"field": "state", "size": len(DocumentState)}}},
        }
        answer = self._server.call("POST", f"/{self._names.documents}/_search", body).body
        return {DocumentState(b["key"]): b["doc_count"] for b in answer["aggregations"]["states"]["buckets"]}

    def collections(self, most: int) -> Sequence[str]:
        """Return the collections that the ledger's documents are in."""
        refresh(self._server, [self._names.documents])
        body = {"size": 0, "aggs": {"names": {"terms": {"field": "collection", "size": most}}}}
        answer = self._server.call("POST", f"/{self._names.documents}/_search", body).body
        return [bucket["key"] for bucket in answer["aggregations"]["names"]["buckets"]]

    def sizes(self, index: IndexSet) -> Mapping[str, IndexSize]:
        """Return entries and bytes (primary shards) of each index."""
        names = [*self._names.of_set(index).values(), self._names.documents]

        def without_shards(answer: Mapping[str, Any]) -> str:
            missing = [name for name in names if name not in answer["indices"]]
            return bodies.incomplete(answer) or ", ".join(f"no shard of {name} is active" for name in missing)

        path = f"/{','.join(names)}/_stats/docs,store"
        stats = self._server.call("GET", path, missing=without_shards).body["indices"]
        primaries = {name: stats[name]["primaries"] for name in names}
        return {name: IndexSize(p["docs"]["count"], p["store"]["size_in_bytes"]) for name, p in primaries.items()}

    # --- writing ------------------------------------------------------------------------------------------------

    def write_entries(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry | None]:
        """Write ledger entries, each on condition of its token."""
        mark = uuid4().hex
        todo = [actions.entry_action(self._names.documents, entry, mark) for entry in entries]
        tokens: dict[DocumentHash, tuple[int, int]] = {}
        for outcome in self._bulk.send(todo):
            if outcome.done:
                tokens[outcome.action.subject.document] = _token(outcome.word)
            elif outcome.status != _CONFLICT:
                raise _refused(outcome, self._server.where)
        tokens |= self._own_writes([e.document for e in entries if e.document not in tokens], mark)
        return [replace(entry, token=tokens[entry.document]) if entry.document in tokens else None for entry in entries]

    def delete_entries(self, entries: Sequence[LedgerEntry]) -> int:
        """Delete ledger entries, each on condition of its token."""
        todo = [actions.entry_deletion(self._names.documents, entry) for entry in entries]
        return sum(outcome.done for outcome in self._bulk.send(todo))

    def write_chunks(self, index: IndexSet, chunks: Iterable[Chunk]) -> Mapping[ChunkId, str]:
        """Write chunk entries; one that cannot be searched is not sent, since it may spoil the others' request."""
        refused: dict[ChunkId, str] = {}
        spec = index.spec if has_copies(index.spec) else None

        def sound() -> Iterator[Action]:
            for chunk in chunks:
                if why := chunk_fault(chunk, index.spec):
                    refused[ChunkId(chunk.granularity, chunk.version, chunk.first)] = why
                else:
                    alias = self._names.writing(index, chunk.granularity.label)
                    yield actions.chunk_action(alias, chunk, copied(chunk, spec) if spec else None)

        return self._failures(sound()) | refused

    def write_blocks(self, index: IndexSet, blocks: Iterable[TextBlock]) -> Mapping[BlockId, str]:
        """Write text blocks."""
        return self._failures(actions.block_action(self._names.writing(index, TEXT), block) for block in blocks)

    def update_attributes(
        self, index: IndexSet, changes: Iterable[tuple[Sequence[ChunkId], Attributes]]
    ) -> Mapping[ChunkId, str]:
        """Replace them by partial updates; the servers keep what `_source` holds, and are given the rest again."""
        return self._failures(
            actions.attributes_action(
                self._names.writing(index, c.granularity.label), c, attributes, missing.get(c, {})
            )
            for some in batches(changes, lambda change: len(change[0]), MOST_IDS)
            for missing in [self._left_out(index, [chunk for chunks, _ in some for chunk in chunks])]
            for chunks, attributes in some
            for c in chunks
        )

    def delete(
        self, index: IndexSet, chunks: Sequence[ChunkId], blocks: Sequence[BlockId]
    ) -> Mapping[ChunkId | BlockId, str]:
        """Delete entries by id, never by query: that works on a snapshot and misses what was not refreshed."""
        in_lists = (actions.delete_action(self._names.chunks(index, chunk.granularity), chunk) for chunk in chunks)
        texts = (actions.delete_action(self._names.text(index), block) for block in blocks)
        return self._failures(chain(in_lists, texts), also_fine=_GONE)

    def publish(self, index: IndexSet) -> None:
        """Refresh the indices of the set; durable they are already, by the servers' write-ahead log."""
        refresh(self._server, list(self._names.of_set(index).values()))

    def diagnose(self, wanted: SetSpec | None) -> Sequence[Finding]:
        """Check the server and the indices under the prefix, with requests that change nothing."""
        analyzer = self._settings.analyzer if Expert.LEXICAL in self._settings.expert_list else ""
        return tuple(diagnose(self._server, self._names, wanted, analyzer))

    def close(self) -> None:
        """Nothing to release: connections end with the process."""

    # --- helpers ------------------------------------------------------------------------------------------------

    def _left_out(self, index: IndexSet, chunks: Sequence[ChunkId]) -> dict[ChunkId, dict[str, Any]]:
        """Return the fields of all entries of some documents that their `_source` leaves out."""
        if not has_copies(index.spec):
            return {}
        shape = {"_source": False, "stored_fields": ["copy"]}
        wanted = ({"_index": self._names.chunks(index, c.granularity), "_id": chunk_id(c), **shape} for c in chunks)
        found = zip(chunks, multi_get(self._server, wanted), strict=True)
        packed = {chunk: item["fields"]["copy"][0] for chunk, item in found if item is not None}
        whole = restored(index.spec, {chunk: unpack(text, index.spec) for chunk, text in packed.items()})
        return {chunk: actions.left_out(packed[chunk], copy) for chunk, copy in whole.items()}

    def _failures(self, todo: Iterable[Action], also_fine: int = 200) -> dict[Any, str]:
        failed: dict[Any, str] = {}
        for outcome in self._bulk.send(todo):
            if outcome.done or outcome.status == also_fine:
                continue
            reason = bodies.reason_of(outcome.word.get("error"))
            index = outcome.word.get("_index", "").removesuffix(WRITING)
            if outcome.status == _GONE and reason.startswith(NO_INDEX):
                raise SetDropped(f"{self._server.where} has no index {index} any more: try again.")
            failed[outcome.action.subject] = reason_for(outcome, self._server.where)
        return failed

    def _check_there(self, index: IndexSet) -> None:
        if index not in {stored.index for stored in self._sets.every()}:
            self._sets.forget()
            raise SetDropped(f"Index set {index.label} at {self._server.where} was dropped meanwhile: try again.")

    def _own_writes(self, documents: Sequence[DocumentHash], mark: str) -> dict[DocumentHash, tuple[int, int]]:
        """Return the tokens of conflicting entries that this very write made: the reply was lost, the retry refused."""
        wanted = [{"_index": self._names.documents, "_id": document_id(document)} for document in documents]
        found = multi_get(self._server, wanted)
        return {_hash(item): _token(item) for item in found if item is not None and item["_source"]["write"] == mark}


def exists(server: Connection, name: str) -> bool:
    """Tell whether there is an index of this name."""
    return server.call("GET", f"/{name}/_mapping", accept={_GONE}).status != _GONE


def refresh(server: Connection, names: Sequence[str]) -> None:
    """Refresh indices, which all exist; servers let a refresh wait for a lost shard, longer than we do."""
    joined = ",".join(names)
    state = server.call(
        "GET", f"/_cluster/health/{joined}?level=indices&wait_for_status=yellow&timeout=10s", accept={_TIMED_OUT}
    ).body
    if state["timed_out"]:
        lacking = [name for name in names if state["indices"].get(name, {}).get("status", "red") == "red"]
        raise EngineBusy(f"{server.where} lacks shards of {', '.join(lacking)}: {SEE_TO}.")
    server.call("POST", f"/{joined}/_refresh")


def multi_get(server: Connection, wanted: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any] | None]:
    """Return entries as they are now, None for what does not exist."""
    found: list[Mapping[str, Any] | None] = []
    every = iter(wanted)
    while some := list(islice(every, MOST_IDS)):
        answer = server.call("POST", "/_mget", {"docs": some}, missing=bodies.unread)
        found += [item if _there(item) else None for item in answer.body["docs"]]
    return found


def reason_for(outcome: Outcome, where: str) -> str:
    """Return why an entry was refused; EngineBusy where it is no fault of it, and the next ones would wait as long."""
    reason = bodies.reason_of(outcome.word.get("error"))
    if outcome.status in BUSY:
        index = outcome.word["_index"].removesuffix(WRITING)
        raise EngineBusy(f"{where} cannot write to {index} for now ({reason}): {SEE_TO}.")
    return reason


def _there(item: Mapping[str, Any]) -> bool:
    error = item.get("error")
    if error and error.get("type") != "index_not_found_exception":
        raise EngineError(f"A read of {item['_index']} failed ({bodies.reason_of(error)}): see to this index.")
    return bool(item.get("found"))


def _refused(outcome: Outcome, where: str) -> EngineError:
    """Return the error of a ledger entry that was not stored."""
    key = outcome.action.subject.key
    name = f"of document {key.id!r}" if key else "of a deleted document"
    kind = EngineBusy if outcome.status in BUSY else EngineError
    reason = bodies.reason_of(outcome.word.get("error"))
    return kind(f"{where} did not store the ledger entry {name} ({reason}): {SEE_TO}.")


def _entry(item: Mapping[str, Any]) -> LedgerEntry:
    source = {name: value for name, value in item["_source"].items() if name not in actions.SERVER_FIELDS}
    return entry_from_json(_hash(item), source, _token(item))


def _hash(item: Mapping[str, Any]) -> DocumentHash:
    return document_hash(item["_id"])


def _token(item: Mapping[str, Any]) -> tuple[int, int]:
    return item["_seq_no"], item["_primary_term"]
