"""docker-compose.yml names only what exists: by the schema of Compose files, and by this project's own code."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
import yaml

from umg_search.cli.main import ExitCode, app
from umg_search.settings import PREFIX, Settings, plain

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
TEXT = FILE.read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("worker", "sweeper")
ENGINES = ("opensearch", "elasticsearch")
DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")


def settings_of(service: str) -> dict[str, str]:
    environment = SERVICES[service]["environment"]
    return {name: DEFAULT.sub(r"\1", value) for name, value in environment.items() if name.startswith(PREFIX)}


def reached(service: str) -> Iterator[str]:
    """Yield the names under which other services reach one."""
    yield service
    yield from SERVICES[service].get("networks", {}).get("default", {}).get("aliases", ())


def test_it_is_a_compose_file() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(FILE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("service", OURS)
def test_every_setting_exists_and_all_together_are_valid(service: str) -> None:
    values = {name.removeprefix(PREFIX).lower(): value for name, value in settings_of(service).items()}
    assert set(values) <= set(Settings.model_fields)
    assert Settings(**values).engine == "http://engine:9200"  # type: ignore[arg-type] - text, as in the environment


@pytest.mark.parametrize("service", OURS)
def test_commands_and_health_checks_are_ours_with_options_that_exist(service: str) -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined] - it is a group
    kind, check = SERVICES[service]["healthcheck"]["test"]
    command, accepted = check.split(" || ")
    assert (kind, accepted) == ("CMD-SHELL", f"[ $$? -eq {ExitCode.NOTHING_YET:d} ]")
    program, *words = command.split()
    assert program == "umg"
    for name, *arguments in (SERVICES[service]["command"], words):
        assert commands[name].make_context(name, list(arguments)).command is commands[name]


@pytest.mark.parametrize("service", OURS)
def test_engine_and_broker_are_reached_by_names_and_ports_of_this_file(service: str) -> None:
    settings = Settings(**{n.removeprefix(PREFIX).lower(): v for n, v in settings_of(service).items()})  # type: ignore[arg-type]
    engine, broker = urlsplit(settings.engine), urlsplit(plain(settings.broker))
    assert all(engine.hostname in reached(name) for name in ENGINES)
    assert broker.hostname in reached("redis")
    for names, port in ((ENGINES, engine.port), (("redis",), broker.port)):
        published = {port for name in names for port in SERVICES[name]["ports"]}
        assert published == {f"127.0.0.1:{port}:{port}"}


def test_nothing_is_open_beyond_this_machine_and_there_is_no_password_to_know() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []
    assert "privileged" not in TEXT
    assert [
        name for service in SERVICES.values() for name in service.get("environment", {}) if "PASSWORD" in name
    ] == []


def test_one_engine_is_started_unless_another_is_named() -> None:
    (profile,) = re.findall(r"^COMPOSE_PROFILES=(\w+)$", (ROOT / ".env").read_text(encoding="utf-8"), re.MULTILINE)
    profiles = {name: service.get("profiles", []) for name, service in SERVICES.items()}
    ours = {name: [] for name in OURS}
    assert profiles == {"opensearch": ["opensearch"], "elasticsearch": ["elasticsearch"], "redis": [], **ours}
    assert profile == "opensearch"
    for name in OURS:
        waits = SERVICES[name]["depends_on"]
        assert {engine for engine in ENGINES if not waits[engine]["required"]} == set(ENGINES)


def test_versions_are_pinned_to_those_that_the_tests_run_against() -> None:
    images = {name: service["image"].rpartition(":")[2] for name, service in SERVICES.items()}
    tested = tomllib.loads((ROOT / "dev" / "servers.toml").read_text(encoding="utf-8"))
    newest = {engine: [t["version"] for t in tested.values() if t["engine"] == engine][-1] for engine in ENGINES}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert images == newest | {"redis": "7.0.15"} | dict.fromkeys(OURS, project)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_limited_restarted_and_checked(name: str) -> None:
    service = SERVICES[name]
    assert service["mem_limit"]
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"]
    assert service["logging"]["options"]["max-size"]
    named = [volume.partition(":")[0] for volume in service["volumes"]]
    assert set(named) <= set(COMPOSE["volumes"])


def test_a_child_fits_into_its_container() -> None:
    gibibytes = int(SERVICES["worker"]["mem_limit"].removesuffix("g"))
    assert int(settings_of("worker")["UMG_WORKER_MEMORY_MB"]) < gibibytes * 1024


def test_the_image_is_made_of_what_is_there_and_does_not_run_as_root() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert [name for name in copied if f"!{name}" not in allowed] == []
    assert "USER umg" in lines
    assert 'ENTRYPOINT ["umg"]' in lines
