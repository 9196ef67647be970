"""Start and stop the servers of the tests: the functions that tests call, and the command line.

`python -m dev.servers start [NAME...]` starts the pinned servers (all by default) and leaves them running.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from uuid import uuid4

from dev.assembly import assemble
from dev.cache import exclusive
from dev.catalogue import ServerSpec, catalogue, spec_of
from dev.errors import DevServerError
from dev.health import wait_until_healthy
from dev.node_settings import NodePlan, node_settings
from dev.ports import free_ports
from dev.process import Node, birth, launch
from dev.running import SHARED, RunningServer, folder_of, load

__all__ = ["NAMES", "RunningServer", "private", "restart", "running", "start"]

NAMES = tuple(catalogue())
DEFAULT_HEAP = "1g"
START_SECONDS = 300.0
# A machine that is busy with something else makes a good server slow to answer; it is not replaced for that.
BUSY_SECONDS = 60.0


def start(
    name: str,
    *,
    nodes: int = 1,
    label: str = SHARED,
    data_dir: Path | None = None,
    ports: Sequence[int] | None = None,
    heap: str = DEFAULT_HEAP,
) -> RunningServer:
    """Return a healthy server of this name and label, started unless it runs already with all its nodes.

    `ports` are two for each node, HTTP and transport (default: free ones). Data lies in the run folder and goes with
    it, or in `data_dir`, one folder a node, and stays.
    """
    spec = spec_of(name)
    with exclusive(f"{name}-{label}"):
        found = _reusable(load(name, label))
        if found is not None:
            return _with_nodes(found, nodes)
        # What a crash left there would otherwise be the new server's data.
        shutil.rmtree(folder_of(name, label), ignore_errors=True)
        return _start(spec, label, _plan(spec, label, nodes, data_dir, ports), heap)


def restart(server: RunningServer, node: int) -> RunningServer:
    """Kill a node unless it is dead, start it again with its data and ports, and wait until the cluster has it back."""
    spec, dead = spec_of(server.name), server.nodes[node]
    with exclusive(f"{server.name}-{server.label}"):
        server.kill(node)
        plans = [_plan_of(other) for other in server.nodes]
        revived = _launch(spec, server.label, plans[node], plans, server.heap)
        nodes = tuple(revived if each == dead else each for each in server.nodes)
        changed = replace(server, nodes=nodes)
        changed.save()
        wait_until_healthy(changed, START_SECONDS)
    return changed


def running(name: str, label: str = SHARED) -> RunningServer | None:
    """Return the server of this name and label if any of its nodes lives."""
    found = load(name, label)
    return found if found is not None and found.alive() else None


@contextmanager
def private(name: str, *, nodes: int = 1, heap: str = "512m") -> Iterator[RunningServer]:
    """Give a server that nobody else uses, for tests that kill nodes or change settings, and remove it after."""
    server = start(name, nodes=nodes, label=uuid4().hex[:8], heap=heap)
    try:
        yield server
    finally:
        # A restart may have replaced nodes since.
        (load(name, server.label) or server).stop()


def _reusable(found: RunningServer | None) -> RunningServer | None:
    """Return the server if it answers, if need be after a while; end what is left of it otherwise."""
    if found is None:
        return None
    try:
        wait_until_healthy(found, BUSY_SECONDS)
    except DevServerError:
        found.discard()
        return None
    return found


def _with_nodes(found: RunningServer, nodes: int) -> RunningServer:
    if len(found.nodes) == nodes:
        return found
    raise DevServerError(
        f"{found.name} ({found.label}) runs with {len(found.nodes)} nodes, not {nodes}: stop it or take another label"
    )


def _start(spec: ServerSpec, label: str, plans: list[NodePlan], heap: str) -> RunningServer:
    nodes = tuple(_launch(spec, label, plan, plans, heap) for plan in plans)
    server = RunningServer(spec.name, label, spec.engine, spec.version, heap, nodes)
    server.save()
    try:
        wait_until_healthy(server, START_SECONDS)
    except BaseException:
        server.discard()
        raise
    return server


def _launch(spec: ServerSpec, label: str, plan: NodePlan, plans: list[NodePlan], heap: str) -> Node:
    settings = node_settings(spec, f"umg-{spec.name}-{label}", plan, plans)
    pid = launch(spec, assemble(spec), settings, heap)
    return Node(pid=pid, born=birth(pid) or "", **asdict(plan))


def _plan_of(node: Node) -> NodePlan:
    return NodePlan(node.name, node.http_port, node.transport_port, node.home, node.data)


def _plan(
    spec: ServerSpec, label: str, nodes: int, data_dir: Path | None, ports: Sequence[int] | None
) -> list[NodePlan]:
    chosen = list(ports) if ports else free_ports(2 * nodes)
    if len(chosen) != 2 * nodes:
        raise DevServerError(f"{nodes} nodes take {2 * nodes} ports, two each, not {len(chosen)}")
    folder = folder_of(spec.name, label)
    names = [f"n{number}" for number in range(1, nodes + 1)]
    return [
        NodePlan(
            name=name,
            http_port=http_port,
            transport_port=transport_port,
            home=str(folder / name),
            data=str(data_dir.absolute() / name if data_dir else folder / name / "data"),
        )
        for name, http_port, transport_port in zip(names, chosen[::2], chosen[1::2], strict=True)
    ]


if __name__ == "__main__":
    from dev.cli import main

    sys.exit(main())
