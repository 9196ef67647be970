"""Bulk requests against a server written by hand."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import pytest
import tenacity
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ranking.lists import PROPERTY
from umg_search.errors import EngineBusy
from umg_search.store.actions import Action
from umg_search.store.bulk import PATH, Bulk
from umg_search.store.client import Answer
from umg_search.store.retrying import FIRST_PAUSE, LONGEST_PAUSE, retrying

CREATED, NOT_FOUND, CONFLICT, BUSY, UNAVAILABLE = 201, 404, 409, 429, 503


class Server:
    """Answers each item by what `status` says of its name at its n-th try, and 413 to more than `limit` bytes."""

    where = "http://host:9200"

    def __init__(
        self, status: Callable[[str, int], int] = lambda _name, _try: CREATED, limit: int = 10**9, retries: int = 4
    ) -> None:
        self.retrying = partial(retrying, retries, 1_000)
        self.requests: list[list[str]] = []
        self._status = status
        self._limit = limit
        self._tries: dict[str, int] = {}

    def call(self, method: str, path: str, *, lines: bytes, accept: Collection[int]) -> Answer:
        assert (method, path) == ("POST", PATH)
        names = lines.decode().split()
        self.requests.append(names)
        if len(lines) > self._limit:
            assert 413 in accept
            return Answer(413, "<html>Payload Too Large</html>")
        return Answer(200, {"items": [{"index": {"_id": name, "status": self._next(name)}} for name in names]})

    def _next(self, name: str) -> int:
        self._tries[name] = self._tries.get(name, 0) + 1
        return self._status(name, self._tries[name])


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(tenacity.nap.time, "sleep", slept.append)
    return slept


def actions(*names: str) -> list[Action]:
    return [Action(name, f"{name}\n".encode()) for name in names]


def send(server: Server, todo: Sequence[Action], *, most_bytes: int = 10**6) -> dict[str, int]:
    found = [(o.action.subject, o.status) for o in Bulk(server, most_bytes).send(todo)]
    assert len({name for name, _ in found}) == len(found)
    return dict(found)


def test_one_request_is_enough_where_nothing_is_wrong(pauses: list[float]) -> None:
    server = Server()
    assert send(server, actions("a", "b")) == {"a": CREATED, "b": CREATED}
    assert server.requests == [["a", "b"]]
    assert pauses == []


def test_only_items_that_are_refused_for_now_are_sent_again() -> None:
    """3 of 10 items answer 429 twice."""
    names = [f"i{n}" for n in range(10)]
    slow = {"i1", "i4", "i7"}
    server = Server(lambda name, attempt: BUSY if name in slow and attempt <= 2 else CREATED)
    assert send(server, actions(*names)) == dict.fromkeys(names, CREATED)
    assert server.requests == [names, sorted(slow), sorted(slow)]


def test_an_unavailable_shard_is_worth_another_try_too() -> None:
    server = Server(lambda _, attempt: UNAVAILABLE if attempt == 1 else CREATED)
    assert send(server, actions("a")) == {"a": CREATED}


def test_pauses_grow_up_to_a_limit_and_there_is_one_between_two_tries(pauses: list[float]) -> None:
    server = Server(lambda _name, _try: BUSY, retries=8)
    assert send(server, actions("a")) == {"a": BUSY}
    assert len(server.requests) == 1 + 8
    assert len(pauses) == 8
    assert all(0 <= pause <= min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt) for attempt, pause in enumerate(pauses))


def test_without_retries_the_first_word_is_the_last() -> None:
    server = Server(lambda _name, _try: BUSY, retries=0)
    assert send(server, actions("a", "b")) == {"a": BUSY, "b": BUSY}
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, NOT_FOUND, CONFLICT, 500])
def test_what_another_try_cannot_help_is_not_sent_again(status: int) -> None:
    server = Server(lambda name, _: status if name == "a" else CREATED)
    assert send(server, actions("a", "b")) == {"a": status, "b": CREATED}
    assert len(server.requests) == 1


def test_a_request_over_the_proxys_limit_is_cut_until_it_passes() -> None:
    names = ["aa", "bb", "cc", "dd", "ee"]
    server = Server(limit=2 * 3)
    assert send(server, actions(*names)) == dict.fromkeys(names, CREATED)
    assert server.requests == [names, ["aa", "bb"], ["cc", "dd"], ["ee"]]


def test_what_was_learned_of_the_limit_is_remembered() -> None:
    server = Server(limit=2 * 3)
    bulk = Bulk(server, 10**6)
    for _ in range(2):
        assert all(outcome.done for outcome in bulk.send(actions("aa", "bb", "cc", "dd")))
    assert server.requests == [["aa", "bb", "cc", "dd"], *[["aa", "bb"], ["cc", "dd"]] * 2]


def test_requests_that_were_cut_for_a_limit_that_was_too_high_are_cut_again() -> None:
    server = Server(limit=2 * 3)
    send(server, actions("aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"), most_bytes=4 * 3)
    assert server.requests[0] == ["aa", "bb", "cc", "dd"]
    assert [len(request) for request in server.requests[1:]] == [2, 2, 2, 2]


def test_actions_are_taken_as_they_are_sent() -> None:
    """A huge document is never a list of lines in memory: one request's worth, and the action that did not fit."""
    taken: list[int] = []

    def endless() -> Iterator[Action]:
        for action in actions(*(f"a{n:02}" for n in range(40))):
            taken.append(len(action.lines))
            yield action

    server = Server()
    for number, _ in enumerate(Bulk(server, 5 * 4).send(endless())):
        assert len(taken) <= 5 * (number // 5 + 1) + 1
    assert len(taken) == 40


def test_an_entry_that_is_too_large_by_itself_fails_alone_with_its_size() -> None:
    server = Server(limit=5)
    outcomes = {o.action.subject: o for o in Bulk(server, 99).send(actions("a", "x" * 10))}
    assert outcomes["a"].done
    assert outcomes["x" * 10].status == 413
    assert "11 bytes is too large for http://host:9200" in outcomes["x" * 10].word["error"]


def test_requests_are_cut_before_they_go_out() -> None:
    server = Server()
    send(server, actions("aa", "bb", "cc"), most_bytes=2 * 3)
    assert server.requests == [["aa", "bb"], ["cc"]]


def test_a_server_that_fails_altogether_is_the_connections_matter() -> None:
    class Down(Server):
        def call(self, *_: Any, **__: Any) -> Answer:
            raise EngineBusy("overloaded")

    with pytest.raises(EngineBusy):
        send(Down(), actions("a"))


@PROPERTY
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=4), st.integers(0, 4), max_size=15),
    st.integers(5, 30),
    st.integers(1, 40),
)
def test_each_action_gets_exactly_one_word_whatever_happens(busy: dict[str, int], limit: int, most: int) -> None:
    server = Server(lambda name, attempt: BUSY if attempt <= busy[name] else CREATED, limit=limit)
    assert send(server, actions(*busy), most_bytes=most) == dict.fromkeys(busy, CREATED)
