"""Judges of what runs: client, licence, plugins, field types, analysers, and the rights of the user. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from umg_search.model import Finding, Verdict
from umg_search.store.diagnosis.facts import READING, WRITING, Probe
from umg_search.store.dialect import ELASTICSEARCH, Dialect

LICENCE_DAYS = 14
"""Days before the end of a licence from which on it is pointed out."""

_KNN_CLASS = "org.opensearch.knn."
_DAY_MS = 86_400_000.0


def client(dialect: Dialect, server: str, installed: str) -> Finding:
    """Judge the installed client against the server: a newer Elasticsearch client does not speak to an older server."""
    oldest, below = dialect.client_bounds
    found = f"{dialect.client} {installed} for {dialect.name} {server}"
    remedy = f"run pip install '{dialect.client}>={oldest[0]}.{oldest[1]},<{below[0]}'"
    ours, theirs = _numbers(installed), _numbers(server)
    if dialect is ELASTICSEARCH and ours[0] > theirs[0]:
        return Finding("client", Verdict.ERROR, f"{found}: a client cannot speak to a server of an older major", remedy)
    if ours < oldest:
        return Finding("client", Verdict.ERROR, f"{found} is too old", remedy)
    if ours >= below:
        return Finding("client", Verdict.WARNING, f"{found} is newer than any that was tested", remedy)
    return Finding("client", Verdict.OK, found)


def licence(probe: Probe, now: float) -> Finding:
    """Judge the licence of an Elasticsearch server: kNN, rank_features, BM25 and aliases are all in the free one."""
    found = probe.body.get("license")
    if not found:
        return unknown("licence", probe, "on a stock Elasticsearch every licence, basic too, has what is needed")
    kind, status = found.get("type", "?"), found.get("status", "?")
    start_basic = "renew it, or go to the free one with POST /_license/start_basic?acknowledge=true"
    if status != "active":
        text = f"the {kind} licence is {status}: the server may refuse some requests"
        return Finding("licence", Verdict.WARNING, text, start_basic)
    expiry = found.get("expiry_date_in_millis")
    if expiry is not None and expiry < now * 1000 + LICENCE_DAYS * _DAY_MS:
        day = datetime.fromtimestamp(expiry / 1000, UTC).date()
        return Finding("licence", Verdict.WARNING, f"the {kind} licence ends on {day}", start_basic)
    return Finding("licence", Verdict.OK, f"{kind}, active; all that is needed is in the free one")


def knn_plugin(probe: Probe) -> Finding:
    """Judge whether each data node of an OpenSearch cluster has the k-NN plugin."""
    nodes = data_nodes(probe)
    if not nodes:
        return unknown("plugins", probe, "see that GET /_cat/plugins names opensearch-knn on each node")
    without = [
        name
        for name, node in nodes.items()
        if not any(plugin["classname"].startswith(_KNN_CLASS) for plugin in node.get("plugins", ()))
    ]
    if without:
        text = f"node {', '.join(without)} lacks the k-NN plugin"
        return Finding(
            "plugins", Verdict.ERROR, text, "run bin/opensearch-plugin install opensearch-knn and restart it"
        )
    return Finding("plugins", Verdict.OK, f"opensearch-knn on {counted(len(nodes), 'node')}")


def field_types(probe: Probe | None) -> Finding:
    """Judge whether the server would take the mapping of a new set: vectors, rank_features, analyser, dimensions."""
    if probe is None:
        return Finding("field types", Verdict.UNKNOWN, "not tried, since the models of a new set did not load")
    if probe.refusal:
        remedy = "install the plugin or module it lacks (opensearch-knn, mapper-extras), or change experts or models"
        return Finding("field types", Verdict.ERROR, f"the server would refuse a new index ({probe.refusal})", remedy)
    if probe.why:
        return unknown("field types", probe, "to have them checked, let the user ask for index templates")
    return Finding("field types", Verdict.OK, "the server accepts the mapping of a new set")


def analyzer(name: str, probe: Probe) -> Finding:
    """Judge whether the server has the analyser that the lexical expert of a new set would use."""
    if probe.refusal:
        text = f"the server has no analyser {name!r} ({probe.refusal})"
        return Finding("analyser", Verdict.ERROR, text, "install its analysis plugin, or correct UMG_ANALYZER")
    if probe.why:
        return unknown("analyser", probe)
    return Finding("analyser", Verdict.OK, name)


def rights(dialect: Dialect, probe: Probe) -> Finding:
    """Judge what this user may do under the prefix, as far as the server tells."""
    if probe.why:
        return unknown("rights", probe, "where security is off there is nothing to check")
    if dialect is not ELASTICSEARCH:
        return _opensearch_rights(probe.body)
    user = probe.body.get("username", "this user")
    ((names, granted),) = probe.body["index"].items()
    missing = [action for action in (*READING, *WRITING) if not granted.get(action)]
    if not missing:
        return Finding("rights", Verdict.OK, f"{user} may do all that is needed on {names}")
    text = f"{user} may not do {', '.join(missing)} on {names}"
    if not set(READING).intersection(missing):
        return Finding(
            "rights", Verdict.WARNING, f"{text}; searches work", "where this user ingests, let its role do so"
        )
    return Finding("rights", Verdict.ERROR, text, "let its role do so")


def unknown(check: str, probe: Probe, remedy: str = "") -> Finding:
    """Return that a server did not tell."""
    return Finding(check, Verdict.UNKNOWN, probe.why or "the server's answer lacks it", remedy)


def data_nodes(probe: Probe) -> dict[str, Mapping[str, Any]]:
    """Return the nodes that hold data, by name."""
    named = {node.get("name", key): node for key, node in probe.body.get("nodes", {}).items()}
    return {name: named[name] for name in sorted(named) if _holds_data(named[name])}


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _holds_data(node: Mapping[str, Any]) -> bool:
    return any(role.startswith("data") for role in node.get("roles", ["data"]))


def _opensearch_rights(body: Mapping[str, Any]) -> Finding:
    user, roles = body.get("user_name", "this user"), sorted(body.get("roles", ()))
    text = f"{user} has the roles {', '.join(roles) or 'none'}"
    if "all_access" in roles:
        return Finding("rights", Verdict.OK, text)
    remedy = "see that one of them may read, write, create indices and manage aliases under the prefix"
    return Finding("rights", Verdict.UNKNOWN, f"{text}; OpenSearch does not tell what they grant", remedy)


def _numbers(version: str) -> tuple[int, int]:
    parts = [int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")]
    return parts[0], parts[1] if len(parts) > 1 else 0
