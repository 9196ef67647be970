"""The engine port over Qdrant Edge and SQLite.

What survives an end at any moment: blocks and ledger entries once their write returns, changes of chunks once
`publish` returns. Chunks written after that are gone or still there; the ledger calls them live in no case, and names
them as retired.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TypeVar, Unpack

from umg_search.errors import ConfigurationError, EngineBusy, EngineError, NoIndexSet, SetDropped
from umg_search.granularity import Granularity
from umg_search.model import (
    DocumentHash,
    DocumentState,
    EncodedQuery,
    EngineInfo,
    Finding,
    IndexSet,
    LedgerEntry,
    Retrieval,
    SetRole,
    SetSpec,
    StoredSet,
    TextBlock,
)
from umg_search.ports import Attributes, BlockId, Chunk, ChunkId, Fetched, IndexSize, Scope, Selection
from umg_search.store.batches import batches
from umg_search.store.embedded.database import DATABASE_FILE, Database
from umg_search.store.embedded.diagnosis import RESERVE, diagnose
from umg_search.store.embedded.filters import scope_filter
from umg_search.store.embedded.lock import LOCK_FILE, FolderLock
from umg_search.store.embedded.shards import Shard
from umg_search.store.embedded.translation import translated
from umg_search.store.filters import resolved
from umg_search.store.precision import as_stored
from umg_search.store.soundness import check_query

_BATCH = 1_000
"""Chunks that are sorted by shard at once."""

_Answer = TypeVar("_Answer")
_Item = TypeVar("_Item", Chunk, ChunkId)


class EmbeddedEngine:
    """An index in one folder, for one process; its threads may share it."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """Open the folder, or make it; with `create` false, NoIndexSet where it holds no index.

        EngineBusy where another process has it, ConfigurationError where it holds something else, EngineUnsupported
        where another version of umg-search made it, EngineError where it cannot be read or written.
        """
        self._path = path.absolute()
        self._process = os.getpid()
        self._closed = False
        self._creating = Lock()
        self._finding = Lock()
        self._leasing = Lock()
        self._lease = ("", 0.0)
        self._shards: dict[int, dict[Granularity, Shard]] = {}
        with translated(self._path, "Opening the index"):
            _claim(self._path, create=create)
            self._lock = FolderLock(self._path)
            try:
                self._database = Database(self._path / DATABASE_FILE)
            except BaseException:
                self._lock.release()
                raise

    def info(self) -> EngineInfo:
        """Return name, version and place of the engine."""
        return EngineInfo("embedded", version("qdrant-edge-py"), str(self._path))

    def active_set(self) -> IndexSet | None:
        """Return the set that searches use, None if there is none yet."""
        return self._do("Reading the index set", self._database.active_set)

    def create_set(self, spec: SetSpec) -> IndexSet:
        """Create version 1 of the data and make it active; return the active set if another thread was first."""
        with self._creating:
            active = self.active_set()
            return active or self._write("Creating the index set", lambda: self._create(spec, SetRole.ACTIVE))

    def sets(self) -> Sequence[StoredSet]:
        """Return all sets by version."""
        return self._do("Reading the index sets", self._database.sets)

    def build_set(self, spec: SetSpec) -> IndexSet:
        """Create the next version beside the others."""
        with self._creating:
            return self._write("Creating an index set", lambda: self._create(spec, SetRole.BUILDING))

    def activate(self, index: IndexSet) -> None:
        """Make a set the active one, in one transaction."""
        self._write("Activating an index set", lambda: self._database.activate(index))

    def seconds_to_follow(self) -> float:
        """Return 0: the active set is looked up each time."""
        return 0.0

    def drop_set(self, index: IndexSet) -> None:
        """Forget a set, then delete its files; a crash in between leaves them to the next creation."""
        with self._creating:
            for shard in self._shards_of(index).values():
                shard.close()
            self._do("Dropping an index set", lambda: self._database.drop_set(index))
            self._do("Dropping an index set", self._delete_strays)

    def hold(self, owner: str, seconds: float) -> str:
        """Take or renew the lease among the threads of this process, which is the only one."""
        with self._leasing:
            holder, until = self._lease
            if holder in {"", owner} or until <= time.monotonic():
                self._lease = (owner, time.monotonic() + seconds)
            return self._lease[0]

    def release(self, owner: str) -> None:
        """Give the lease back."""
        with self._leasing:
            if self._lease[0] == owner:
                self._lease = ("", 0.0)

    def ranked_lists(self, index: IndexSet, query: EncodedQuery, *, depth: int, scope: Scope) -> Retrieval:
        """Ask every channel for its `depth` best windows; scores of one list are comparable, dense ones are cosines."""
        self._check_usable()
        check_query(query, index.spec)
        query = as_stored(query, index.spec)
        seen = scope_filter(resolved(scope, index.spec))
        shards = self._shards_of(index)
        with translated(self._path, "Searching"):
            answers = {
                g: shards[g].ranked_lists(index.spec.experts, query, depth, seen) for g in index.spec.granularities
            }
        lists = {ranked.channel: ranked for answer in answers.values() for ranked in answer.lists}
        failed = {channel: why for answer in answers.values() for channel, why in answer.failed.items()}
        if failed:
            self._check_there(index)
        return Retrieval(tuple(lists[channel] for channel in index.spec.channels if channel in lists), failed)

    def fetch(self, index: IndexSet | None, documents: Sequence[DocumentHash], blocks: Sequence[BlockId]) -> Fetched:
        """Read ledger entries and text blocks as of one moment."""
        fetched = self._do("Reading texts", lambda: self._database.fetch(index, documents, blocks))
        if index is not None and blocks and not fetched.blocks:
            self._check_there(index)
        return fetched

    def write_entries(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry | None]:
        """Write ledger entries whose `token` is still the current one; return each with its new one, else None."""
        return self._write("Writing the ledger", lambda: self._database.write_entries(entries))

    def write_chunks(self, index: IndexSet, chunks: Iterable[Chunk]) -> Mapping[ChunkId, str]:
        """Write chunk entries; return a reason for each that failed."""

        def write() -> dict[ChunkId, str]:
            self._check_there(index)
            failed: dict[ChunkId, str] = {}
            for some in batches(chunks, lambda _: 1, _BATCH):
                failed |= self._by_shard(index, some, Shard.write)
            return failed

        return self._write("Writing chunks", write)

    def write_blocks(self, index: IndexSet, blocks: Iterable[TextBlock]) -> Mapping[BlockId, str]:
        """Write text blocks, all or none."""

        def write() -> None:
            self._check_there(index)
            self._database.write_blocks(index, blocks)

        self._write("Writing texts", write)
        return {}

    def update_attributes(
        self, index: IndexSet, changes: Iterable[tuple[Sequence[ChunkId], Attributes]]
    ) -> Mapping[ChunkId, str]:
        """Replace the attributes on chunk entries; a missing one is a failure."""

        def update() -> dict[ChunkId, str]:
            self._check_there(index)
            failed: dict[ChunkId, str] = {}
            for chunks, attributes in changes:
                failed |= self._by_shard(index, chunks, partial(Shard.update_attributes, attributes=attributes))
            return failed

        return self._write("Changing attributes", update)

    def delete(
        self, index: IndexSet, chunks: Sequence[ChunkId], blocks: Sequence[BlockId]
    ) -> Mapping[ChunkId | BlockId, str]:
        """Delete exactly these entries; one that is missing already is no failure."""
        failed = self._do("Deleting chunks", lambda: self._by_shard(index, chunks, Shard.delete))
        self._do("Deleting texts", lambda: self._database.delete_blocks(index, blocks))
        return dict(failed.items())

    def publish(self, index: IndexSet) -> None:
        """Make all earlier writes to the set durable; searches see them from the write on."""
        self._each(index, "Publishing", Shard.flush)

    def entries(self, **selection: Unpack[Selection]) -> Iterator[LedgerEntry]:
        """Go through the ledger: all entries, or those that meet the conditions."""
        self._check_usable()
        with translated(self._path, "Reading the ledger"):
            yield from self._database.entries(selection)

    def delete_entries(self, entries: Sequence[LedgerEntry]) -> int:
        """Delete ledger entries whose `token` is still the current one; return how many were."""
        return self._do("Purging the ledger", lambda: self._database.delete_entries(entries))

    def states(self, *, batch: str | None = None) -> Mapping[DocumentState, int]:
        """Count the ledger's documents by state; submissions are of servers only, so that none has any here."""
        return self._do("Counting documents", self._database.states) if batch is None else {}

    def collections(self, most: int) -> Sequence[str]:
        """Return the collections that the ledger's documents are in."""
        return self._do("Reading the ledger", lambda: self._database.collections(most))

    def sizes(self, index: IndexSet) -> Mapping[str, IndexSize]:
        """Return entries and bytes of each shard, by granularity, and of the texts."""
        shards = self._each(index, "Measuring", Shard.size)
        texts = self._do("Measuring", lambda: self._database.text_size(index))
        return {**{granularity.label: size for granularity, size in shards.items()}, "text": texts}

    def diagnose(self, wanted: SetSpec | None) -> Sequence[Finding]:
        """Check folder, disk, database and shards; any set can be made here, whatever is `wanted`."""
        del wanted
        self._check_usable()
        return tuple(diagnose(self._path, self._database, self._shards_of))

    def close(self) -> None:
        """Release files and lock; in a child made by fork, nothing, since all of it is the parent's."""
        if self._closed or os.getpid() != self._process:
            return
        self._closed = True
        for shard in [shard for shards in self._shards.values() for shard in shards.values()]:
            shard.close()
        self._database.close()
        self._lock.release()

    def _create(self, spec: SetSpec, role: SetRole) -> IndexSet:
        self._delete_strays()
        index = IndexSet(self._database.next_version(), spec)
        for shard in self._shards_of(index).values():
            shard.create()
        self._database.add_set(index, role)
        return index

    def _delete_strays(self) -> None:
        """Delete folders of sets that are not there: a creation, or a drop, did not come to its end."""
        known = {stored.index.label for stored in self._database.sets()}
        for folder in self._path.glob("v*"):
            if folder.name not in known and folder.name[1:].isdigit():
                shutil.rmtree(folder)
                with self._finding:
                    self._shards.pop(int(folder.name[1:]), None)

    def _shards_of(self, index: IndexSet) -> dict[Granularity, Shard]:
        with self._finding:
            if index.version not in self._shards:
                folder = self._path / index.label
                stored = (each.index.spec for each in self.sets() if each.index.version == index.version)
                spec = next(stored, index.spec)  # a search may ask for a part of the set only
                self._shards[index.version] = {g: Shard(folder / g.label, g, spec) for g in spec.granularities}
            return self._shards[index.version]

    def _each(self, index: IndexSet, doing: str, call: Callable[[Shard], _Answer]) -> dict[Granularity, _Answer]:
        """Call all shards of a set.

        One after the other: Qdrant Edge keeps Python's global lock during every call, so that threads gain nothing.
        """
        self._check_usable()
        shards = self._shards_of(index)
        with translated(self._path, doing):
            return {granularity: call(shard) for granularity, shard in shards.items()}

    def _do(self, doing: str, call: Callable[[], _Answer]) -> _Answer:
        self._check_usable()
        with translated(self._path, doing):
            return call()

    def _write(self, doing: str, call: Callable[[], _Answer]) -> _Answer:
        self._check_usable()
        with translated(self._path, doing):
            free = shutil.disk_usage(self._path).free
        if free < RESERVE:
            raise EngineError(
                f"{doing} was not begun: the disk of {self._path} has {free // 2**20} MiB free, "
                f"free at least {RESERVE // 2**20} MiB and try again."
            )
        return self._do(doing, call)

    def _by_shard(
        self,
        index: IndexSet,
        items: Sequence[_Item],
        call: Callable[[Shard, Sequence[_Item]], dict[ChunkId, str]],
    ) -> dict[ChunkId, str]:
        """Call each shard with its own items."""
        parts: dict[Granularity, list[_Item]] = {granularity: [] for granularity in index.spec.granularities}
        for item in items:
            parts[item.granularity].append(item)
        failed: dict[ChunkId, str] = {}
        for granularity, shard in self._shards_of(index).items():
            if parts[granularity]:
                failed |= call(shard, parts[granularity])
        return failed

    def _check_there(self, index: IndexSet) -> None:
        if index.version not in self._database.versions():
            raise SetDropped(f"Index set {index.label} in {self._path} was dropped meanwhile: try again.")

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            raise EngineBusy(
                f"The index in {self._path} belongs to process {self._process}, and this is a child that it made by "
                "fork: open an index in one process only, after any fork."
            )
        if self._closed:
            raise EngineError(f"The index in {self._path} was closed: open it again.")


def _claim(folder: Path, *, create: bool) -> None:
    """Make the folder, or see that it is an index, or empty and to become one."""
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file: the embedded engine needs a folder.")
    if create:
        folder.mkdir(parents=True, exist_ok=True)
    others = sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE) if folder.exists() else []
    if not others and not create:
        raise NoIndexSet.at(str(folder))
    if others and DATABASE_FILE not in others:
        raise ConfigurationError(
            f"The folder {folder} holds other files ({others[0]}): use an empty folder or one made by umg-search."
        )
