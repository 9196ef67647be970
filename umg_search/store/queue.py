"""The queue of asynchronous ingestion, in an index of the server beside the ledger.

Its records are told apart by `kind` and by the beginning of their ids: texts, runs, submissions, the broker's
mark, and when a sweeper looked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

import orjson

from umg_search.errors import EngineError
from umg_search.model import Backlog, Batch, Document, Looks, OldText, QueuedText, TextKey
from umg_search.settings import Settings
from umg_search.store import mappings
from umg_search.store.actions import Action
from umg_search.store.bulk import Bulk
from umg_search.store.client import connect
from umg_search.store.diagnosis.capacity import room
from umg_search.store.diagnosis.facts import DISKS, SETTINGS, ask
from umg_search.store.names import Names, document_hash, document_id
from umg_search.store.server import PAGE, SEE_TO, exists, multi_get, reason_for, refresh
from umg_search.store.server_sets import create, size_of

_GONE_OR_CHANGED = frozenset({404, 409})
_MARKER = "marker"
_LOOKS = "looks"


class ServerQueue:
    """The queue under one prefix of a cluster. Safe for threads; one instance a process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server = connect(settings)
        self._bulk = Bulk(self._server, settings.bulk_bytes)
        self._names = Names(settings.prefix)

    def create(self) -> None:
        """Make the queue and the ledger where there are none; who may not make indices may still find them there."""
        if exists(self._server, f"{self._names.documents},{self._names.queue}"):
            return
        dialect, size = self._server.dialect, size_of(self._settings)
        create(self._server, self._names.documents, mappings.ledger_index(dialect, **size))
        create(self._server, self._names.queue, mappings.queue_index(dialect, **size))

    # --- texts --------------------------------------------------------------------------------------------------

    def put_texts(self, texts: Sequence[QueuedText]) -> Mapping[TextKey, str]:
        """Store raw documents; return a reason for each that failed."""
        todo = (Action(text.key, self._lines("index", _text_id(text.key), _text_to_json(text))) for text in texts)
        failed: dict[TextKey, str] = {}
        for outcome in self._bulk.send(todo):
            if not outcome.done:
                failed[outcome.action.subject] = reason_for(outcome, self._server.where)
        return failed

    def texts(self, keys: Sequence[TextKey]) -> Mapping[TextKey, Document]:
        """Read raw documents by real-time multi-gets."""
        found = self._get([_text_id(key) for key in keys])
        return {
            key: _document_from_json(source["document"])
            for key, source in zip(keys, found, strict=True)
            if source is not None
        }

    def delete_texts(self, keys: Sequence[TextKey]) -> None:
        """Delete raw documents by id."""
        self._delete(dict.fromkeys(_text_id(key) for key in keys))

    def old_texts(self, *, before: float) -> Iterator[OldText]:
        """Go through the texts that were queued before a time, page by page."""
        hits = self._search(
            {
                "query": _of_kind("text", {"range": {"since": {"lt": before}}}),
                "sort": [{"text": "asc"}],
                "size": PAGE,
                "_source": False,
                "seq_no_primary_term": True,
            }
        )
        yield from (OldText(_text_key(hit["_id"]), (hit["_seq_no"], hit["_primary_term"])) for hit in hits)

    def delete_old_texts(self, texts: Sequence[OldText]) -> int:
        """Delete raw documents on condition that they are as they were found."""
        return self._delete({_text_id(text.key): text.mark for text in texts})

    def backlog(self) -> Backlog:
        """Measure what waits, and what the disks still take above the watermark from which shards are moved away."""
        free_bytes = room(ask(self._server, "GET", DISKS), ask(self._server, "GET", SETTINGS))
        if not exists(self._server, self._names.queue):
            return Backlog(0, 0, free_bytes)
        refresh(self._server, [self._names.queue])
        body = {
            "query": _of_kind("text"),
            "size": 0,
            "track_total_hits": True,
            "aggs": {"bytes": {"sum": {"field": "bytes"}}},
        }
        answer = self._server.call("POST", f"/{self._names.queue}/_search", body).body
        return Backlog(
            documents=answer["hits"]["total"]["value"],
            bytes=int(answer["aggregations"]["bytes"]["value"]),
            free_bytes=free_bytes,
        )

    # --- runs ---------------------------------------------------------------------------------------------------

    def extend_run(self, run: str, until: float, owner: str) -> None:
        """Note that a run is at work until a time."""
        self._put(f"run.{run}", {"kind": "run", "until": until, "owner": owner})

    def runs(self, runs: Sequence[str]) -> Mapping[str, float]:
        """Return until when runs are at work."""
        found = self._get([f"run.{run}" for run in runs])
        return {run: float(source["until"]) for run, source in zip(runs, found, strict=True) if source is not None}

    def end_run(self, run: str) -> None:
        """Forget a run."""
        self._delete({f"run.{run}": None})

    def end_runs(self, *, before: float) -> int:
        """Forget the runs whose time was over before a time."""
        query = _of_kind("run", {"range": {"until": {"lt": before}}})
        over = [hit["_id"] for hit in self._search({"query": query, "sort": [{"until": "asc"}], "size": PAGE})]
        self._delete(dict.fromkeys(over))
        return len(over)

    # --- submissions and the broker -----------------------------------------------------------------------------

    def write_batch(self, batch: Batch) -> None:
        """Store what is known of a submission."""
        self._put(f"batch.{batch.id}", {"kind": "batch", "since": batch.created_at, "batch": asdict(batch)})

    def batch(self, id: str) -> Batch | None:
        """Return a submission as it is known now."""
        (source,) = self._get([f"batch.{id}"])
        return None if source is None else Batch(**source["batch"])

    def batches(self, *, most: int = 50) -> Sequence[Batch]:
        """Return the latest submissions, newest first."""
        if not exists(self._server, self._names.queue):
            return []
        refresh(self._server, [self._names.queue])
        body = {"query": _of_kind("batch"), "sort": [{"since": "desc"}], "size": most}
        hits = self._server.call("POST", f"/{self._names.queue}/_search", body).body["hits"]["hits"]
        return [Batch(**hit["_source"]["batch"]) for hit in hits]

    def old_batches(self, *, before: float) -> Sequence[Batch]:
        """Return the submissions that were made before a time."""
        query = _of_kind("batch", {"range": {"since": {"lt": before}}})
        hits = self._search({"query": query, "sort": [{"since": "asc"}], "size": PAGE})
        return [Batch(**hit["_source"]["batch"]) for hit in hits]

    def delete_batches(self, ids: Sequence[str]) -> None:
        """Forget submissions."""
        self._delete(dict.fromkeys(f"batch.{each}" for each in ids))

    def marker(self) -> str | None:
        """Return the mark that the broker had."""
        (source,) = self._get([_MARKER])
        return None if source is None else str(source["marker"])

    def set_marker(self, marker: str) -> None:
        """Remember the broker's mark."""
        self._put(_MARKER, {"kind": _MARKER, "marker": marker})

    def looks(self) -> Looks:
        """Return when a sweeper looked."""
        (source,) = self._get([_LOOKS])
        return Looks() if source is None else Looks(last=source["since"], before=source["until"])

    def set_looks(self, looks: Looks) -> None:
        """Note when a sweeper looked."""
        self._put(_LOOKS, {"kind": _LOOKS, "since": looks.last, "until": looks.before})

    def close(self) -> None:
        """Nothing to release: connections end with the process."""

    # --- helpers ------------------------------------------------------------------------------------------------

    def _put(self, id: str, source: Mapping[str, Any]) -> None:
        self._server.call("PUT", f"/{self._names.queue}/_doc/{quote(id, safe='')}", source)

    def _get(self, ids: Sequence[str]) -> list[Mapping[str, Any] | None]:
        """Return records as they are now, None for what does not exist."""
        found = multi_get(self._server, [{"_index": self._names.queue, "_id": each} for each in ids])
        return [None if item is None else item["_source"] for item in found]

    def _delete(self, ids: Mapping[str, tuple[int, int] | None]) -> int:
        """Delete records, each only if its mark is still the current one (None: in any case); return how many were."""
        todo = [Action(each, _head("delete", self._names.queue, each, mark)) for each, mark in ids.items()]
        outcomes = list(self._bulk.send(todo))
        failed = [o for o in outcomes if not o.done and o.status not in _GONE_OR_CHANGED]
        if failed:
            reason = reason_for(failed[0], self._server.where)
            raise EngineError(f"{self._server.where} keeps entries of {self._names.queue} ({reason}): {SEE_TO}.")
        return sum(outcome.done for outcome in outcomes)

    def _search(self, body: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Go through hits page by page, in the order of the body's sort."""
        refresh(self._server, [self._names.queue])
        while True:
            hits = self._server.call("POST", f"/{self._names.queue}/_search", body).body["hits"]["hits"]
            yield from hits
            if len(hits) < body["size"]:
                return
            body["search_after"] = hits[-1]["sort"]

    def _lines(self, operation: str, id: str, source: Mapping[str, Any]) -> bytes:
        return _head(operation, self._names.queue, id) + orjson.dumps(source) + b"\n"


def _head(operation: str, index: str, id: str, mark: tuple[int, int] | None = None) -> bytes:
    condition = {} if mark is None else {"if_seq_no": mark[0], "if_primary_term": mark[1]}
    return orjson.dumps({operation: {"_index": index, "_id": id, **condition}}) + b"\n"


def _of_kind(kind: str, *conditions: Mapping[str, Any]) -> dict[str, Any]:
    return {"bool": {"filter": [{"term": {"kind": kind}}, *conditions]}}


def _text_id(key: TextKey) -> str:
    return f"text.{document_id(key.document)}.{key.number}.{key.fingerprint}"


def _text_key(text_id: str) -> TextKey:
    _, document, number, fingerprint = text_id.split(".")
    return TextKey(document_hash(document), int(number), fingerprint)


def _text_to_json(text: QueuedText) -> dict[str, Any]:
    return {
        "kind": "text",
        "text": _text_id(text.key),
        "since": text.since,
        "bytes": len(text.document.text.encode("utf-8")),
        "document": {**asdict(text.document), "acl": list(text.document.acl)},
    }


def _document_from_json(data: Mapping[str, Any]) -> Document:
    return Document(**{**data, "acl": tuple(data["acl"])})
