"""Checks of the embedded engine: folder, disk, file system, database, shards, and what belongs to no set."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from umg_search.errors import EngineError
from umg_search.granularity import Granularity
from umg_search.model import Finding, IndexSet, Verdict
from umg_search.store.embedded.database import DATABASE_FILE, Database
from umg_search.store.embedded.shards import Shard, bytes_of
from umg_search.store.embedded.translation import translated

RESERVE = 128 * 2**20
"""Free bytes below which nothing is written: Qdrant writes through memory maps, where a full disk ends the process."""

_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "glusterfs", "9p", "fuse.sshfs", "afs", "lustre"})
"""File systems of other machines: SQLite's log of writes and our lock do not hold on them."""

_MOUNTS = Path("/proc/mounts")
_RESTORE = "restore the folder from a copy, or ingest anew into another one"


def diagnose(
    path: Path, database: Database, shards_of: Callable[[IndexSet], Mapping[Granularity, Shard]]
) -> Iterator[Finding]:
    """Check an open index; that it is open shows that lock and schema are right."""
    yield folder(path, writable=os.access(path, os.R_OK | os.W_OK | os.X_OK), kind=file_system(path, _mounts()))
    yield disk(path, shutil.disk_usage(path).free, bytes_of(path))
    yield _database(path, database)
    try:
        with translated(path, "Reading the index set"):
            index = database.active_set()
            versions = database.versions()
    except EngineError as error:
        yield Finding("index set", Verdict.ERROR, str(error).rstrip("."), _RESTORE)
        return
    if index is None:
        yield Finding("index set", Verdict.WARNING, "nothing is indexed here yet", "run umg ingest PATH")
    else:
        yield Finding("index set", Verdict.OK, f"{index.label}: {', '.join(index.spec.experts)}")
        yield shards(path, shards_of(index))
    yield leftovers(path, versions)


def diagnose_absent(path: Path) -> Iterator[Finding]:
    """Check where an index is to be made: the nearest folder above it that is there."""
    path = path.absolute()
    above = next(place for place in (path, *path.parents) if place.is_dir())
    found = folder(above, writable=os.access(above, os.R_OK | os.W_OK | os.X_OK), kind=file_system(above, _mounts()))
    if found.verdict is Verdict.OK:
        found = replace(found, found=f"{path} holds no index yet, and one can be made there")
    yield found
    yield disk(above, shutil.disk_usage(above).free, 0)


def folder(path: Path, *, writable: bool, kind: str) -> Finding:
    """Judge whether the folder can be written to, and whether its file system keeps locks."""
    if not writable:
        return Finding("folder", Verdict.ERROR, f"{path} cannot be written to", "change its permissions or its owner")
    if kind in _REMOTE:
        text = f"{path} lies on {kind}, where locks and the database's log may fail"
        return Finding("folder", Verdict.WARNING, text, "use a folder on a disk of this machine")
    return Finding("folder", Verdict.OK, f"{path} is writable, and locked by this process")


def disk(path: Path, free: int, used: int) -> Finding:
    """Judge the free bytes of the disk: a rewrite of the shards needs a second copy of them."""
    text = f"{free / 2**30:.1f} GiB free, the index has {used / 2**20:.1f} MiB"
    if free < RESERVE:
        found = f"{text}: nothing is written with less than {RESERVE // 2**20} MiB free"
        return Finding("disk", Verdict.ERROR, found, f"free some on the disk of {path}")
    if free < RESERVE + 2 * used:
        found = f"{text}: too little to rewrite it, so that deletions free no disk"
        return Finding("disk", Verdict.WARNING, found, f"free some on the disk of {path}")
    return Finding("disk", Verdict.OK, text)


def shards(path: Path, found: Mapping[Granularity, Shard]) -> Finding:
    """Judge whether every shard of the active set can be opened."""
    entries = 0
    for granularity, shard in found.items():
        try:
            with translated(path, f"Opening shard {granularity.label}"):
                entries += shard.size().entries
        except EngineError as error:
            return Finding("shards", Verdict.ERROR, str(error).rstrip("."), _RESTORE)
    return Finding("shards", Verdict.OK, f"{len(found)} can be opened and have {entries} entries")


def leftovers(path: Path, versions: frozenset[int]) -> Finding:
    """Point out folders of sets that the database does not know."""
    folders = sorted(p.name for p in path.iterdir() if re.fullmatch(r"v\d+", p.name))
    extra = [name for name in folders if int(name[1:]) not in versions]
    if extra:
        text = f"{', '.join(extra)} belongs to no index set"
        return Finding("leftovers", Verdict.WARNING, text, f"delete it from {path} while no umg runs")
    return Finding("leftovers", Verdict.OK, "none")


def file_system(path: Path, mounts: str) -> str:
    """Return the kind of file system that a path lies on, by the lines of /proc/mounts; empty where not told."""
    lines = (line.split() for line in mounts.splitlines())
    kinds = {Path(words[1].replace("\\040", " ")): words[2] for words in lines if len(words) > 2}  # noqa: PLR2004 - device, place, kind
    above = [place for place in (path, *path.parents) if place in kinds]
    return kinds[above[0]] if above else ""


def _mounts() -> str:
    return _MOUNTS.read_text(encoding="utf-8", errors="replace") if _MOUNTS.exists() else ""


def _database(path: Path, database: Database) -> Finding:
    try:
        with translated(path, "Checking the database"):
            wrong = database.damage()
    except EngineError as error:
        wrong = str(error).rstrip(".")
    if wrong:
        return Finding("database", Verdict.ERROR, f"{DATABASE_FILE} is damaged ({wrong})", _RESTORE)
    return Finding("database", Verdict.OK, f"{DATABASE_FILE} passes SQLite's own check")
