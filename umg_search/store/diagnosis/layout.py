"""Judges of which indices there are and whether they work: aliases, leftovers, blocks, unassigned shards. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from umg_search.errors import EngineError
from umg_search.model import Finding, IndexSet, Verdict
from umg_search.store.diagnosis.facts import Probe
from umg_search.store.diagnosis.software import counted, unknown
from umg_search.store.names import TEXT, Names
from umg_search.store.records import spec_from_json

NOTHING = Finding(
    "index set", Verdict.WARNING, "nothing is indexed here yet", "run umg ingest PATH, or correct UMG_PREFIX"
)

_BLOCKS = ("read_only_allow_delete", "read_only", "read", "write", "metadata")


@dataclass(frozen=True, slots=True)
class Layout:
    """The indices under a prefix, closed ones too, as the server describes them, and what each alias stands for."""

    names: Names
    indices: Mapping[str, Mapping[str, Any]]

    @property
    def aliases(self) -> dict[str, list[str]]:
        """Indices of each alias, sorted."""
        found: dict[str, list[str]] = {}
        for name in sorted(self.indices):
            for alias in self.indices[name].get("aliases", {}):
                found.setdefault(alias, []).append(name)
        return found

    def setting(self, name: str, key: str) -> Any:
        """Return a setting of an index (`blocks.write`), None where it is not set."""
        value: Any = self.indices[name].get("settings", {}).get("index", {})
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def is_set(self, name: str, key: str) -> bool:
        """Tell whether a setting of an index is on."""
        return str(self.setting(name, key)).lower() == "true"

    def meta(self, name: str) -> Mapping[str, Any]:
        """Return the `_meta` of an index."""
        found: Mapping[str, Any] = self.indices[name].get("mappings", {}).get("_meta") or {}
        return found

    def whole_set(self, version: int) -> IndexSet | None:
        """Return a set all of whose indices are there and whose `_meta` can be read."""
        text = self.names.index(TEXT, version)
        if text not in self.indices:
            return None
        try:
            index = IndexSet(version, spec_from_json(self.meta(text)))
        except EngineError:
            return None
        return index if self.indices.keys() >= set(self.names.of_set(index).values()) else None

    def active(self) -> IndexSet | None:
        """Return the set that the text alias stands for; EngineError where its `_meta` cannot be read."""
        behind = self.aliases.get(self.names.alias(TEXT), [])
        parsed = self.names.parsed(behind[0]) if len(behind) == 1 else None
        if parsed is None or parsed[0] != TEXT:
            return None
        return IndexSet(parsed[1], spec_from_json(self.meta(behind[0])))


def aliases(layout: Layout, index: IndexSet) -> Iterator[Finding]:
    """Judge whether every alias of the set stands for its index and no other, and every index is there."""
    wanted = layout.names.of_set(index)
    found = layout.aliases
    missing = [name for name in [*wanted.values(), layout.names.documents] if name not in layout.indices]
    if missing:
        text = f"{', '.join(missing)} does not exist, so that searches do without it or fail"
        yield Finding("aliases", Verdict.ERROR, text, "restore it from a snapshot, or make a new set and ingest anew")
    wrong = {kind: found.get(layout.names.alias(kind), []) for kind in wanted}
    wrong = {kind: names for kind, names in wrong.items() if names != [wanted[kind]] and wanted[kind] in layout.indices}
    for kind, names in wrong.items():
        stands = f"alias {layout.names.alias(kind)} stands for {' and '.join(names) or 'no index'}"
        remedy = f"let it stand for {wanted[kind]} alone, with one POST /_aliases"
        yield Finding("aliases", Verdict.ERROR, f"{stands}, and the active set is {index.label}", remedy)
    if not missing and not wrong:
        yield Finding("aliases", Verdict.OK, f"{counted(len(wanted), 'alias', 'aliases')} on {index.label}")


def text_alias(layout: Layout) -> Finding:
    """Judge the text alias where it names no active set: nothing indexed, or something that cannot be searched."""
    alias = layout.names.alias(TEXT)
    behind = layout.aliases.get(alias, [alias] if alias in layout.indices else [])
    if not behind:
        return NOTHING
    if len(behind) > 1:
        remedy = f"let it stand for one of them, with one POST /_aliases, and the other aliases of {alias[:-5]} too"
        return Finding("index set", Verdict.ERROR, f"alias {alias} stands for {' and '.join(behind)}", remedy)
    text = f"{alias} stands for index {behind[0]}, which umg-search did not make"
    return Finding("index set", Verdict.ERROR, text, "choose another UMG_PREFIX")


def leftovers(layout: Layout, active: IndexSet | None) -> Iterator[Finding]:
    """Point out indices under the prefix that no whole set has: remains of an unfinished set, or another's."""
    versions = {parsed[1] for name in layout.indices if (parsed := layout.names.parsed(name))}
    whole = [found for version in sorted(versions) if (found := layout.whole_set(version))]
    owned = {name for found in whole for name in layout.names.of_set(found).values()} | {
        layout.names.documents,
        layout.names.leases,
        layout.names.queue,
    }
    owned |= set(layout.names.of_set(active).values()) if active else set()
    extra = sorted(layout.indices.keys() - owned)
    kept = [found.label for found in whole if active and found.version != active.version]
    if kept:
        remedy = "where it is not needed for a way back, drop it with umg index drop"
        yield Finding("leftovers", Verdict.OK, f"beside the active set there is {', '.join(kept)}", remedy)
    if extra:
        text = f"{', '.join(extra)} belongs to no whole index set"
        remedy = (
            f"unless an ingest or rebuild is making it now, drop it with umg index drop or DELETE /{','.join(extra)}"
        )
        yield Finding("leftovers", Verdict.WARNING, text, remedy)
    if not kept and not extra:
        yield Finding("leftovers", Verdict.OK, "none")


