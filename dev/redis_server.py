"""The Redis of the tests: a port and a folder of its own, from the system's `redis-server`."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

import redis

from dev.cache import exclusive, run_folder
from dev.errors import DevServerError, MissingToolError
from dev.ports import free_ports
from dev.process import birth, end, kill, spawn
from dev.running import SHARED

NAME = "redis"
STATE = "redis.json"
START_SECONDS = 30.0
POLL_SECONDS = 0.02
PACKAGE = "redis-server"


@dataclass(frozen=True, slots=True)
class RunningRedis:
    """A Redis that was started; `keeps` says whether its data outlives its process."""

    label: str
    pid: int
    born: str
    port: int
    keeps: bool

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def folder(self) -> Path:
        """Its data, its log and the state file."""
        return folder_of(self.label)

    def alive(self) -> bool:
        """Say whether the process is there and is this Redis."""
        return birth(self.pid) == self.born

    def answers(self) -> bool:
        """Say whether it takes commands; while it reads its data it takes none."""
        try:
            with redis.Redis(port=self.port, socket_timeout=1, socket_connect_timeout=1) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def kill(self) -> None:
        """End it as a power cut would; what it keeps stays for `restart`."""
        kill([self])

    def stop(self) -> None:
        """End it and remove its folder."""
        with exclusive(f"{NAME}-{self.label}"):
            self.discard()

    def discard(self) -> None:
        """Do what stop does, for a caller that holds the lock."""
        end([self])
        shutil.rmtree(self.folder, ignore_errors=True)


def start(label: str = SHARED, *, keeps: bool = False) -> RunningRedis:
    """Return the Redis of this label, started unless it runs and answers."""
    with exclusive(f"{NAME}-{label}"):
        found = load(label)
        if found is not None:
            if found.alive() and found.answers():
                return found
            found.discard()
        return _start(label, free_ports(1)[0], keeps=keeps)


def restart(server: RunningRedis, *, wiped: bool = False) -> RunningRedis:
    """Kill it unless it is dead, and start it again at its port: with what it keeps, or `wiped`."""
    with exclusive(f"{NAME}-{server.label}"):
        server.kill()
        if wiped:
            shutil.rmtree(server.folder)
        return _start(server.label, server.port, keeps=server.keeps)


def running(label: str = SHARED) -> RunningRedis | None:
    """Return the Redis of this label if it lives."""
    found = load(label)
    return found if found is not None and found.alive() else None


@contextmanager
def private(*, keeps: bool = True) -> Iterator[RunningRedis]:
    """Give a Redis that nobody else uses, for tests that kill it, and remove it after."""
    server = start(uuid4().hex[:8], keeps=keeps)
    try:
        yield server
    finally:
        # A restart may have replaced it since.
        (load(server.label) or server).stop()


def load(label: str = SHARED) -> RunningRedis | None:
    """Return the Redis that the state file describes; it may have died since."""
    path = folder_of(label) / STATE
    return RunningRedis(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def load_all() -> list[RunningRedis]:
    """Return every Redis that has a state file, whatever its label."""
    found = [load(path.parent.name.removeprefix(f"{NAME}-")) for path in sorted(run_folder().glob(f"*/{STATE}"))]
    return [server for server in found if server is not None]


def folder_of(label: str) -> Path:
    """Return the folder of a Redis, whether it runs or not."""
    return run_folder() / f"{NAME}-{label}"


def program() -> str:
    """Return the path of `redis-server`, installed from Debian's packages where that can be done."""
    found = shutil.which(PACKAGE)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        with exclusive(f"install-{NAME}"):
            _install()
        found = shutil.which(PACKAGE)
    if found is None:
        raise MissingToolError(
            f"There is no {PACKAGE} on the PATH: install Redis 6.2 or later, with `apt-get install {PACKAGE}` as root "
            "on Debian and Ubuntu, or `brew install redis` on macOS."
        )
    return found


def _install() -> None:
    # RUNLEVEL=1 keeps the package from starting a service at the default port.
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", PACKAGE]):
        done = subprocess.run(["apt-get", *command], env=environment, capture_output=True, text=True, check=False)  # noqa: S607 - the system's own
        if done.returncode:
            tail = "\n".join(done.stderr.splitlines()[-10:])
            raise MissingToolError(f"apt-get {' '.join(command)} failed: install {PACKAGE} by hand. It said:\n{tail}")


def _start(label: str, port: int, *, keeps: bool) -> RunningRedis:
    folder = folder_of(label)
    folder.mkdir(parents=True, exist_ok=True)
    pid = spawn([program(), *_options(folder, port, keeps=keeps)], folder / "redis.log")
    server = RunningRedis(label, pid, birth(pid) or "", port, keeps)
    (folder / STATE).write_text(json.dumps(asdict(server), indent=2) + "\n", encoding="utf-8")
    try:
        _wait(server)
    except BaseException:
        server.discard()
        raise
    return server


def _options(folder: Path, port: int, *, keeps: bool) -> list[str]:
    values = {
        "port": str(port),
        "bind": "127.0.0.1",
        "dir": str(folder),
        "save": "",
        # Written before a command is answered, so that a killed process loses nothing of what it had confirmed.
        "appendonly": "yes" if keeps else "no",
        "appendfsync": "no",
        # What the broker of a deployment should have: a message is never thrown out to make room.
        "maxmemory-policy": "noeviction",
    }
    return [part for name, value in values.items() for part in (f"--{name}", value)]


def _wait(server: RunningRedis) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.answers():
        if not server.alive() or time.monotonic() > deadline:
            lines = (server.folder / "redis.log").read_text(encoding="utf-8", errors="replace").splitlines()
            raise DevServerError("redis does not answer; its log ends:\n" + "\n".join(lines[-15:]))
        time.sleep(POLL_SECONDS)
