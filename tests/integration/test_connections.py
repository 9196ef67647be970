"""Authentication, TLS and several nodes, for real: a gate in front of one OpenSearch and one Elasticsearch node."""

import logging
import socket
import ssl
import time
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from dev import gate, sigv4
from dev.gate import Gate, Guard, Request
from tests.conftest import SERVERS
from tests.fakes.encoders import HashedWords, encoded, spec
from umg_search.cli.main import run
from umg_search.errors import ConfigurationError, EngineError, EngineUnreachable, EngineUnsupported
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, Outcome
from umg_search.search import Query, SearchService
from umg_search.settings import Settings
from umg_search.store.client import connect
from umg_search.store.reader import Reader
from umg_search.store.server import ServerEngine
from umg_search.store.writer import Writer

BEHIND = [name for name in SERVERS if name in {"opensearch-3.5.0", "elasticsearch-8.19.21"}] or [SERVERS[0]]
USER, PASSWORD = "añn", "pass:wörd/%41"
API_KEY = "a2V5LWlkOmtleS1zZWNyZXQ="
TOKEN = "eyJhbGciOi.token-secret"  # noqa: S105 - a test's own
ACCESS_KEY, SECRET_KEY, SESSION = "AKIDEXAMPLE", "aws-secret/key", "aws-session-token"
REGION = "eu-west-1"
BASIC = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SECRETS = (PASSWORD, "w%C3%B6rd", API_KEY, TOKEN, SECRET_KEY, SESSION, BASIC)
OPEN = 200


@dataclass(frozen=True)
class Certificates:
    """Authority, server and client certificates, and files of them."""

    folder: Path
    authority: trustme.CA
    server: trustme.LeafCert

    def file(self, name: str, content: trustme.Blob) -> Path:
        path = self.folder / name
        content.write_to_path(path)
        return path

    @property
    def ca_certs(self) -> Path:
        return self.file("ca.pem", self.authority.cert_pem)

    def context(self, *, clients: bool = False, server: trustme.LeafCert | None = None) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        (server or self.server).configure_cert(context)
        if clients:
            context.verify_mode = ssl.CERT_REQUIRED
            self.authority.configure_trust(context)
        return context


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    authority = trustme.CA()
    return Certificates(tmp_path_factory.mktemp("tls"), authority, authority.issue_cert("localhost"))


@pytest.fixture(params=BEHIND)
def upstream(request: pytest.FixtureRequest, server_prefix: Callable[[str], tuple[str, str]]) -> tuple[str, str]:
    return server_prefix(request.param)


