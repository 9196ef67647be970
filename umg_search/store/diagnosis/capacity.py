"""Judges of what a server has room for: clock, disk, clauses of a query. Pure."""

import re
from typing import Any, NamedTuple

from umg_search.model import Finding, Verdict
from umg_search.store.bodies import MOST_TERMS, MOST_WORDS
from umg_search.store.diagnosis.facts import Probe
from umg_search.store.diagnosis.software import data_nodes, unknown
from umg_search.store.dialect import ELASTICSEARCH, Dialect

CLOCK_SECONDS = 5.0
"""Difference of clocks that is pointed out: the grace of replaced text is counted in such times."""

ROOM = 100
"""Clauses that are left for filters beside the words or terms of a question."""

_CLAUSES = "indices.query.bool.max_clause_count"
_DISK = "cluster.routing.allocation.disk"
_SIZE = re.compile(r"([\d.]+)\s*([kmgtp]?)i?(b?)", re.IGNORECASE)
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


class Level(NamedTuple):
    """What a server does once a node's free disk is below a watermark, and how bad that is."""

    name: str
    verdict: Verdict
    effect: str


LEVELS = (
    Level("flood_stage", Verdict.ERROR, "the server makes indices with a shard there read-only"),
    Level("high", Verdict.WARNING, "the server moves shards away from it"),
    Level("low", Verdict.WARNING, "the server places no further shards on it"),
)


def clock(probe: Probe, asked: float, answered: float) -> Finding:
    """Judge the nodes' clocks against ours (seconds since the epoch); the way there and back is no difference."""
    stamps = {name: node["timestamp"] / 1000 for name, node in data_nodes(probe).items() if "timestamp" in node}
    if not stamps:
        return unknown("clock", probe)
    offsets = {name: stamp - min(max(stamp, asked), answered) for name, stamp in stamps.items()}
    worst = max(offsets, key=lambda name: abs(offsets[name]))
    offset = offsets[worst]
    if abs(offset) <= CLOCK_SECONDS:
        return Finding("clock", Verdict.OK, f"within {CLOCK_SECONDS:.0f} s of this machine's")
    side = "ahead of" if offset > 0 else "behind"
    text = f"node {worst} is {abs(offset):.0f} s {side} this machine"
    return Finding("clock", Verdict.WARNING, text, "set both by a time service: UMG_GRACE_S is counted in such times")


def disk(stats: Probe, settings: Probe) -> Finding:
    """Judge the free disk of the fullest node against the server's watermarks."""
    free = {name: node["fs"]["total"] for name, node in data_nodes(stats).items() if node.get("fs", {}).get("total")}
    if not free:
        return unknown("disk", stats)
    name = min(free, key=lambda n: free[n]["available_in_bytes"] / max(1, free[n]["total_in_bytes"]))
    total, available = free[name]["total_in_bytes"], free[name]["available_in_bytes"]
    text = f"node {name} has {available / 2**30:.1f} GiB free of {total / 2**30:.1f}"
    if settings.why:
        return Finding("disk", Verdict.UNKNOWN, f"{text}; its watermarks are not known ({settings.why})")
    watched = _is_watched(settings)
    for level in LEVELS:
        needed = _needed(settings, level.name, total)
        if needed is not None and available < needed:
            effect = level.effect if watched else "the server does not watch it, and a full disk loses writes"
            found = f"{text}, under the {level.name} watermark of {needed / 2**30:.1f}: {effect}"
            return Finding(
                "disk", level.verdict if watched else Verdict.WARNING, found, "free some, or add disk or nodes"
            )
    return Finding("disk", Verdict.OK, text if watched else f"{text}; the server's watermarks are switched off")


def room(stats: Probe, settings: Probe) -> int | None:
    """Return the bytes that all data nodes have free above the high watermark; None where the server does not tell.

    Where it tells of the disks alone, a tenth of each stays free, as servers leave it unless told otherwise.
    """
    disks = [node["fs"]["total"] for node in data_nodes(stats).values() if node.get("fs", {}).get("total")]
    if not disks:
        return None
    return round(sum(max(0.0, disk["available_in_bytes"] - _kept(settings, disk["total_in_bytes"])) for disk in disks))


def clauses(dialect: Dialect, settings: Probe) -> Finding:
    """Judge how many clauses a query may have against the largest that is asked."""
    largest = max(MOST_TERMS, MOST_WORDS)
    asked = f"the largest question asks for {largest}, and its filters for more"
    if dialect is ELASTICSEARCH:  # since 8.1 by threads and heap, at least 1,024; the setting has no effect
        return Finding("clauses", Verdict.OK, f"the server allows at least 1024 in a query, {asked}")
    limit = setting(settings, _CLAUSES)
    if limit is None:
        return unknown("clauses", settings)
    text = f"the server allows {limit} in a query, {asked}"
    if int(limit) < largest + ROOM:
        verdict = Verdict.WARNING if int(limit) > largest else Verdict.ERROR
        return Finding("clauses", verdict, text, f"set {_CLAUSES} to 1024")
    return Finding("clauses", Verdict.OK, text)


def setting(probe: Probe, name: str) -> Any:
    """Return a cluster setting as it holds now, None where the server does not tell."""
    for level in ("transient", "persistent", "defaults"):
        if name in probe.body.get(level, {}):
            return probe.body[level][name]
    return None


def free_at(text: str, total: int) -> float | None:
    """Return the bytes that a watermark (used `85%` or `0.85`, free `20gb`) leaves free; None where it is no size."""
    if text.endswith("%"):
        return total * (1 - float(text[:-1]) / 100)
    found = _SIZE.fullmatch(text)
    if found is None:
        return None
    number, unit, byte = found.groups()
    if not unit and not byte and float(number) <= 1:
        return total * (1 - float(number))
    return float(number) * 1024 ** _UNITS[unit.lower()]


def _is_watched(settings: Probe) -> bool:
    return str(setting(settings, f"{_DISK}.threshold_enabled")).lower() != "false"


def _kept(settings: Probe, total: int) -> float:
    if not _is_watched(settings):
        return 0.0
    needed = None if settings.why else _needed(settings, "high", total)
    return total / 10 if needed is None else needed


def _needed(settings: Probe, level: str, total: int) -> float | None:
    """Return the bytes that must be free; on large disks Elasticsearch is content with a headroom in bytes."""
    free = free_at(str(setting(settings, f"{_DISK}.watermark.{level}")), total)
    headroom = free_at(str(setting(settings, f"{_DISK}.watermark.{level}.max_headroom")), total)
    return free if free is None or headroom is None else min(free, headroom)
