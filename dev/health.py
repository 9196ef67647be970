"""Waiting until a server answers."""

import json
import time
import urllib.request
from typing import Any

from dev.errors import DevServerError
from dev.running import RunningServer

POLL_SECONDS = 0.1
ASK_SECONDS = 3.0
# The nodes listen on the loopback address; a proxy that the environment names must not be asked.
_HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def health(url: str) -> dict[str, Any] | None:
    """Return the cluster health, or nothing if the node does not answer.

    Any colour counts as an answer: a test may leave an index red, and the server is not to blame for it.
    """
    try:
        with _HTTP.open(f"{url}/_cluster/health", timeout=ASK_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
    except (OSError, ValueError):
        return None
    return found


def is_healthy(server: RunningServer) -> bool:
    """Say whether every node lives and the cluster has all of them."""
    found = health(server.url) if all(node.alive() for node in server.nodes) else None
    return found is not None and found["number_of_nodes"] == len(server.nodes)


def wait_until_healthy(server: RunningServer, seconds: float) -> None:
    """Wait for all nodes; a node that ends, or the end of patience, is an error with the last lines of the log."""
    deadline = time.monotonic() + seconds
    while not is_healthy(server):
        dead = next((node for node in server.nodes if not node.alive()), None)
        if dead is not None:
            raise DevServerError(f"{server.name}: node {dead.name} has ended; its log ends:\n{dead.log_tail()}")
        if time.monotonic() > deadline:
            tail = server.nodes[0].log_tail()
            raise DevServerError(f"{server.name} does not answer after {seconds:.0f} s; its log ends:\n{tail}")
        time.sleep(POLL_SECONDS)
