"""The settings that a node is started with."""

from collections.abc import Sequence
from dataclasses import dataclass

from dev.catalogue import ServerSpec


@dataclass(frozen=True, slots=True)
class NodePlan:
    """Where a node will live and listen, before it has a process."""

    name: str
    http_port: int
    transport_port: int
    home: str
    data: str


def node_settings(spec: ServerSpec, cluster: str, plan: NodePlan, plans: Sequence[NodePlan]) -> dict[str, str]:
    """Return the settings of one planned node among all of its cluster."""
    return {
        "path.home": plan.home,
        "path.data": plan.data,
        "path.logs": f"{plan.home}/logs",
        "cluster.name": cluster,
        "node.name": plan.name,
        "network.host": "127.0.0.1",
        "http.port": str(plan.http_port),
        "transport.port": str(plan.transport_port),
        # A developer's disk is often nearly full; the watermarks would make every index read-only.
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        # Every test makes index sets of its own; the default of 1,000 shards would end a long run.
        "cluster.max_shards_per_node": "5000",
        **_transport(spec),
        **_discovery(spec, plans),
    }


def _transport(spec: ServerSpec) -> dict[str, str]:
    # OpenSearch finds several transports on a flat class path and wants to be told; Elasticsearch has one module.
    return {"transport.type": "netty4", "http.type": "netty4"} if spec.engine == "opensearch" else {}


def _discovery(spec: ServerSpec, plans: Sequence[NodePlan]) -> dict[str, str]:
    if len(plans) == 1:
        return {"discovery.type": "single-node"}
    manager = "cluster_manager" if spec.engine == "opensearch" else "master"
    return {
        "discovery.seed_hosts": ",".join(f"127.0.0.1:{plan.transport_port}" for plan in plans),
        f"cluster.initial_{manager}_nodes": ",".join(plan.name for plan in plans),
    }