@pytest.fixture(autouse=True)
def no_secret_is_told(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Whatever a test does, no log, at the lowest level, and no output holds a secret."""
    caplog.set_level(logging.DEBUG)
    for name in ("opensearch", "opensearchpy", "elastic_transport", "elasticsearch", "urllib3"):
        caplog.set_level(logging.DEBUG, logger=name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    yield
    streams = capsys.readouterr()
    logged = "".join(map(caplog.handler.format, caplog.get_records("call")))
    assert logged
    told = logged + streams.out + streams.err
    assert [secret for secret in SECRETS if secret in told] == []


def requires(value: str) -> Guard:
    return lambda request: OPEN if request.headers.get("authorization") == value else 401


def signed(request: Request) -> int:
    verifier = sigv4.Verifier(ACCESS_KEY, SECRET_KEY, REGION)
    fault = verifier.fault(request.method, request.target, request.headers, request.body, sigv4.now())
    return 403 if fault or request.headers.get("x-amz-security-token") != SESSION else OPEN


def anybody(_request: Request) -> int:
    return OPEN


def settings(opened: Gate, prefix: str, certificates: Certificates, **values: object) -> Settings:
    given = {"engine": opened.url(), "ca_certs": certificates.ca_certs, "retries": 0, **values}
    return Settings(prefix=prefix, replicas=0, grace_s=0, **given)  # type: ignore[arg-type] - forwarded keywords


def round_trip(chosen: Settings) -> None:
    """Ingest, search, read and delete one document."""
    engine = ServerEngine(chosen)
    kind = spec(experts=(Expert.DENSE, Expert.LEXICAL), granularities=(Granularity.G2,))
    writer, reader = Writer(engine, grace=0), Reader(engine)
    index = writer.prepare(kind)
    document = Document(id="a b/ü,c.md", text="The gate is shut at night. It opens at seven. The guard knows why.")
    assert [report.outcome for report in writer.replace(index, [encoded(document, kind)])] == [Outcome.NEW]
    result = SearchService(reader, HashedWords).search(Query(text="when is the gate shut"))
    assert [context.document_id for context in result.contexts] == [document.id]
    assert not result.degraded
    assert reader.text(document.key) == document.text
    assert writer.delete(index, [document.key]) == [True]


def check(chosen: Settings) -> None:
    """Ask for what is there: nothing yet."""
    assert ServerEngine(chosen).active_set() is None


def told(error: BaseException) -> str:
    """Return a sentence, after a look at the whole traceback for secrets."""
    shown = "".join(traceback.format_exception(error))
    assert [secret for secret in SECRETS if secret in shown or secret in repr(error)] == []
    return str(error)


def refusal(chosen: Settings) -> str:
    with pytest.raises(EngineError) as caught:
        connect(chosen)
    assert not isinstance(caught.value, EngineUnreachable)
    return told(caught.value)


def opened(
    upstream: str, certificates: Certificates, guard: Guard = anybody, *, clients: bool = False
) -> AbstractContextManager[Gate]:
    return gate.opened(upstream, guard, tls=certificates.context(clients=clients))


# --- headers -------------------------------------------------------------------------------------------------------

WAYS = {
    "basic": (f"Basic {BASIC}", {"user": USER, "password": PASSWORD}, "UMG_USER and UMG_PASSWORD"),
    "api-key": (f"ApiKey {API_KEY}", {"api_key": API_KEY}, "UMG_API_KEY"),
    "bearer": (f"Bearer {TOKEN}", {"bearer_token": TOKEN}, "UMG_BEARER_TOKEN"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_header_opens_the_gate_and_a_wrong_one_is_refused_with_its_setting(
    way: str, upstream: tuple[str, str], certificates: Certificates
) -> None:
    header, values, named = WAYS[way]
    with opened(upstream[0], certificates, requires(header)) as entrance:
        (round_trip if way == "basic" else check)(settings(entrance, upstream[1], certificates, **values))
        wrong = {**values, list(values)[-1]: "wrong"}
        assert f"(HTTP 401): check {named}" in refusal(settings(entrance, upstream[1], certificates, **wrong))
        assert "of which none is set" in refusal(settings(entrance, upstream[1], certificates))


def test_user_and_password_may_stand_in_the_address(upstream: tuple[str, str], certificates: Certificates) -> None:
    with opened(upstream[0], certificates, requires(f"Basic {BASIC}")) as entrance:
        address = entrance.url().replace("//", "//a%C3%B1n:pass%3Aw%C3%B6rd%2F%2541@")
        chosen = settings(entrance, upstream[1], certificates, engine=address)
        check(chosen)
        assert entrance.url() in ServerEngine(chosen).info().where


def test_a_forbidden_request_names_the_roles(upstream: tuple[str, str], certificates: Certificates) -> None:
    with opened(upstream[0], certificates, lambda request: OPEN if request.target == "/" else 403) as entrance:
        engine = ServerEngine(settings(entrance, upstream[1], certificates, api_key=API_KEY))
        with pytest.raises(EngineError, match=r"HTTP 403.*whom UMG_API_KEY stands for a role of docs/security\.md"):
            engine.active_set()


@pytest.mark.parametrize("way", WAYS)
def test_the_command_line_tells_no_secret_even_with_a_traceback(
    way: str,
    upstream: tuple[str, str],
    certificates: Certificates,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {**WAYS[way][1], "prefix": upstream[1], "ca_certs": str(certificates.ca_certs)}.items():
        monkeypatch.setenv(f"UMG_{name.upper()}", value)
    with opened(upstream[0], certificates, requires("nothing")) as entrance:
        monkeypatch.setenv("UMG_ENGINE", entrance.url())
        assert run(["status"]) == 3
        assert WAYS[way][2] in capsys.readouterr().err
        with pytest.raises(EngineError) as caught:
            run(["status"], debug=True)
    told(caught.value)


# --- signatures ----------------------------------------------------------------------------------------------------


@pytest.fixture
def domain(server_prefix: Callable[[str], tuple[str, str]]) -> tuple[str, str]:
    """What stands for an Amazon OpenSearch Service domain."""
    return server_prefix(next((name for name in BEHIND if name.startswith("opensearch")), BEHIND[0]))


@pytest.mark.parametrize("gzip", [False, True])
def test_a_signature_is_what_the_server_computes_itself(
    domain: tuple[str, str], certificates: Certificates, *, gzip: bool
) -> None:
    with opened(domain[0], certificates, signed) as entrance:
        (round_trip if gzip else check)(settings(entrance, domain[1], certificates, aws_region=REGION, gzip=gzip))
    compressed = {request.headers.get("content-encoding") for request in entrance.requests if request.body}
    assert compressed == ({"gzip"} if gzip else set())


@pytest.mark.parametrize("wrong", ["key", "region", "service"])
def test_a_wrong_signature_is_refused_with_what_to_check(
    domain: tuple[str, str], certificates: Certificates, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    values = {"aws_region": "us-east-1" if wrong == "region" else REGION}
    values |= {"aws_service": "s3"} if wrong == "service" else {}
    if wrong == "key":
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with opened(domain[0], certificates, signed) as entrance:
        message = refusal(settings(entrance, domain[1], certificates, **values))
    assert "(HTTP 403): check UMG_AWS_REGION and the AWS credentials, this machine's clock" in message


def test_elasticsearch_takes_no_signatures(
    server_prefix: Callable[[str], tuple[str, str]], certificates: Certificates
) -> None:
    server = next((name for name in BEHIND if name.startswith("elasticsearch")), None)
    if server is None:
        pytest.skip("none of the servers named is Elasticsearch")
    url, prefix = server_prefix(server)
    with (
        opened(url, certificates, signed) as entrance,
        pytest.raises(EngineUnsupported, match="takes no AWS signatures"),
    ):
        connect(settings(entrance, prefix, certificates, aws_region=REGION))


# --- certificates --------------------------------------------------------------------------------------------------


def test_an_unknown_authority_is_refused(upstream: tuple[str, str], certificates: Certificates) -> None:
    other = certificates.file("other.pem", trustme.CA().cert_pem)
    with opened(upstream[0], certificates) as entrance:
        for trusted in (other, None):
            message = refusal(settings(entrance, upstream[1], certificates, ca_certs=trusted))
            assert "not from a trusted authority" in message
            assert "UMG_CA_CERTS" in message
        assert entrance.requests == []


def test_a_certificate_for_another_name_is_refused(upstream: tuple[str, str], certificates: Certificates) -> None:
    with opened(upstream[0], certificates) as entrance:
        message = refusal(settings(entrance, upstream[1], certificates, engine=entrance.url(host="127.0.0.1")))
        assert "is for another name" in message
        assert "UMG_ENGINE" in message
        assert entrance.requests == []


def test_an_expired_certificate_is_refused(upstream: tuple[str, str], certificates: Certificates) -> None:
    expired = certificates.authority.issue_cert("localhost", not_after=datetime(2020, 1, 1, tzinfo=UTC))
    with gate.opened(upstream[0], anybody, tls=certificates.context(server=expired)) as entrance:
        assert "has expired or is not yet valid" in refusal(settings(entrance, upstream[1], certificates))
        assert entrance.requests == []


def test_a_plain_server_at_an_https_address_is_named(upstream: tuple[str, str], certificates: Certificates) -> None:
    with gate.opened(upstream[0], anybody) as entrance:
        assert "does not speak TLS" in refusal(settings(entrance, upstream[1], certificates))


def test_a_client_certificate_opens_the_gate(upstream: tuple[str, str], certificates: Certificates) -> None:
    client = certificates.authority.issue_cert("client")
    one_file = certificates.file("client-both.pem", client.private_key_and_cert_chain_pem)
    with opened(upstream[0], certificates, clients=True) as entrance:
        check(settings(entrance, upstream[1], certificates, client_cert=one_file))


def test_an_encrypted_key_is_opened_by_its_password(upstream: tuple[str, str], certificates: Certificates) -> None:
    client = certificates.authority.issue_cert("client")
    cert = certificates.file("client.pem", client.cert_chain_pems[0])
    key = certificates.folder / "client.key"
    plain = load_pem_private_key(client.private_key_pem.bytes(), None)
    key.write_bytes(plain.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(PASSWORD.encode())))
    pair = {"client_cert": cert, "client_key": key}
    with opened(upstream[0], certificates, clients=True) as entrance:
        connect(settings(entrance, upstream[1], certificates, **pair, client_key_password=PASSWORD))
        for wrong in ("", "wrong"):
            with pytest.raises(ConfigurationError, match="UMG_CLIENT_KEY_PASSWORD") as caught:
                connect(settings(entrance, upstream[1], certificates, **pair, client_key_password=wrong))
            told(caught.value)


def test_a_missing_client_certificate_is_asked_for(upstream: tuple[str, str], certificates: Certificates) -> None:
    with opened(upstream[0], certificates, clients=True) as entrance:
        message = refusal(settings(entrance, upstream[1], certificates))
        assert "wants a client certificate" in message
        assert "UMG_CLIENT_CERT" in message


def test_a_client_certificate_of_another_authority_is_refused(
    upstream: tuple[str, str], certificates: Certificates
) -> None:
    stranger = certificates.file("stranger.pem", trustme.CA().issue_cert("x").private_key_and_cert_chain_pem)
    with opened(upstream[0], certificates, clients=True) as entrance:
        message = refusal(settings(entrance, upstream[1], certificates, client_cert=stranger))
        assert "refuses the client certificate" in message
        assert "UMG_CLIENT_CERT" in message


# --- several nodes, connections ------------------------------------------------------------------------------------


def dead_address() -> str:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return f"https://localhost:{taken.getsockname()[1]}"


def test_a_dead_node_is_passed_over_at_once(upstream: tuple[str, str], certificates: Certificates) -> None:
    """Without a retry of ours, and wherever it stands in the list."""
    with opened(upstream[0], certificates) as entrance:
        for order in ([dead_address(), entrance.url()], [entrance.url(), dead_address()]):
            check(settings(entrance, upstream[1], certificates, engine=",".join(order)))


@pytest.mark.skipif(len(SERVERS) < 2, reason="two clusters are needed")
def test_nodes_of_different_clusters_are_refused_in_one_sentence(
    server_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Writes and searches would be scattered over both; a node that does not answer may be of either."""
    one, other = (server_url(name) for name in SERVERS[:2])
    nodes = f"{one},{dead_address()},{other}".replace("https://localhost", "http://localhost")
    sentence = f"{one} and {other} belong to different clusters: name nodes of one cluster in UMG_ENGINE"
    with pytest.raises(ConfigurationError, match=sentence):
        connect(Settings(engine=nodes))
    assert connect(Settings(engine=f"{one},{one}/")).version
    monkeypatch.setenv("UMG_ENGINE", nodes)
    assert run(["doctor"]) == 2
    assert sentence in capsys.readouterr().out


def test_a_node_that_hangs_is_passed_over(upstream: tuple[str, str], certificates: Certificates) -> None:
    with opened(upstream[0], certificates) as entrance, closing(socket.create_server(("127.0.0.1", 0))) as silent:
        nodes = f"https://localhost:{silent.getsockname()[1]},{entrance.url()}"
        server = connect(settings(entrance, upstream[1], certificates, engine=nodes, connect_timeout_s=0.1))
        started = time.perf_counter()
        for _ in range(8):
            server.call("GET", "/")
        assert time.perf_counter() - started < 8 * 0.1 + 1  # it is left alone once it is known


def test_searches_go_on_when_a_node_dies_between_them(upstream: tuple[str, str], certificates: Certificates) -> None:
    with opened(upstream[0], certificates) as survivor:
        with opened(upstream[0], certificates) as victim:
            nodes = f"{victim.url()}, {survivor.url()}"
            server = connect(settings(survivor, upstream[1], certificates, engine=nodes))
            for _ in range(4):
                server.call("GET", "/")
            assert victim.requests
            assert survivor.requests
        for _ in range(4):
            server.call("GET", "/")


def test_when_all_nodes_are_dead_all_are_named(certificates: Certificates) -> None:
    nodes = [dead_address(), dead_address()]
    with pytest.raises(EngineUnreachable) as caught:
        connect(Settings(engine=",".join(nodes), retries=0, ca_certs=certificates.ca_certs))
    assert all(node in str(caught.value) for node in nodes)


@pytest.mark.parametrize("size", [2, 6])
def test_the_pool_keeps_as_many_connections_as_are_wanted(
    upstream: tuple[str, str], certificates: Certificates, size: int
) -> None:
    def slow(request: Request) -> int:
        if request.target.startswith("/_msearch"):
            time.sleep(0.1)
        return OPEN

    with opened(upstream[0], certificates, slow) as entrance:
        server = connect(settings(entrance, upstream[1], certificates, pool_size=size))
        for _ in range(2):
            with ThreadPoolExecutor(6) as threads:
                list(threads.map(lambda _: server.call("POST", "/_msearch", lines=b'{}\n{"size": 0}\n'), range(6)))
        assert entrance.open == size
