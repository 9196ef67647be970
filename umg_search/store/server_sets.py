"""Index sets on a server: aliases say what a set is for, and one request flips them."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from umg_search.errors import EngineError, IndexMismatch
from umg_search.model import IndexSet, SetRole, SetSpec, StoredSet
from umg_search.settings import Settings
from umg_search.store import bodies, mappings
from umg_search.store.client import Connection
from umg_search.store.names import BUILDING, PREVIOUS, TEXT, Names
from umg_search.store.records import spec_from_json

SET_SECONDS = 2.0
"""How long a process may go on with the active set it last saw; a flip is followed within that time."""

_ATTEMPTS = 5
"""Tries at a conditional write of the lease."""

_REFUSED = 400
_GONE = 404
_CONFLICT = 409

_ROLES = ((TEXT, SetRole.ACTIVE), (PREVIOUS, SetRole.PREVIOUS), (BUILDING, SetRole.BUILDING))


@dataclass(frozen=True, slots=True)
class _Lease:
    """Who changes sets until when (seconds since the epoch), and the highest version that any set had."""

    owner: str = ""
    until: float = 0.0
    highest: int = 0


class ServerSets:
    """The index sets of one prefix."""

    def __init__(self, server: Connection, names: Names, settings: Settings) -> None:
        self._server = server
        self._names = names
        self._size = size_of(settings)
        self._seen: tuple[float, IndexSet] | None = None

    def active(self) -> IndexSet | None:
        """Return the set behind the aliases, as seen within the last two seconds."""
        if self._seen and time.monotonic() - self._seen[0] < SET_SECONDS:
            return self._seen[1]
        answer = self._server.call("GET", f"/{self._names.alias(TEXT)}/_mapping", accept={_GONE})
        if answer.status == _GONE:
            return None
        if len(answer.body) != 1:
            raise EngineError(f"Alias {self._names.alias(TEXT)} names {len(answer.body)} indices instead of one.")
        ((name, body),) = answer.body.items()
        meta = body["mappings"].get("_meta")
        if not self._names.is_text_index(name) or not meta:
            raise EngineError(
                f"{self._names.alias(TEXT)} stands for index {name}, which umg-search did not make: "
                "choose another UMG_PREFIX."
            )
        index = IndexSet(self._names.version(name), spec_from_json(meta))
        self._seen = (time.monotonic(), index)
        return index

    def every(self) -> list[StoredSet]:
        """Return all sets whose creation came to its end, by version; their text index is the last that is made."""
        found = self._server.call("GET", f"/{self._names.text_indices}").body
        own = {name: body for name, body in found.items() if self._names.is_text_index(name)}
        sets = [
            StoredSet(IndexSet(self._names.version(name), spec_from_json(meta)), self._role(body["aliases"]))
            for name, body in own.items()
            if (meta := body["mappings"].get("_meta"))
        ]
        return sorted(sets, key=lambda stored: stored.index.version)

    def create_first(self, spec: SetSpec) -> IndexSet:
        """Create version 1 and make it active; several workers may do so at once."""
        index = IndexSet(1, spec)
        create(self._server, self._names.documents, mappings.ledger_index(self._server.dialect, **self._size))
        self._create_indices(index, {})
        self._check_unmixed(index)
        self._flip([_alias("add", name, self._names.alias(kind)) for kind, name in self._names.of_set(index).items()])
        return self.active() or index

    def build(self, spec: SetSpec) -> IndexSet:
        """Create the next version; what an earlier creation left half made is deleted first."""
        versions = {stored.index.version for stored in self.every()}
        self._delete_half_made(versions)
        for _ in range(_ATTEMPTS):
            lease, token = self._read()
            version = max(lease.highest, *versions) + 1
            if self._write(replace(lease, highest=version), token):
                index = IndexSet(version, spec)
                self._create_indices(index, {"aliases": {self._names.alias(BUILDING): {}}})
                self._check_unmixed(index)
                return index
        raise EngineError(f"{self._names.leases} at {self._server.where} is written by others all the time: try again.")

    def activate(self, index: IndexSet) -> None:
        """Flip all aliases in one request: a search resolves them before or after, never in between."""
        actions = []
        for stored in self.every():
            text = self._names.text(stored.index)
            if stored.index == index:
                if stored.role is SetRole.ACTIVE:
                    return
                markers = {SetRole.BUILDING: BUILDING, SetRole.PREVIOUS: PREVIOUS}
                if stored.role in markers:
                    actions.append(_alias("remove", text, self._names.alias(markers[stored.role])))
            elif stored.role is SetRole.ACTIVE:
                old = self._names.of_set(stored.index)
                actions += [_alias("remove", name, self._names.alias(kind)) for kind, name in old.items()]
                actions.append(_alias("add", text, self._names.alias(PREVIOUS)))
            elif stored.role is SetRole.PREVIOUS:
                actions.append(_alias("remove", text, self._names.alias(PREVIOUS)))
        new = self._names.of_set(index)
        self._flip(actions + [_alias("add", name, self._names.alias(kind)) for kind, name in new.items()])
        self._seen = None

    def drop(self, index: IndexSet) -> None:
        """Delete all indices of a set in one request."""
        names = ",".join(self._names.of_set(index).values())
        self._server.call("DELETE", f"/{names}?ignore_unavailable=true")

    def hold(self, owner: str, seconds: float) -> str:
        """Take or renew the lease by a conditional write."""
        lease = _Lease()
        for _ in range(_ATTEMPTS):
            lease, token = self._read()
            if lease.owner not in {"", owner} and lease.until > time.time():
                return lease.owner
            if self._write(replace(lease, owner=owner, until=time.time() + seconds), token):
                return owner
        return lease.owner

    def release(self, owner: str) -> None:
        """Give the lease back; a lost race means that somebody else has it."""
        lease, token = self._read()
        if lease.owner == owner:
            self._write(replace(lease, owner="", until=0.0), token)

    # --- helpers ------------------------------------------------------------------------------------------------

    def _role(self, aliases: Mapping[str, Any]) -> SetRole:
        return next((role for kind, role in _ROLES if self._names.alias(kind) in aliases), SetRole.OLDER)

    def _create_indices(self, index: IndexSet, text_extras: Mapping[str, Any]) -> None:
        """Create chunk indices, then the text index; one that is there already is kept."""
        chunk_body = mappings.chunk_index(self._server.dialect, index.spec, **self._size)
        text_body = {**mappings.text_index(self._server.dialect, index.spec, **self._size), **text_extras}
        for kind, name in self._names.of_set(index).items():
            create(self._server, name, text_body if kind == TEXT else chunk_body)

    def _check_unmixed(self, index: IndexSet) -> None:
        """Refuse a set whose indices another worker, or an earlier run that crashed, began with other settings."""
        for name in self._names.of_set(index).values():
            body = self._server.call("GET", f"/{name}/_mapping").body[name]
            meta = body["mappings"].get("_meta")
            found = spec_from_json(meta) if meta else None
            if found != index.spec:
                raise IndexMismatch(
                    f"Index {name} was made with other settings ({found}) than this process has ({index.spec}): "
                    "give all workers the same settings, or delete the index."
                )

    def _delete_half_made(self, versions: set[int]) -> None:
        """Delete chunk indices of ours whose set has no text index: their creation was cut short."""
        found = self._server.call("GET", f"/{self._names.chunk_indices}/_mapping").body
        ours = re.compile(rf"{re.escape(self._names.alias('g'))}\d\d-v\d+")
        stray = [
            name
            for name, body in found.items()
            if ours.fullmatch(name) and body["mappings"].get("_meta") and self._names.version(name) not in versions
        ]
        if stray:
            self._server.call("DELETE", f"/{','.join(sorted(stray))}?ignore_unavailable=true")

    def _flip(self, actions: list[dict[str, Any]]) -> None:
        answer = self._server.call("POST", "/_aliases", {"actions": actions}).body
        if not answer.get("acknowledged"):
            raise EngineError(
                f"{self._server.where} did not confirm within its time that all nodes know the new aliases: try again."
            )

    def _read(self) -> tuple[_Lease, tuple[int, int] | None]:
        wanted = {"docs": [{"_index": self._names.leases, "_id": "lease"}]}
        (found,) = self._server.call("POST", "/_mget", wanted, missing=bodies.unread).body["docs"]
        if not found.get("found"):
            return _Lease(), None
        return _Lease(**found["_source"]), (found["_seq_no"], found["_primary_term"])

    def _write(self, lease: _Lease, token: tuple[int, int] | None) -> bool:
        """Write the lease if nobody else did; a lost reply reads as a lost race, and the next try finds its own."""
        if token is None:
            size = {**self._size, "shards": 1}
            create(self._server, self._names.leases, mappings.lease_index(self._server.dialect, **size))
            path = f"/{self._names.leases}/_create/lease"
        else:
            path = f"/{self._names.leases}/_doc/lease?if_seq_no={token[0]}&if_primary_term={token[1]}"
        return self._server.call("PUT", path, asdict(lease), accept={_CONFLICT}).status != _CONFLICT


def size_of(settings: Settings) -> dict[str, Any]:
    """Return what the settings say of the size of a new index."""
    return {"shards": settings.shards, "replicas": settings.replicas, "refresh_s": settings.refresh_interval_s}


def create(server: Connection, name: str, body: Mapping[str, Any]) -> None:
    """Create an index; one that is there already is kept."""
    answer = server.call("PUT", f"/{name}", body, accept={_REFUSED})
    reason = bodies.reason_of(bodies.error_of(answer.body))
    if answer.status == _REFUSED and "already_exists" not in reason:
        raise EngineError(f"{server.where} cannot create index {name} ({reason}).")


def _alias(operation: str, index: str, alias: str) -> dict[str, Any]:
    return {operation: {"index": index, "alias": alias}}
