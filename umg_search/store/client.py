"""Connections to a server through its own client, with one meaning for errors and retries."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import orjson
import urllib3

from umg_search.errors import ConfigurationError, EngineBusy, EngineError, EngineUnsupported
from umg_search.settings import Settings
from umg_search.store.authentication import Authentication
from umg_search.store.bodies import error_of, incomplete, reason_of
from umg_search.store.dialect import ELASTICSEARCH, Dialect, recognise
from umg_search.store.retrying import BUSY, Policy, retrying
from umg_search.store.transports import (
    JSON,
    Answer,
    Endpoint,
    Send,
    elasticsearch_only,
    endpoint_of,
    no_json,
    opensearch,
)

NDJSON = "application/x-ndjson"

_UNAUTHORISED = frozenset({401, 403})
_TOO_LARGE = 413


class Connection:
    """A server that was recognised; sends requests, retries what is worth it, and raises what went wrong."""

    def __init__(self, send: Send, endpoint: Endpoint, dialect: Dialect, version: str, policy: Policy) -> None:
        self.dialect = dialect
        self.version = version
        self.where = endpoint.where
        self._authentication = endpoint.authentication
        self.retrying = policy
        self._send = send

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        lines: bytes | None = None,
        accept: Collection[int] = (),
        missing: Callable[[Mapping[str, Any]], str] = incomplete,
    ) -> Answer:
        """Send a request and return its answer.

        `body` is sent as JSON, `lines` as they are. A status of 400 or more raises, unless it is in `accept`:
        EngineBusy where a later try may help, EngineError else. EngineBusy too where `missing` says what an answer
        lacks for now; unless told otherwise, that is the answer of some shards. Requests may be sent twice: every one
        of ours has the same effect then.
        """
        data = lines if lines is not None else None if body is None else encoded(body)
        kind = NDJSON if lines is not None else JSON
        return self.retrying()(self._once, (method, path, data, kind), accept, missing)

    def _once(
        self,
        request: tuple[str, str, bytes | None, str],
        accept: Collection[int],
        missing: Callable[[Mapping[str, Any]], str],
    ) -> Answer:
        answer = self._send(*request)
        if answer.status in accept and answer.status >= 400:  # noqa: PLR2004 - HTTP
            return answer
        if answer.status >= 400:  # noqa: PLR2004 - HTTP
            raise failure(answer, self.where, self._authentication)
        if not isinstance(answer.body, Mapping):
            raise no_json(self.where)
        if reason := missing(answer.body):
            raise EngineBusy(f"{self.where} answered in part only ({reason}): see to its indices, or try again later.")
        return answer


def encoded(body: Any) -> bytes:
    """Return JSON; arrays of numpy are written as lists."""
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def failure(answer: Answer, where: str, authentication: Authentication) -> EngineError:
    """Return the error that an answer stands for."""
    reason = reason_of(error_of(answer.body))
    if answer.status in _UNAUTHORISED:
        return authentication.refused(where, answer.status, reason)
    if answer.status in BUSY:
        message = f"{where} is overloaded or not ready (HTTP {answer.status}, {reason}): try again later."
        return EngineBusy(message, retry_after=answer.retry_after)
    if answer.status == _TOO_LARGE:
        return EngineError(
            f"{where} refuses a request of this size (HTTP {answer.status}, {reason}): raise its limit, "
            "or that of the proxy before it."
        )
    return EngineError(f"{where} refused a request (HTTP {answer.status}, {reason}).")


def connect(settings: Settings) -> Connection:
    """Return a connection to the server that the settings name, recognised from its answers.

    EngineUnreachable where nothing answers, EngineUnsupported where something else does, ConfigurationError where the
    credentials cannot be used, or the nodes are not those of one cluster.
    """
    endpoint = endpoint_of(settings)
    if any((urlsplit(node).hostname or "").endswith(".aoss.amazonaws.com") for node in endpoint.nodes):
        raise EngineUnsupported(
            f"{endpoint.where} is OpenSearch Serverless, which umg-search does not support: "
            "use an OpenSearch Service domain."
        )
    send = opensearch(endpoint)  # asks any server; the other client insists on its own kind
    policy = partial(retrying, settings.retries, settings.retry_limit_s)
    probe = Connection(send, endpoint, ELASTICSEARCH, "", policy)
    dialect, version = recognise(probe.call("GET", "/", accept={404}).body, endpoint.where)
    _check_one_cluster(endpoint)
    if dialect is ELASTICSEARCH:
        if endpoint.authentication.signer:
            raise EngineUnsupported(
                f"{endpoint.where} is elasticsearch {version}, which takes no AWS signatures: "
                "authenticate by UMG_USER or UMG_API_KEY instead of UMG_AWS_REGION."
            )
        send = elasticsearch_only(endpoint)
    return Connection(send, endpoint, dialect, version, policy)


def _check_one_cluster(endpoint: Endpoint) -> None:
    """Refuse nodes of different clusters, between which writes and searches would be scattered."""
    if not endpoint.other_nodes:
        return
    with ThreadPoolExecutor(len(endpoint.nodes)) as pool:
        found = dict(zip(endpoint.nodes, pool.map(partial(_cluster_of, endpoint), endpoint.nodes), strict=True))
    known = [(node, cluster) for node, cluster in found.items() if cluster]
    for node, cluster in known[1:]:
        if cluster != known[0][1]:
            raise ConfigurationError(
                f"{known[0][0]} and {node} belong to different clusters: name nodes of one cluster in UMG_ENGINE."
            )


def _cluster_of(endpoint: Endpoint, node: str) -> str:
    """Return the id of a node's cluster, empty where it tells none or does not answer as soon as it should connect."""
    seconds = endpoint.timeout.connect_timeout
    alone = replace(endpoint, nodes=(node,), timeout=urllib3.Timeout(connect=seconds, read=seconds))
    try:
        body = opensearch(alone)("GET", "/", None, JSON).body
    except EngineError:
        return ""
    found = body.get("cluster_uuid") if isinstance(body, Mapping) else None
    return "" if found in {None, "_na_"} else str(found)
