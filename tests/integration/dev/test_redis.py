"""The Redis of the tests: shared, private, and what it keeps when it is killed."""

import subprocess
import sys

import pytest
import redis

from dev import redis_server
from dev.errors import MissingToolError


def test_a_running_redis_is_kept() -> None:
    first = redis_server.start()
    assert redis_server.start() == first
    assert redis_server.running() == first
    command = [sys.executable, "-m", "dev.servers", "urls", "redis"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # a fixed command
    assert run.stdout == f"{first.url}\n"


def test_a_killed_redis_comes_back_with_what_it_had_confirmed_or_wiped() -> None:
    with redis_server.private() as server, redis.Redis(port=server.port) as client:
        for number in range(100):
            client.rpush("numbers", number)
        back = redis_server.restart(server)
        assert (back.port, back.pid != server.pid) == (server.port, True)
        assert client.llen("numbers") == 100
        redis_server.restart(back, wiped=True)
        assert client.llen("numbers") == 0
    assert not server.folder.exists()


def test_a_redis_that_keeps_nothing_is_empty_after_its_end() -> None:
    with redis_server.private(keeps=False) as server, redis.Redis(port=server.port) as client:
        client.set("key", "value")
        redis_server.restart(server)
        assert client.dbsize() == 0


def test_a_machine_without_redis_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingToolError, match="apt-get install redis-server"):
        redis_server.program()
