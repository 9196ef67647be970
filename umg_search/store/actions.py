"""Bulk requests as bytes, pure: lines for entries, cut into requests, and what the answers say."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from umg_search.model import LedgerEntry, SparseVector, TextBlock
from umg_search.ports import Attributes, BlockId, Chunk, ChunkId
from umg_search.store.batches import batches
from umg_search.store.filters import FIELDS, LABELS
from umg_search.store.ledger import oldest_retired
from umg_search.store.names import block_id, chunk_id, document_id
from umg_search.store.precision import decimals
from umg_search.store.records import block_to_json, entry_to_json

SERVER_FIELDS = ("document", "retired_since", "write", "run", "sent_at")
"""Fields of a ledger entry that only servers hold.

Its id, to sort by; its oldest retirement; the mark of the write; and of a pending job, whose hands it is in, or when it
was last sent while it is in nobody's.
"""


class Action(NamedTuple):
    """One item of a bulk request: whom it concerns, and its lines."""

    subject: Any
    lines: bytes


class Outcome(NamedTuple):
    """The server's word on one action, and its HTTP status."""

    action: Action
    status: int
    word: Mapping[str, Any]

    @property
    def done(self) -> bool:
        """Whether the action took place."""
        return self.status < 300  # noqa: PLR2004 - HTTP


def chunk_action(index: str, chunk: Chunk) -> Action:
    """Return the action that stores a chunk entry."""
    subject = ChunkId(chunk.granularity, chunk.version, chunk.first)
    return Action(subject, _lines("index", index, chunk_id(subject), chunk_source(chunk)))


def chunk_source(chunk: Chunk) -> dict[str, Any]:
    """Return the source of a chunk entry; fields that it does not have are left out."""
    source: dict[str, Any] = {
        "unit": chunk.unit.decode("ascii"),
        "collection": chunk.collection,
        **attributes_source(chunk.attributes),
        "dense": chunk.dense,
        "sparse": None if chunk.sparse is None or not len(chunk.sparse.terms) else _features(chunk.sparse),
        "text": chunk.text,
    }
    return {field: value for field, value in source.items() if value is not None}


def block_action(index: str, block: TextBlock) -> Action:
    """Return the action that stores a text block."""
    subject = BlockId(block.version, block.number)
    return Action(subject, _lines("index", index, block_id(subject), block_to_json(block)))


def attributes_action(index: str, chunk: ChunkId, attributes: Attributes) -> Action:
    """Return the action that replaces the attributes of a chunk entry."""
    return Action(chunk, _lines("update", index, chunk_id(chunk), {"doc": attributes_source(attributes)}))


def attributes_source(attributes: Attributes) -> dict[str, Any]:
    """Return the part of a chunk entry's source that a partial update replaces.

    Fields without a value are there as empty lists: servers merge objects, and would keep the older value of one that
    is missing.
    """
    source = {
        "acl": list(attributes.acl),
        FIELDS: {name: list(values) for name, values in attributes.fields.items()},
        LABELS: list(attributes.labels),
    }
    return source if attributes.title is None else {**source, "title": attributes.title}


def delete_action(index: str, subject: ChunkId | BlockId) -> Action:
    """Return the action that deletes an entry."""
    entry_id = chunk_id(subject) if isinstance(subject, ChunkId) else block_id(subject)
    return Action(subject, orjson.dumps({"delete": {"_index": index, "_id": entry_id}}) + b"\n")


def entry_action(index: str, entry: LedgerEntry, mark: str) -> Action:
    """Return the action that stores a ledger entry if its token is still current; `mark` names this very write."""
    entry_id = document_id(entry.document)
    source = {**entry_to_json(entry), **_server_fields(entry_id, entry, mark)}
    if entry.token is None:
        return Action(entry, _lines("create", index, entry_id, source))
    condition = {"if_seq_no": entry.token[0], "if_primary_term": entry.token[1]}
    return Action(entry, _lines("index", index, entry_id, source, condition))


def entry_deletion(index: str, entry: LedgerEntry) -> Action:
    """Return the action that deletes a ledger entry if its token is still current."""
    if entry.token is None:
        raise ValueError("an entry that was never stored cannot be deleted")
    head = {"_index": index, "_id": document_id(entry.document)}
    condition = {"if_seq_no": entry.token[0], "if_primary_term": entry.token[1]}
    return Action(entry, orjson.dumps({"delete": head | condition}) + b"\n")


def requests(actions: Iterable[Action], most_bytes: int) -> Iterator[list[Action]]:
    """Cut actions into requests of at most `most_bytes`; a single larger one goes alone."""
    return batches(actions, lambda action: len(action.lines), most_bytes)


def outcomes(actions: Sequence[Action], answer: Mapping[str, Any]) -> Iterator[Outcome]:
    """Yield what became of each action."""
    for action, item in zip(actions, answer["items"], strict=True):
        (word,) = item.values()
        yield Outcome(action, word["status"], word)


def _server_fields(id: str, entry: LedgerEntry, mark: str) -> dict[str, Any]:
    job = entry.pending
    run = None if job is None or not job.run else job.run
    sent_at = None if job is None or job.run else job.sent_at
    return dict(zip(SERVER_FIELDS, (id, oldest_retired(entry), mark, run, sent_at), strict=True))


def _features(vector: SparseVector) -> orjson.Fragment:
    pairs = zip(vector.terms.tolist(), decimals(vector.weights), strict=True)
    return orjson.Fragment("{" + ",".join(f'"{term}":{weight}' for term, weight in pairs) + "}")


def _lines(
    operation: str, index: str, id: str, source: Mapping[str, Any], condition: Mapping[str, int] | None = None
) -> bytes:
    head = orjson.dumps({operation: {"_index": index, "_id": id, **(condition or {})}})
    return head + b"\n" + orjson.dumps(source, option=orjson.OPT_SERIALIZE_NUMPY) + b"\n"
