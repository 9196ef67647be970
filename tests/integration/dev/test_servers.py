"""The servers themselves: found again, shared between processes, robust against dead nodes."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from dev import servers

Ask = Callable[..., tuple[int, Any]]

ELASTICSEARCH = [name for name in servers.NAMES if name.startswith("elasticsearch")]


@pytest.mark.parametrize("name", servers.NAMES)
def test_a_running_server_is_kept(name: str, shared: Callable[[str], str]) -> None:
    url = shared(name)
    before = servers.running(name)
    assert shared(name) == url
    assert servers.running(name) == before


def test_the_command_prints_the_urls_of_running_servers(shared: Callable[[str], str]) -> None:
    url = shared("opensearch-2.19.1")
    command = [sys.executable, "-m", "dev.servers", "urls", "opensearch-2.19.1"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # a fixed command
    assert run.stdout == f"{url}\n"


@pytest.mark.parametrize("name", ELASTICSEARCH)
def test_clients_recognise_elasticsearch(name: str, shared: Callable[[str], str], ask: Ask) -> None:
    status, root = ask("GET", shared(name))
    assert status == 200
    assert root["version"]["number"] == name.removeprefix("elasticsearch-")
    assert root["version"]["build_flavor"] == "default"
    assert root["tagline"] == "You Know, for Search"


@pytest.mark.long
def test_a_cluster_survives_a_killed_node_and_takes_it_back(ask: Ask, index: str) -> None:
    with servers.private("opensearch-2.19.1", nodes=3) as server:
        address = f"{server.url}/{index}"
        ask("PUT", address, {"settings": {"number_of_shards": 1, "number_of_replicas": 1}})
        assert ask("POST", f"{address}/_doc?refresh=true&wait_for_active_shards=2", {"a": 1})[0] == 201
        server.kill(0)
        assert server.url == server.urls[1]
        assert ask("GET", f"{server.url}/_cluster/health?wait_for_nodes=2&timeout=30s")[1]["timed_out"] is False
        assert ask("GET", f"{server.url}/{index}/_count")[1]["count"] == 1
        whole = servers.restart(server, 0)
        health = ask("GET", f"{whole.urls[0]}/_cluster/health?wait_for_status=green&timeout=60s")[1]
        assert (health["number_of_nodes"], health["status"]) == (3, "green")
    assert not whole.alive()
    assert not whole.folder.exists()


def test_two_processes_start_one_server_together() -> None:
    label, name = f"race-{time.time_ns()}", "opensearch-2.19.1"
    code = f"from dev import servers; print(servers.start({name!r}, label={label!r}, heap='512m').pids)"
    command = [sys.executable, "-c", code]
    racing = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]  # noqa: S603  # a fixed command
    try:
        first, second = (process.communicate(timeout=300)[0] for process in racing)
        assert first == second != b""
    finally:
        server = servers.running(name, label)
        assert server is not None
        server.stop()
