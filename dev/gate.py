"""A reverse proxy that guards a test server: TLS, client certificates, and any check of a request."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import urllib3

DRAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived; names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Guard = Callable[[Request], int]
"""Says 200 to a request that may pass, else the status that it is refused with."""


@dataclass(slots=True)
class Gate:
    """An open gate: its port, and what came in."""

    port: int
    requests: list[Request] = field(default_factory=list)
    open: int = 0
    most_open: int = 0

    def url(self, scheme: str = "https", host: str = "localhost") -> str:
        """Return the gate's address."""
        return f"{scheme}://{host}:{self.port}"


@contextmanager
def opened(upstream: str, guard: Guard, *, tls: ssl.SSLContext | None = None) -> Iterator[Gate]:
    """Open a gate before a server, at a free port of this machine, and close it after."""
    with urllib3.PoolManager(retries=False, maxsize=20) as pool, _Server(tls) as server:
        server.gate = Gate(server.server_address[1])
        server.guard = guard
        server.forward = lambda request: _forward(pool, upstream, request)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.gate
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # clients keep their connections open
    gate: Gate
    guard: Guard
    forward: Callable[[Request], urllib3.BaseHTTPResponse]

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._tls = tls
        self._counting = threading.Lock()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Shake hands in the connection's own thread, then answer its requests."""
        if self._tls:
            request = self._tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
            try:
                request.do_handshake()
            except OSError:
                _drain(request)
                return
        self._count(1)
        try:
            super().finish_request(request, client_address)
        except OSError:
            pass  # the client went away
        finally:
            self._count(-1)
            request.close()

    def _count(self, step: int) -> None:
        with self._counting:
            self.gate.open += step
            self.gate.most_open = max(self.gate.most_open, self.gate.open)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet an answer
    server: _Server

    def _pass(self) -> None:
        length = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(length))
        self.server.gate.requests.append(request)
        status = self.server.guard(request)
        if status != 200:  # noqa: PLR2004 - HTTP
            self._answer(status, "application/json", b'{"error": {"type": "security_exception", "reason": "no"}}')
            return
        answer = self.server.forward(request)
        extra = (
            {"x-elastic-product": answer.headers["x-elastic-product"]} if "x-elastic-product" in answer.headers else {}
        )
        self._answer(answer.status, answer.headers.get("content-type", ""), answer.data, extra)

    do_GET = do_POST = do_PUT = do_DELETE = _pass  # noqa: N815 - the names that the base class looks for

    def _answer(self, status: int, kind: str, body: bytes, extra: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **(extra or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def _forward(pool: urllib3.PoolManager, upstream: str, request: Request) -> urllib3.BaseHTTPResponse:
    kept = ("content-type", "content-encoding", "accept")
    headers = {name: request.headers[name] for name in kept if name in request.headers}
    return pool.request(request.method, upstream + request.target, body=request.body or None, headers=headers)


def _drain(request: ssl.SSLSocket) -> None:
    """Read what the client has sent already: to close before would reset the connection and lose the alert."""
    request.settimeout(DRAIN_SECONDS)
    try:
        while socket.socket.recv(request, 65536):
            pass
    except OSError:
        pass
    finally:
        request.close()
