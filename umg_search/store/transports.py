"""The two official clients as transports: method, path and bytes go in, status and body come out."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import elastic_transport
import elasticsearch
import opensearchpy
import orjson
import urllib3

from umg_search.addresses import nodes_of
from umg_search.errors import EngineError, EngineUnreachable, EngineUnsupported, UmgError
from umg_search.settings import Settings
from umg_search.store.authentication import Authentication, authentication_of
from umg_search.store.retrying import seconds_asked
from umg_search.store.tls import tls_context, tls_failure

JSON = "application/json"


class Answer(NamedTuple):
    """HTTP status and decoded body of an answer; seconds that the server asks to wait before another try."""

    status: int
    body: Any
    retry_after: float = 0.0


Send = Callable[[str, str, bytes | None, str], Answer]
"""Method, path with query, body, content type -> answer; EngineUnreachable where there is none."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The nodes of a cluster, and how they are asked."""

    nodes: tuple[str, ...]
    authentication: Authentication
    tls: ssl.SSLContext | None = field(repr=False)
    timeout: urllib3.Timeout
    pool_size: int
    gzip: bool

    @property
    def where(self) -> str:
        """The addresses, for messages."""
        return ", ".join(self.nodes)

    @property
    def other_nodes(self) -> int:
        """How many nodes are left to ask when the first does not answer."""
        return len(self.nodes) - 1


def endpoint_of(settings: Settings) -> Endpoint:
    """Return the endpoint that the settings name; ConfigurationError where its credentials or files do not serve."""
    nodes = nodes_of(settings.engine)
    return Endpoint(
        nodes=nodes,
        authentication=authentication_of(settings),
        tls=tls_context(settings) if nodes[0].startswith("https:") else None,
        timeout=urllib3.Timeout(connect=settings.connect_timeout_s, read=settings.request_timeout_s),
        pool_size=settings.pool_size,
        gzip=settings.gzip,
    )


def opensearch(endpoint: Endpoint) -> Send:
    """Return requests through the OpenSearch client, which asks any server."""
    client = opensearchpy.OpenSearch(
        list(endpoint.nodes),
        headers=dict(endpoint.authentication.headers),
        http_auth=endpoint.authentication.signer,
        ssl_context=endpoint.tls,
        timeout=endpoint.timeout,
        pool_maxsize=endpoint.pool_size,
        http_compress=endpoint.gzip,
        max_retries=endpoint.other_nodes,  # each node once; all other retries are decided in one place, above
        retry_on_status=(),  # the same
        retry_on_timeout=True,  # a node that hangs is passed over like a dead one
        serializer=_FastJson(),
        connection_class=_HeadersKept,
    )

    def send(method: str, path: str, body: bytes | None, kind: str) -> Answer:
        try:
            answer = client.transport.perform_request(method, path, body=body, headers={"content-type": kind})
        except opensearchpy.ConnectionError as error:
            raise _unanswered(error, error.info, endpoint) from error
        except opensearchpy.SerializationError as error:  # of a type that the client does not know
            raise no_json(endpoint.where) from error
        except opensearchpy.TransportError as error:
            return Answer(int(error.status_code), error.info, seconds_asked(error.error))
        return Answer(200, answer)

    return send


def elasticsearch_only(endpoint: Endpoint) -> Send:
    """Return requests through the Elasticsearch client, which insists on its own kind of server."""
    fast = _FastJsonOfElastic()
    client = elasticsearch.Elasticsearch(
        list(endpoint.nodes),
        headers=endpoint.authentication.headers,
        ssl_context=endpoint.tls,
        request_timeout=endpoint.timeout,  # type: ignore[arg-type]  # a number is turned into this by its pool
        connections_per_node=endpoint.pool_size,
        http_compress=endpoint.gzip,
        max_retries=endpoint.other_nodes,  # each node once; all other retries are decided in one place, above
        retry_on_status=(),  # the same
        retry_on_timeout=True,  # a node that hangs is passed over like a dead one
        serializers=dict.fromkeys((JSON, "application/vnd.elasticsearch+json", "application/xml"), fast),
    )

    def send(method: str, path: str, body: bytes | None, kind: str) -> Answer:
        try:
            answer = client.perform_request(method, path, body=body, headers={"accept": JSON, "content-type": kind})
        except elasticsearch.ApiError as error:
            return Answer(error.meta.status, error.body, seconds_asked(error.meta.headers.get("retry-after")))
        except elastic_transport.SerializationError as error:
            raise no_json(endpoint.where) from error
        except elastic_transport.TransportError as error:
            raise _unanswered(error, error, endpoint) from error
        return Answer(answer.meta.status, answer.body)

    return send


def no_json(where: str) -> EngineUnsupported:
    """Return the error for an answer that is no JSON."""
    return EngineUnsupported(f"{where} does not answer in JSON: it is no search engine, or a proxy stands before it.")


class _FastJson(opensearchpy.serializer.JSONSerializer):
    """orjson parses ten lists in half the time of json; see also `_FastJsonOfElastic`."""

    def loads(self, s: str) -> Any:
        return _decoded(s)


class _FastJsonOfElastic(elasticsearch.OrjsonSerializer):
    """orjson too; a status is worth more than a page that was announced as JSON, or as nothing, and is none."""

    def loads(self, data: bytes) -> Any:
        return _decoded(data)


class _HeadersKept(opensearchpy.Urllib3HttpConnection):
    """Its errors carry the header Retry-After; the client's own forget all headers of an error."""

    def perform_request(self, *args: Any, **options: Any) -> Any:
        status, headers, data = super().perform_request(*args, **(options | {"ignore": range(300, 600)}))
        if status < 300:  # noqa: PLR2004 - HTTP
            return status, headers, data
        raise opensearchpy.TransportError(status, headers.get("retry-after"), _decoded(data))


def _decoded(data: str | bytes) -> Any:
    """Return JSON as values; what is none, such as a gateway's page, as text."""
    try:
        return orjson.loads(data)
    except ValueError:
        return data if isinstance(data, str) else data.decode("utf-8", "replace")


def _unanswered(error: Exception, reason: object, endpoint: Endpoint) -> UmgError:
    if isinstance(reason, UmgError):  # a signer's own word, wrapped by the client
        return reason
    if isinstance(error, opensearchpy.ConnectionTimeout | elastic_transport.ConnectionTimeout):
        return EngineUnreachable(
            f"{endpoint.where} did not answer in time ({reason}): try again later, or raise UMG_REQUEST_TIMEOUT_S."
        )
    failure: EngineError | None = tls_failure(error, endpoint.where)
    return failure or EngineUnreachable(
        f"{endpoint.where} does not answer ({reason}): start the engine, or correct UMG_ENGINE."
    )
