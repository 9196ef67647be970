"""A started server and the state file that lets other processes find it."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from dev.cache import exclusive, run_folder
from dev.process import Node, end, kill

STATE = "state.json"
# The label of the server that the command line starts and that everybody shares.
SHARED = "shared"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that was started: a cluster of one or several nodes on this machine.

    `label` tells servers of the same name apart.
    """

    name: str
    label: str
    engine: str
    version: str
    heap: str
    nodes: tuple[Node, ...]

    @property
    def url(self) -> str:
        """The first node that lives, else the first one."""
        return next((node.url for node in self.nodes if node.alive()), self.nodes[0].url)

    @property
    def urls(self) -> tuple[str, ...]:
        """Every node, dead or alive."""
        return tuple(node.url for node in self.nodes)

    @property
    def pids(self) -> tuple[int, ...]:
        """The process of every node."""
        return tuple(node.pid for node in self.nodes)

    @property
    def folder(self) -> Path:
        """The run folder: homes, logs, the state file and, unless another folder was named, the data."""
        return folder_of(self.name, self.label)

    def alive(self) -> bool:
        """Say whether any node lives."""
        return any(node.alive() for node in self.nodes)

    def stop(self) -> None:
        """Close every node and remove the run folder; data in a folder that the caller named stays."""
        with exclusive(f"{self.name}-{self.label}"):
            self.discard()

    def discard(self) -> None:
        """Do what stop does, for a caller that holds the lock."""
        end(list(self.nodes))
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self, node: int = 0) -> None:
        """End one node as a power cut would; its data stays for `servers.restart`."""
        kill([self.nodes[node]])

    def save(self) -> None:
        """Write the state file, whole or not at all."""
        partial = self.folder / f"{STATE}.partial"
        partial.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        partial.rename(self.folder / STATE)


def load_all() -> list[RunningServer]:
    """Return every server that has a state file, whatever its label."""
    states = sorted(run_folder().glob(f"*/{STATE}"))
    return [_read(path) for path in states]


def folder_of(name: str, label: str) -> Path:
    """Return the run folder of a server, whether it runs or not."""
    return run_folder() / f"{name}-{label}"


def load(name: str, label: str = SHARED) -> RunningServer | None:
    """Return the server that the state file describes; its nodes may have died since."""
    path = folder_of(name, label) / STATE
    return _read(path) if path.exists() else None


def _read(path: Path) -> RunningServer:
    state = json.loads(path.read_text(encoding="utf-8"))
    return RunningServer(**{**state, "nodes": tuple(Node(**node) for node in state["nodes"])})