def blocks(layout: Layout) -> Iterator[Finding]:
    """Judge closed indices and blocks on indices."""
    closed = [name for name in sorted(layout.indices) if layout.is_set(name, "verified_before_close")]
    for name in closed:
        yield Finding("blocks", Verdict.ERROR, f"index {name} is closed", f"open it with POST /{name}/_open")
    blocked = {
        name: held
        for name in sorted(layout.indices)
        if (held := [block for block in _BLOCKS if layout.is_set(name, f"blocks.{block}")])
    }
    for name, held in blocked.items():
        first = "free disk on the nodes first, then " if "read_only_allow_delete" in held else ""
        nulls = ", ".join(f'"index.blocks.{block}": null' for block in held)
        text = f"index {name} has the block {', '.join(held)}"
        yield Finding("blocks", Verdict.ERROR, text, f"{first}take it off with PUT /{name}/_settings {{{nulls}}}")
    if not closed and not blocked:
        yield Finding("blocks", Verdict.OK, "none")


def shards(probe: Probe, layout: Layout) -> Iterator[Finding]:
    """Judge unassigned shards of our indices: red (data missing), yellow (a copy missing)."""
    if "status" not in probe.body:
        yield unknown("shards", probe)
        return
    open_ones = {n: i for n, i in sorted(probe.body.get("indices", {}).items()) if not _closed(layout, n)}
    red = {name: index for name, index in open_ones.items() if index["status"] == "red"}
    yellow = {name: index for name, index in open_ones.items() if index["status"] == "yellow"}
    explain = "see GET /_cluster/allocation/explain"
    if starting := [name for name, index in red.items() if not index["unassigned_shards"]]:
        yield Finding("shards", Verdict.WARNING, f"{', '.join(starting)} is starting", "ask again in a minute")
    if lost := [name for name in red if name not in starting]:
        text = f"{', '.join(lost)} is red: a primary shard is on no node, and its part of the data is missing"
        yield Finding("shards", Verdict.ERROR, text, f"bring the node with it back or restore a snapshot; {explain}")
    if yellow:
        yield _yellow(yellow, probe.body["number_of_data_nodes"], explain)
    if not red and not yellow:
        yield Finding("shards", Verdict.OK, f"all green, on {counted(len(open_ones), 'index', 'indices')}")


def _yellow(yellow: Mapping[str, Mapping[str, Any]], nodes: int, explain: str) -> Finding:
    unassigned = sum(index["unassigned_shards"] for index in yellow.values())
    most = max(index["number_of_replicas"] for index in yellow.values())
    text = f"{', '.join(yellow)} is yellow: {counted(unassigned, 'copy', 'copies')} of shards on no node"
    if most >= nodes:
        text += f", for there are {counted(most, 'replica')} and {counted(nodes, 'data node')}"
        names = ",".join(yellow)
        remedy = (
            f'add a node, or PUT /{names}/_settings {{"index.number_of_replicas": {nodes - 1}}} '
            f"and UMG_REPLICAS={nodes - 1} for new sets"
        )
        return Finding("shards", Verdict.WARNING, text, remedy)
    return Finding("shards", Verdict.WARNING, text, f"wait while it is copied; if that does not end, {explain}")


def _closed(layout: Layout, name: str) -> bool:
    return name in layout.indices and layout.is_set(name, "verified_before_close")
