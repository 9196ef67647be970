"""The health checks of docker-compose.yml, asked of the servers and the Redis that the tests have."""

import re
from collections.abc import Callable

import pytest
import redis
import urllib3

from dev import redis_server
from tests.conftest import SERVERS
from tests.unit.test_compose import ENGINES, SERVICES


@pytest.mark.parametrize("server", SERVERS)
def test_the_engines_health_path_is_answered(server: str, server_url: Callable[[str], str]) -> None:
    for engine in ENGINES:
        command = SERVICES[engine]["healthcheck"]["test"][1]
        (path,) = re.findall(r"http://localhost:9200(/[^']+)", command)
        answer = urllib3.request("GET", server_url(server) + path)
        assert (answer.status, answer.json()["timed_out"]) == (200, False)


def test_redis_answers_its_check_and_knows_its_options() -> None:
    program, *options = SERVICES["redis"]["command"]
    assert program == redis_server.PACKAGE
    assert SERVICES["redis"]["healthcheck"]["test"] == ["CMD", "redis-cli", "ping"]
    with redis.Redis(port=redis_server.start().port) as client:
        assert client.ping()
        known = client.config_get(*{name.removeprefix("--") for name in options[::2]})
    assert set(known) == {name.removeprefix("--") for name in options[::2]}
