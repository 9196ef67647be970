"""A proxy that does to real answers what networks, gateways and busy servers do, by rules, and keeps what it saw.

Rules are asked in their order; the first that fits a request decides what becomes of it, all else is forwarded.

    with faults.proxy(url) as between:
        between.add(Refuse(503), path="POST /_bulk", times=3)
        ...
        assert len(between.requests("/_bulk")) == 4
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol

import urllib3

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date", "server"})
"""Headers that are between two neighbours, or that this proxy writes itself."""

UPSTREAM_SECONDS = 120.0
"""How long the server behind the proxy may take; longer than any client here waits."""

_TOO_LARGE = 413


class Answer(NamedTuple):
    """What a client gets."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    size: int

    @property
    def line(self) -> str:
        """Method, path and query."""
        return f"{self.method} {self.path}"

    @property
    def ids(self) -> list[str]:
        """Ids of the items of a bulk request, in order."""
        return [item.id for item in items(self.body)]


class Item(NamedTuple):
    """One item of a bulk request: operation, index, id, and its lines."""

    operation: str
    index: str
    id: str
    lines: bytes


class Exchange:
    """One request under way, between the connection of a client and the servers."""

    def __init__(self, proxy: "Proxy", handler: BaseHTTPRequestHandler, request: Request) -> None:
        self.request = request
        self._proxy = proxy
        self._handler = handler

    def forward(self, body: bytes | None = None) -> Answer:
        """Ask the server, with another body if one is given."""
        return self._proxy.forward(self.request, self.request.body if body is None else body)

    def reply(self, answer: Answer, *, most: int | None = None) -> None:
        """Answer the client; with `most`, say the full length, send only so many bytes and cut the connection."""
        handler = self._handler
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(answer.body)))
        handler.end_headers()
        if self.request.method != "HEAD":
            handler.wfile.write(answer.body[:most])
        if most is not None:
            self.cut()

    def cut(self) -> None:
        """Close the connection to the client."""
        self._handler.close_connection = True

    def wait(self, seconds: float) -> None:
        """Wait, but no longer than the proxy lives."""
        self._proxy.ending.wait(seconds)


class Fault(Protocol):
    """What becomes of a request."""

    def meet(self, exchange: Exchange) -> None:
        """Deal with the request."""
        ...


@dataclass(frozen=True, slots=True)
class Forward:
    """No fault."""

    def meet(self, exchange: Exchange) -> None:
        """Ask the server and hand on its answer."""
        exchange.reply(exchange.forward())


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with an error and forward nothing; `body` is HTML unless `headers` say otherwise, as gateways have it."""

    status: int
    body: bytes = b"<html>\r\n<head><title>refused</title></head>\r\n</html>\r\n"
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/html"})

    def meet(self, exchange: Exchange) -> None:
        """Answer with the error."""
        exchange.reply(Answer(self.status, self.headers, self.body))


@dataclass(frozen=True, slots=True)
class RefuseItems:
    """Answer some items of bulk requests as a busy server does, each `tries` times, and forward the others.

    `positions` are those of the items in the first request; the same items are refused again wherever they come.
    """

    positions: Sequence[int]
    tries: int = 1
    status: int = 429
    _left: Counter[tuple[str, str]] = field(default_factory=Counter)

    def meet(self, exchange: Exchange) -> None:
        """Forward what passes, and put the refusals into the answer at their places."""
        every = items(exchange.request.body)
        if not self._left:
            self._left.update({_key(every[position]): self.tries for position in self.positions})
        refused = {_key(item) for item in every if self._left[_key(item)] > 0}
        self._left.subtract(dict.fromkeys(refused, 1))
        passing = [item for item in every if _key(item) not in refused]
        words = iter(self._words(exchange, passing))
        merged = [self._refusal(item) if _key(item) in refused else next(words) for item in every]
        body = json.dumps({"took": 1, "errors": bool(refused), "items": merged}).encode()
        headers = {"content-type": "application/json", "x-elastic-product": "Elasticsearch"}
        exchange.reply(Answer(200, headers, body))

    def _words(self, exchange: Exchange, passing: Sequence[Item]) -> list[Any]:
        if not passing:
            return []
        answer: dict[str, list[Any]] = json.loads(exchange.forward(b"".join(item.lines for item in passing)).body)
        return answer["items"]

    def _refusal(self, item: Item) -> dict[str, Any]:
        error = {"type": "rejected_execution_exception", "reason": "the queue is full"}
        return {item.operation: {"_index": item.index, "_id": item.id, "status": self.status, "error": error}}


@dataclass(frozen=True, slots=True)
class Alter:
    """Forward, and change the JSON of the answer."""

    change: Callable[[dict[str, Any]], object]

    def meet(self, exchange: Exchange) -> None:
        """Answer what the change has made of the answer, in place."""
        answer = exchange.forward()
        body = json.loads(answer.body)
        self.change(body)
        exchange.reply(answer._replace(body=json.dumps(body).encode()))


@dataclass(frozen=True, slots=True)
class CutAnswer:
    """Forward, and cut the connection after a part of the answer's body."""

    part: float = 0.5

    def meet(self, exchange: Exchange) -> None:
        """Send the head and some of the body."""
        answer = exchange.forward()
        exchange.reply(answer, most=int(len(answer.body) * self.part))


