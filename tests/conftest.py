"""Engines for tests: the embedded one, and real servers, each under a prefix of its own."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import urllib3

from dev import servers
from umg_search.settings import Settings

EMBEDDED = "embedded"


def given_servers() -> dict[str, str]:
    """Return the servers that the user named, by address."""
    urls = [url.strip() for url in os.environ.get("UMG_TEST_ENGINES", "").split(",") if url.strip()]
    return {urlsplit(url).netloc: url for url in urls}


SERVERS = tuple(given_servers()) or servers.NAMES


OLDER = frozenset({"opensearch-2.19.1", "elasticsearch-8.19.21"})
"""The older server of each kind: tests marked `newest` ask it in `make test-long` only."""


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        asked = getattr(item, "callspec", None)
        if item.get_closest_marker("newest") and asked and not OLDER.isdisjoint(map(str, asked.params.values())):
            item.add_marker(pytest.mark.long)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("UMG_") and name not in {"UMG_TEST_ENGINES", "UMG_DEV_CACHE"}:
            monkeypatch.delenv(name)


@pytest.fixture
def server_url() -> Callable[[str], str]:
    """Return a function from a server's name to its address; no server: skipped at a desk, a failure in CI."""

    def url(name: str) -> str:
        given = given_servers()
        if name in given:
            return given[name]
        running = servers.running(name)
        if running is not None:
            return running.url
        if os.environ.get("CI"):
            pytest.fail(f"{name} does not run: `make services` starts it")
        pytest.skip(f"{name} does not run: `make services` starts it")

    return url


@pytest.fixture
def server_prefix(server_url: Callable[[str], str]) -> Iterator[Callable[[str], tuple[str, str]]]:
    """Return a function from a server's name to its address and a fresh prefix, whose indices go with the test."""
    made: list[tuple[str, str]] = []

    def fresh(name: str) -> tuple[str, str]:
        made.append((server_url(name), f"t{uuid4().hex[:12]}"))
        return made[-1]

    yield fresh
    for url, prefix in made:
        delete_indices(url, prefix)


@pytest.fixture(params=[EMBEDDED, *SERVERS])
def engine_settings(
    request: pytest.FixtureRequest, tmp_path: Path, server_prefix: Callable[[str], tuple[str, str]]
) -> Settings:
    """Return settings for each engine in turn."""
    if request.param == EMBEDDED:
        return Settings(engine=f"embedded:{tmp_path / 'index'}", grace_s=0)
    url, prefix = server_prefix(request.param)
    return Settings(engine=url, prefix=prefix, replicas=0, grace_s=0)


def delete_indices(url: str, prefix: str) -> None:
    """Delete the indices of one prefix, by name: servers refuse wildcards there."""
    with urllib3.PoolManager(retries=False) as http:
        listed = http.request("GET", f"{url}/{prefix}*/_alias?expand_wildcards=all").json()
        if names := [name for name in listed if name.startswith(prefix)]:
            http.request("DELETE", f"{url}/{','.join(names)}").drain_conn()
