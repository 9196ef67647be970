"""What a server tells of itself and of our indices, each route asked once. Nothing is written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import time
from typing import Any

from umg_search.errors import EngineError
from umg_search.model import SetSpec
from umg_search.store import mappings
from umg_search.store.bodies import error_of
from umg_search.store.client import Connection
from umg_search.store.dialect import ELASTICSEARCH
from umg_search.store.names import Names

FORBIDDEN = frozenset({401, 403})
REFUSED = 400

_NOT_RETRIED = frozenset(range(400, 500)) - {429}

_PRIORITY = 1_000_000
"""Of a template that is only tried: a server refuses two of one priority."""

DISKS = "/_nodes/stats/fs?filter_path=nodes.*.name,nodes.*.timestamp,nodes.*.roles,nodes.*.fs.total"
SETTINGS = "/_cluster/settings?include_defaults=true&flat_settings=true"

READING = (
    "indices:admin/mappings/get",
    "indices:admin/refresh",
    "indices:data/read/mget",
    "indices:data/read/msearch",
    "indices:data/read/search",
    "indices:monitor/stats",
)
"""What a user must be allowed for `umg search`, `text` and `status`, as Elasticsearch names its actions.

Exact names: a pattern would be refused to roles that are made of named privileges.
"""

WRITING = (
    "indices:admin/aliases",
    "indices:admin/create",
    "indices:admin/get",
    "indices:data/write/bulk",
    "indices:data/write/delete",
    "indices:data/write/index",
    "indices:data/write/update",
)
"""What a user that ingests must be allowed besides."""


@dataclass(frozen=True, slots=True)
class Probe:
    """An answer, or in `why` a clause that tells why there is none, and in `refusal` what a server says to HTTP 400."""

    body: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Everything that the judges of a server look at; `asked` and `answered` are our clock around `stats`."""

    nodes: Probe
    stats: Probe
    asked: float
    answered: float
    settings: Probe
    health: Probe
    indices: Probe
    licence: Probe
    rights: Probe
    analyzer: Probe | None
    creation: Probe | None


def gather(server: Connection, names: Names, wanted: SetSpec | None, analyzer: str) -> ServerFacts:
    """Ask a server; `wanted` is the specification that a new set would have (None: not known).

    An empty `analyzer` is not asked for.
    """
    asked = time()
    stats = ask(server, "GET", DISKS)
    answered = time()
    return ServerFacts(
        stats=stats,
        asked=asked,
        answered=answered,
        nodes=ask(server, "GET", "/_nodes/plugins?filter_path=nodes.*.name,nodes.*.roles,nodes.*.plugins.classname"),
        settings=ask(server, "GET", SETTINGS),
        health=ask(server, "GET", f"/_cluster/health/{names.everything}?level=indices"),
        indices=ask(server, "GET", f"/{names.everything}?expand_wildcards=all"),
        licence=ask(server, "GET", "/_license"),
        rights=_rights(server, names),
        analyzer=_analysis(server, analyzer) if analyzer else None,
        creation=_creation(server, names, wanted) if wanted else None,
    )


def ask(server: Connection, method: str, path: str, body: Any = None) -> Probe:
    """Send one request that changes nothing; whatever goes wrong is told in the probe."""
    try:
        answer = server.call(method, path, body, accept=_NOT_RETRIED)
    except EngineError as error:
        return Probe(why=str(error).rstrip("."))
    if answer.status < REFUSED:
        return Probe(answer.body)
    route = f"{method} {path.partition('?')[0]}"
    if answer.status in FORBIDDEN:
        return Probe(why=f"this user may not ask {route} (HTTP {answer.status})")
    refusal = innermost(error_of(answer.body)) if answer.status == REFUSED else ""
    return Probe(why=f"the server does not answer {route} (HTTP {answer.status})", refusal=refusal)


def innermost(error: Any) -> str:
    """Return the reason at the bottom of a chain of causes."""
    while isinstance(error, Mapping) and error.get("caused_by"):
        error = error["caused_by"]
    return str(error.get("reason", error)) if isinstance(error, Mapping) else str(error)


def _rights(server: Connection, names: Names) -> Probe:
    if server.dialect is not ELASTICSEARCH:
        return ask(server, "GET", "/_plugins/_security/authinfo")
    wanted = {"index": [{"names": [names.everything], "privileges": [*READING, *WRITING]}]}
    return ask(server, "POST", "/_security/user/_has_privileges", wanted)


def _analysis(server: Connection, analyzer: str) -> Probe:
    return ask(server, "POST", "/_analyze", {"analyzer": analyzer, "text": "a word"})


def _creation(server: Connection, names: Names, wanted: SetSpec) -> Probe:
    """Let the server check the body of a chunk index as a template, which it does without keeping anything."""
    body = mappings.chunk_index(server.dialect, wanted, shards=1, replicas=0, refresh_s=1)
    template = {"index_patterns": [names.everything], "priority": _PRIORITY, "template": body}
    return ask(server, "POST", "/_index_template/_simulate", template)