@dataclass(frozen=True, slots=True)
class LoseReply:
    """Forward, and close the connection instead of answering: what was asked is done, and nobody says so."""

    def meet(self, exchange: Exchange) -> None:
        """Forward and say nothing."""
        exchange.forward()
        exchange.cut()


@dataclass(frozen=True, slots=True)
class Slow:
    """Answer after a while; with `late` the server gets the request only then."""

    seconds: float
    late: bool = False

    def meet(self, exchange: Exchange) -> None:
        """Wait before or after the server is asked."""
        if self.late:
            exchange.wait(self.seconds)
        answer = exchange.forward()
        if not self.late:
            exchange.wait(self.seconds)
        exchange.reply(answer)


@dataclass(slots=True)
class _Rule:
    """A fault, the requests that it is for, and for how many of them."""

    fault: Fault
    fits: Callable[[Request], bool]
    left: float
    met: set[tuple[str, str, bytes]] | None

    def takes(self, request: Request) -> bool:
        """Say whether the fault is for this request, and count it."""
        if not self.left or not self.fits(request):
            return False
        same = (request.method, request.path, request.body)
        if self.met is not None and same in self.met:
            return False
        if self.met is not None:
            self.met.add(same)
        self.left -= 1
        return True


class Proxy:
    """The rules and the record of a running proxy.

    Requests of more than `most_bytes` are refused with 413; with `hasty`, before they were read.
    """

    def __init__(self, upstreams: Sequence[str]) -> None:
        self.url = ""
        self.most_bytes: int | None = None
        self.hasty = False
        self.seen: list[Request] = []
        self.ending = threading.Event()
        self._upstreams = list(upstreams)
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._pool = urllib3.PoolManager(retries=False, timeout=UPSTREAM_SECONDS, maxsize=32)

    def add(self, fault: Fault, *, path: str = "", body: str = "", times: float = 1, first_only: bool = False) -> None:
        """Let a fault befall the next requests that the regular expressions are found in.

        `path` is looked for in "METHOD /path?query". `times` may be infinite; with `first_only` a request that comes
        again, as a client's second try does, is left alone.
        """
        in_path, in_body = re.compile(path), re.compile(body.encode())

        def fits(request: Request) -> bool:
            return bool(in_path.search(request.line) and in_body.search(request.body))

        with self._lock:
            self._rules.append(_Rule(fault, fits, times, set() if first_only else None))

    def clear(self) -> None:
        """Forget all rules, the limit, and what was seen."""
        with self._lock:
            self._rules.clear()
            self.seen.clear()
            self.most_bytes = None
            self.hasty = False

    def requests(self, path: str = "") -> list[Request]:
        """Return the requests seen so far whose "METHOD /path?query" the regular expression is found in."""
        with self._lock:
            return [request for request in self.seen if re.search(path, request.line)]

    def fault_for(self, request: Request) -> Fault | None:
        """Note a request, and return what befalls it."""
        with self._lock:
            self.seen.append(request)
            return next((rule.fault for rule in self._rules if rule.takes(request)), None)

    def forward(self, request: Request, body: bytes) -> Answer:
        """Ask the first server that can be reached; the others wait in case it dies."""
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        for upstream in list(self._upstreams):
            try:
                answer = self._pool.request(
                    request.method, upstream + request.path, body=body or None, headers=headers, decode_content=False
                )
            except urllib3.exceptions.NewConnectionError:
                with self._lock:
                    self._upstreams.remove(upstream)
                    self._upstreams.append(upstream)
                continue
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP}
            return Answer(answer.status, kept, answer.data)
        raise ConnectionError("no server behind the proxy can be reached")

    def close(self) -> None:
        """Let go of whoever waits, and of the connections to the servers."""
        self.ending.set()
        self._pool.clear()


@contextmanager
def proxy(*upstreams: str) -> Iterator[Proxy]:
    """Give a running proxy before a server, or before several nodes of one cluster."""
    between = Proxy(upstreams)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": between}))
    server.daemon_threads = True
    between.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield between
    finally:
        between.close()
        server.shutdown()
        server.server_close()
        thread.join()


def items(body: bytes) -> list[Item]:
    """Return the items of a bulk request; a delete has one line, all others have two."""
    lines = iter(body.splitlines(keepends=True))
    found = []
    for head in lines:
        ((operation, about),) = json.loads(head).items()
        own = head if operation == "delete" else head + next(lines)
        found.append(Item(operation, about["_index"], about["_id"], own))
    return found


def _key(item: Item) -> tuple[str, str]:
    return item.index, item.id


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client; one exchange after the other."""

    proxy: Proxy
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        too_large = self.proxy.most_bytes is not None and size > self.proxy.most_bytes
        # A gateway in a hurry answers when it has seen the length, and closes the connection with the body unread.
        unread = too_large and self.proxy.hasty
        body = b"" if unread else self.rfile.read(size)
        request = Request(self.command, self.path, dict(self.headers.items()), body, size)
        exchange = Exchange(self.proxy, self, request)
        fault = self.proxy.fault_for(request) or Forward()
        try:
            (Refuse(_TOO_LARGE) if too_large else fault).meet(exchange)
        except (OSError, urllib3.exceptions.HTTPError):
            exchange.cut()
        if unread:
            exchange.cut()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - names that http.server looks for

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the record is there for that."""
