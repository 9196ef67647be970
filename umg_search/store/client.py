"""Connections to a server through its own client, with one meaning for errors and retries."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import elastic_transport
import elasticsearch
import opensearchpy
import orjson
import tenacity

from umg_search.errors import EngineBusy, EngineError, EngineUnreachable, EngineUnsupported
from umg_search.settings import Settings
from umg_search.store.bodies import reason_of
from umg_search.store.dialect import ELASTICSEARCH, Dialect, recognise

JSON = "application/json"
NDJSON = "application/x-ndjson"

_UNAUTHORISED = frozenset({401, 403})
_BUSY = frozenset({429, 502, 503, 504})


class Answer(NamedTuple):
    """HTTP status and decoded body of an answer."""

    status: int
    body: Any


Send = Callable[[str, str, bytes | None, str], Answer]
"""Method, path with query, body, content type -> answer; EngineUnreachable where there is none."""


class Connection:
    """A server that was recognised; sends requests, retries what is worth it, and raises what went wrong."""

    def __init__(self, send: Send, dialect: Dialect, version: str, where: str, retries: int) -> None:
        self.dialect = dialect
        self.version = version
        self.where = where
        self._send = send
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type((EngineBusy, EngineUnreachable)),
            stop=tenacity.stop_after_attempt(retries + 1),
            wait=tenacity.wait_random_exponential(multiplier=0.2, max=5.0),
            reraise=True,
        )

    def call(
        self, method: str, path: str, body: Any = None, *, lines: bytes | None = None, accept: Collection[int] = ()
    ) -> Answer:
        """Send a request and return its answer.

        `body` is sent as JSON, `lines` as they are. A status of 400 or more raises, unless it is in `accept`:
        EngineBusy where a later try may help, EngineError else. Requests may be sent twice: every one of ours has the
        same effect then.
        """
        data = lines if lines is not None else None if body is None else encoded(body)
        kind = NDJSON if lines is not None else JSON
        return self._retrying(self._once, method, path, data, kind, accept)

    def _once(self, method: str, path: str, data: bytes | None, kind: str, accept: Collection[int]) -> Answer:
        answer = self._send(method, path, data, kind)
        if answer.status < 400 or answer.status in accept:  # noqa: PLR2004 - HTTP
            if not isinstance(answer.body, Mapping):
                raise _no_json(self.where)
            return answer
        raise failure(answer, self.where)


def encoded(body: Any) -> bytes:
    """Return JSON; arrays of numpy are written as lists."""
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def failure(answer: Answer, where: str) -> EngineError:
    """Return the error that an answer stands for."""
    error = answer.body.get("error", answer.body) if isinstance(answer.body, dict) else answer.body
    reason = reason_of(error)
    if answer.status in _UNAUTHORISED:
        return EngineError(
            f"{where} refuses these credentials (HTTP {answer.status}): check user and password in UMG_ENGINE."
        )
    if answer.status in _BUSY:
        return EngineBusy(f"{where} is overloaded or not ready (HTTP {answer.status}, {reason}): try again later.")
    return EngineError(f"{where} refused a request (HTTP {answer.status}, {reason}).")


def connect(settings: Settings) -> Connection:
    """Return a connection to the server that the settings name, recognised from its answers.

    EngineUnreachable where nothing answers, EngineUnsupported where something else does.
    """
    where = public_address(settings.engine)
    if (urlsplit(settings.engine).hostname or "").endswith(".aoss.amazonaws.com"):
        raise EngineUnsupported(
            f"{where} is OpenSearch Serverless, which umg-search does not support: use an OpenSearch Service domain."
        )
    send = _opensearch(settings, where)  # asks any server; the other client insists on its own kind
    probe = Connection(send, ELASTICSEARCH, "", where, settings.retries)
    dialect, version = recognise(probe.call("GET", "/", accept={404}).body, where)
    if dialect is ELASTICSEARCH:
        send = _elasticsearch(settings, where)
    return Connection(send, dialect, version, where, settings.retries)


def public_address(url: str) -> str:
    """Return an address without user, password and whatever stands in its query."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


class _FastJson(opensearchpy.serializer.JSONSerializer):
    """orjson parses ten lists in half the time of json."""

    def loads(self, s: str) -> Any:
        try:
            return orjson.loads(s)
        except ValueError as error:
            raise opensearchpy.SerializationError(s, error) from error


def _opensearch(settings: Settings, where: str) -> Send:
    client = opensearchpy.OpenSearch(
        settings.engine,
        timeout=settings.request_timeout_s,
        max_retries=0,  # retries are decided in one place, above
        serializer=_FastJson(),
    )

    def send(method: str, path: str, body: bytes | None, kind: str) -> Answer:
        try:
            answer = client.transport.perform_request(method, path, body=body, headers={"content-type": kind})
        except opensearchpy.ConnectionError as error:
            raise _unreachable(where, error.info) from error
        except opensearchpy.SerializationError as error:
            raise _no_json(where) from error
        except opensearchpy.TransportError as error:
            return Answer(int(error.status_code), error.info)
        return Answer(200, answer)

    return send


def _elasticsearch(settings: Settings, where: str) -> Send:
    fast = elasticsearch.OrjsonSerializer()
    client = elasticsearch.Elasticsearch(
        _with_port(settings.engine),
        request_timeout=settings.request_timeout_s,
        max_retries=0,  # retries are decided in one place, above
        serializers={JSON: fast, "application/vnd.elasticsearch+json": fast},
    )

    def send(method: str, path: str, body: bytes | None, kind: str) -> Answer:
        try:
            answer = client.perform_request(method, path, body=body, headers={"accept": JSON, "content-type": kind})
        except elasticsearch.ApiError as error:
            return Answer(error.meta.status, error.body)
        except elastic_transport.SerializationError as error:
            raise _no_json(where) from error
        except elastic_transport.TransportError as error:
            raise _unreachable(where, error) from error
        return Answer(answer.meta.status, answer.body)

    return send


def _with_port(url: str) -> str:
    """Return an address with its port: this client insists on one, the other takes 9200 for http by itself."""
    parts = urlsplit(url)
    if parts.port is not None:
        return url
    port = 443 if parts.scheme == "https" else 9200
    return urlunsplit(parts._replace(netloc=f"{parts.netloc.rstrip(':')}:{port}"))


def _unreachable(where: str, reason: object) -> EngineUnreachable:
    return EngineUnreachable(f"{where} does not answer ({reason}): start the engine, or correct UMG_ENGINE.")


def _no_json(where: str) -> EngineUnsupported:
    return EngineUnsupported(f"{where} does not answer in JSON: it is no search engine, or a proxy stands before it.")
