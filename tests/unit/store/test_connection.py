"""What a connection makes of answers: which are tried again, which raise, and what the sentences say."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
import tenacity

from umg_search.errors import EngineBusy, EngineError, EngineUnreachable, EngineUnsupported
from umg_search.settings import Settings
from umg_search.store.client import Answer, Connection
from umg_search.store.dialect import OPENSEARCH
from umg_search.store.retrying import BUSY, retrying
from umg_search.store.transports import endpoint_of

WHERE = "http://host:9200"
PAGE = "<html>\r\n<head><title>503</title></head>\r\n<body>" + "x" * 9_999 + "</body>\r\n</html>"


class Server:
    """Gives prepared answers in turn, the last of them for ever."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.asked = 0
        self._answers: Sequence[Answer | Exception] = answers

    def __call__(self, *_: Any) -> Answer:
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenacity.nap.time, "sleep", lambda _: None)


def connection(server: Server, retries: int = 2) -> Connection:
    return Connection(server, endpoint_of(Settings(engine=WHERE)), OPENSEARCH, "3.5.0", partial(retrying, retries, 60))


@pytest.mark.parametrize("status", sorted(BUSY))
def test_a_busy_server_is_asked_again_and_then_told(status: int) -> None:
    server = Server(Answer(status, {"error": {"type": "busy", "reason": "full"}}))
    with pytest.raises(EngineBusy, match=rf"HTTP {status}, busy: full\): try again later\.$"):
        connection(server).call("GET", "/")
    assert server.asked == 1 + 2


@pytest.mark.parametrize("first", [Answer(503, PAGE), EngineUnreachable("cut")])
def test_what_passes_is_not_told(first: Answer | Exception) -> None:
    server = Server(first, Answer(200, {"ok": True}))
    assert connection(server).call("GET", "/").body == {"ok": True}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 500, 501])
def test_what_another_try_cannot_help_is_told_at_once(status: int) -> None:
    server = Server(Answer(status, {}))
    with pytest.raises(EngineError, match=f"HTTP {status}"):
        connection(server).call("GET", "/")
    assert server.asked == 1


def test_of_a_gateways_page_the_beginning_is_told_on_one_line() -> None:
    with pytest.raises(EngineBusy) as caught:
        connection(Server(Answer(503, PAGE)), retries=0).call("GET", "/")
    assert "<title>503</title>" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_gateways_page_is_handed_on_where_its_status_is_expected() -> None:
    """A 413 comes from gateways, and they answer in HTML."""
    assert connection(Server(Answer(413, PAGE))).call("POST", "/_bulk", lines=b"", accept={413}).status == 413


def test_a_page_instead_of_an_answer_is_told() -> None:
    with pytest.raises(EngineUnsupported, match="does not answer in JSON"):
        connection(Server(Answer(200, PAGE))).call("GET", "/")


def test_the_answer_of_some_shards_is_no_answer() -> None:
    failure = {"shard": 1, "reason": {"type": "node_closed_exception", "reason": "gone"}}
    part = Answer(200, {"_shards": {"total": 3, "successful": 2, "failed": 1, "failures": [failure]}, "hits": {}})
    server = Server(part, Answer(200, {"_shards": {"total": 3, "successful": 3, "failed": 0}}))
    assert connection(server).call("POST", "/_refresh").body["_shards"]["failed"] == 0
    with pytest.raises(EngineBusy, match=r"in part only \(1 of 3 shards failed, node_closed_exception: gone\)"):
        connection(Server(part)).call("POST", "/_refresh")


def test_shards_without_an_active_copy_are_no_failure() -> None:
    """A replica that waits for a node is missing from `successful` and is not in `failed`."""
    whole = Answer(200, {"_shards": {"total": 4, "successful": 2, "failed": 0}})
    assert connection(Server(whole)).call("POST", "/_refresh") == whole
