"""A Redis and a server for processes of umg-search."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dev import redis_server
from dev.errors import MissingToolError
from tests.processes import MODEL, Deployment, deployment

SERVER = "opensearch-3.5.0"


@pytest.fixture
def broker() -> str:
    """Return the address of the shared Redis."""
    try:
        return redis_server.start().url
    except MissingToolError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture
def limits() -> dict[str, object]:
    """Return settings in which a module differs."""
    return {}


@pytest.fixture
def umg(
    tmp_path: Path, broker: str, server_prefix: Callable[[str], tuple[str, str]], limits: dict[str, object]
) -> Iterator[Deployment]:
    """Give a deployment on one server, with a real and small model, that finds dead workers soon."""
    url, prefix = server_prefix(SERVER)
    logs = tmp_path / "logs"
    logs.mkdir()
    settings = {"replicas": 0, "grace_s": 0, "lease_s": 3, "dense_model": MODEL, "index_preset": "lean", **limits}
    with deployment(logs, engine=url, prefix=prefix, broker=broker, **settings) as made:
        yield made
