"""One Java process: what it is started with, whether it lives, how it ends."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dev.assembly import Assembly
from dev.catalogue import JAVA, ServerSpec
from dev.jdk import jdk_home

TERM_SECONDS = 10.0
KILL_SECONDS = 5.0
POLL_SECONDS = 0.05
# There on Linux, not on macOS.
PROC = Path("/proc/self")


class Living(Protocol):
    """A process that was started here."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    def alive(self) -> bool:
        """Say whether it is there still."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a running server."""

    name: str
    pid: int
    born: str
    http_port: int
    transport_port: int
    home: str
    data: str

    @property
    def url(self) -> str:
        """Where the node answers HTTP."""
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def log(self) -> Path:
        """Everything that the node printed."""
        return Path(self.home) / "node.log"

    def alive(self) -> bool:
        """Say whether the process is there and is this node, not a later process with its number."""
        return birth(self.pid) == self.born

    def log_tail(self, lines: int = 25) -> str:
        """Return the last lines of the log."""
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return "(no log)"
        return "\n".join(text.splitlines()[-lines:])


def launch(spec: ServerSpec, assembly: Assembly, settings: dict[str, str], heap: str) -> int:
    """Start a node in a session of its own and return its process id."""
    home = Path(settings["path.home"])
    _prepare_home(home, assembly)
    command = [*_java(spec, assembly, home, heap), spec.main, *(f"{key}={value}" for key, value in settings.items())]
    pid = spawn(command, home / "node.log")
    (home / "node.pid").write_text(f"{pid}\n", encoding="utf-8")
    return pid


def spawn(command: list[str], log: Path) -> int:
    """Start a process that outlives this one and is not reached by its Ctrl-C.

    Not by subprocess, which warns when it loses sight of a child that still runs; here that is the purpose.
    """
    out = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    redirections = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), out, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], command, os.environ, file_actions=redirections, setsid=True)


def end(nodes: Sequence[Living]) -> None:
    """Ask the nodes to close, wait, and kill those that have not."""
    _signal(nodes, signal.SIGTERM)
    if not _gone(nodes, TERM_SECONDS):
        kill(nodes)


def kill(nodes: Sequence[Living]) -> None:
    """End the nodes as a power cut would."""
    _signal(nodes, signal.SIGKILL)
    _gone(nodes, KILL_SECONDS)


def birth(pid: int) -> str | None:
    """Return when a process began, in the system's own terms; nothing for one that has ended.

    The command line would tell nodes apart too, but it reads empty for a moment while the Java launcher replaces
    itself. A process that has ended but was not waited for by its parent has ended all the same.
    """
    with suppress(ChildProcessError):
        # Reaps the node if it is a child of this very process.
        os.waitpid(pid, os.WNOHANG)
    state, _, began = (_from_proc(pid) if PROC.exists() else _from_ps(pid)).partition(" ")
    return began if began and not state.startswith("Z") else None


def _java(spec: ServerSpec, assembly: Assembly, home: Path, heap: str) -> list[str]:
    return [
        str(jdk_home(spec.jdk) / "bin" / "java"),
        # A small start lets idle nodes share a small machine.
        "-Xms128m",
        f"-Xmx{heap}",
        *spec.jvm,
        # Elasticsearch looks for its home here as well as in the settings.
        f"-Des.path.home={home}",
        f"-Djava.io.tmpdir={home / 'tmp'}",
        f"-XX:ErrorFile={home / 'hs_err.log'}",
        # A node that is out of memory must fail the test that caused it, not limp through the next ones.
        "-XX:+ExitOnOutOfMemoryError",
        f"-Dlog4j2.configurationFile={home / 'config' / 'log4j2.properties'}",
        # The launcher closes the node itself, and logs while it does.
        "-Dlog4j.shutdownHookEnabled=false",
        "-cp",
        assembly.class_path,
    ]


def _prepare_home(home: Path, assembly: Assembly) -> None:
    for folder in ("config", "tmp", "logs", "modules"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    # In the config folder, where Elasticsearch insists on it; OpenSearch is pointed to it as well.
    shutil.copy(JAVA / "log4j2.properties", home / "config")
    for module in assembly.modules():
        link = home / "modules" / module.name
        link.unlink(missing_ok=True)
        link.symlink_to(module)


def _signal(nodes: Sequence[Living], number: signal.Signals) -> None:
    for node in nodes:
        if node.alive():
            with suppress(ProcessLookupError):
                os.kill(node.pid, number)


def _gone(nodes: Sequence[Living], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(node.alive() for node in nodes):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _from_proc(pid: int) -> str:
    try:
        fields = (PROC.parent / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    # proc(5): fields 3 and 22 of the whole line, state and starttime.
    return f"{fields[0]} {fields[19]}"


def _from_ps(pid: int) -> str:
    command = ["ps", "-p", str(pid), "-o", "stat=,lstart="]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
