"""Connections to a server through its own client, with one meaning for errors and retries."""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson
import tenacity

from umg_search.errors import EngineBusy, EngineError, EngineUnreachable, EngineUnsupported
from umg_search.settings import Settings
from umg_search.store.authentication import Authentication
from umg_search.store.bodies import reason_of
from umg_search.store.dialect import ELASTICSEARCH, Dialect, recognise
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
_BUSY = frozenset({429, 502, 503, 504})


class Connection:
    """A server that was recognised; sends requests, retries what is worth it, and raises what went wrong."""

    def __init__(self, send: Send, endpoint: Endpoint, dialect: Dialect, version: str, retries: int) -> None:
        self.dialect = dialect
        self.version = version
        self.where = endpoint.where
        self._authentication = endpoint.authentication
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
                raise no_json(self.where)
            return answer
        raise failure(answer, self.where, self._authentication)


def encoded(body: Any) -> bytes:
    """Return JSON; arrays of numpy are written as lists."""
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def failure(answer: Answer, where: str, authentication: Authentication) -> EngineError:
    """Return the error that an answer stands for."""
    error = answer.body.get("error", answer.body) if isinstance(answer.body, dict) else answer.body
    reason = reason_of(error)
    if answer.status in _UNAUTHORISED:
        return authentication.refused(where, answer.status, reason)
    if answer.status in _BUSY:
        return EngineBusy(f"{where} is overloaded or not ready (HTTP {answer.status}, {reason}): try again later.")
    return EngineError(f"{where} refused a request (HTTP {answer.status}, {reason}).")


def connect(settings: Settings) -> Connection:
    """Return a connection to the server that the settings name, recognised from its answers.

    EngineUnreachable where nothing answers, EngineUnsupported where something else does, ConfigurationError where the
    credentials cannot be used.
    """
    endpoint = endpoint_of(settings)
    if any((urlsplit(node).hostname or "").endswith(".aoss.amazonaws.com") for node in endpoint.nodes):
        raise EngineUnsupported(
            f"{endpoint.where} is OpenSearch Serverless, which umg-search does not support: "
            "use an OpenSearch Service domain."
        )
    send = opensearch(endpoint)  # asks any server; the other client insists on its own kind
    probe = Connection(send, endpoint, ELASTICSEARCH, "", settings.retries)
    dialect, version = recognise(probe.call("GET", "/", accept={404}).body, endpoint.where)
    if dialect is ELASTICSEARCH:
        if endpoint.authentication.signer:
            raise EngineUnsupported(
                f"{endpoint.where} is elasticsearch {version}, which takes no AWS signatures: "
                "authenticate by UMG_USER or UMG_API_KEY instead of UMG_AWS_REGION."
            )
        send = elasticsearch_only(endpoint)
    return Connection(send, endpoint, dialect, version, settings.retries)
