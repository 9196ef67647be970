import json
import os
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
import urllib3

from dev import servers
from dev.errors import MissingToolError

# An answer: the status and the JSON body (nothing for HEAD).
Ask = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="session")
def ask() -> Iterator[Ask]:
    """Send one request; a list of bodies goes out as newline-delimited JSON."""
    with urllib3.PoolManager(retries=False, timeout=60) as pool:

        def send(method: str, url: str, body: object = None) -> tuple[int, Any]:
            lines = body if isinstance(body, list) else [body]
            data = "\n".join(json.dumps(line) for line in lines) + ("\n" if isinstance(body, list) else "")
            headers = {"content-type": "application/x-ndjson" if isinstance(body, list) else "application/json"}
            answer = pool.request(method, url, body=None if body is None else data, headers=headers)
            return answer.status, json.loads(answer.data) if answer.data else None

        yield send


@pytest.fixture(scope="session")
def shared() -> Callable[[str], str]:
    """Start a shared server by name, or keep the one that runs, and return its URL."""

    def url_of(name: str) -> str:
        try:
            return servers.start(name).url
        except MissingToolError as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(str(error))

    return url_of


@pytest.fixture
def index() -> str:
    """Give a name that no other test uses."""
    return f"dev-{uuid4().hex[:12]}"
