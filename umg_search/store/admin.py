"""The life of index sets: what each holds, who may change them, flips, drops, and what is purged."""

import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from threading import Event, Thread
from uuid import uuid4

from umg_search.errors import ConfigurationError, EngineBusy, NoIndexSet, UmgError
from umg_search.model import DocumentState, IndexSet, LedgerEntry, SetRole, SetSpec, StoredSet
from umg_search.ports import Engine
from umg_search.store import ledger
from umg_search.store.writer import GRACE_SECONDS, check_same

LEASE_SECONDS = 30.0
"""How long nobody else may change sets after the holder of the lease was last heard of."""

TOMBSTONE_DAYS = 30.0
"""Age at which a tombstone is purged: older than any write, retry or queued task that still knows the document."""

DAY = 86_400.0
"""Seconds."""

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Coverage:
    """Documents of the ledger by what one set has of them, and the characters of those that are to be built."""

    current: int = 0
    outdated: int = 0
    missing: int = 0
    characters: int = 0

    @property
    def gap(self) -> int:
        """Documents that are outdated or missing."""
        return self.outdated + self.missing


class Lease:
    """The right to change sets, for as long as it is renewed."""

    def __init__(self, engine: Engine, seconds: float) -> None:
        self._engine = engine
        self._seconds = seconds
        self._owner = f"process {os.getpid()} on {socket.gethostname()} ({uuid4().hex[:8]})"
        self._holder = ""
        self._ended = Event()

    def check(self) -> None:
        """Raise EngineBusy where somebody else has the right by now."""
        if self._holder != self._owner:
            raise EngineBusy(
                f"The index sets are being changed by {self._holder}: wait until that is done "
                f"(if it was killed, {self._seconds:.0f} s from its end on) and try again."
            )

    def take(self) -> None:
        """Take the right, or renew it."""
        self._holder = self._engine.hold(self._owner, self._seconds)

    def keep(self) -> None:
        """Renew the right three times in its time, until that is to end."""
        while not self._ended.wait(self._seconds / 3):
            try:
                self.take()
            except UmgError:
                continue  # not lost yet: two more tries remain

    def give_back(self, renewing: Thread) -> None:
        """End the right, once nobody renews it any more."""
        self._ended.set()
        renewing.join()
        self._engine.release(self._owner)


@contextmanager
def lease(engine: Engine, *, seconds: float = LEASE_SECONDS) -> Iterator[Lease]:
    """Hold the right to change sets; EngineBusy names who has it else."""
    held = Lease(engine, seconds)
    held.take()
    held.check()
    renewing = Thread(target=held.keep, name="umg-lease", daemon=True)
    renewing.start()
    try:
        yield held
    finally:
        held.give_back(renewing)


class Sets:
    """Looks after the index sets of one engine. Whoever changes them holds the lease."""

    def __init__(
        self,
        engine: Engine,
        *,
        grace: float = GRACE_SECONDS,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._engine = engine
        self._grace = grace
        self._clock = clock
        self._sleep = sleep

    def every(self) -> Sequence[StoredSet]:
        """Return all sets by version; NoIndexSet where none is active."""
        sets = self._engine.sets()
        if not any(stored.role is SetRole.ACTIVE for stored in sets):
            raise NoIndexSet.at(self._engine.info().where)
        return sets

    def find(self, version: int) -> StoredSet:
        """Return a set; ConfigurationError names those that are there."""
        sets = self.every()
        for stored in sets:
            if stored.index.version == version:
                return stored
        there = ", ".join(str(stored.index.version) for stored in sets)
        raise ConfigurationError(f"There is no index set of version {version}: there are {there}.")

    def latest(self, role: SetRole) -> StoredSet | None:
        """Return the set in a role with the highest version, None if there is none."""
        return max(
            (stored for stored in self.every() if stored.role is role),
            key=lambda stored: stored.index.version,
            default=None,
        )

    def begin(self, spec: SetSpec) -> IndexSet:
        """Return the set that is being built, made if there is none; IndexMismatch where it is of other settings."""
        building = self.latest(SetRole.BUILDING)
        if building is None:
            return self._engine.build_set(spec)
        check_same(
            building.index.spec,
            spec,
            what=f"set {building.index.label} that is being built",
            remedy=f"run `umg index drop {building.index.version}` first",
        )
        return building.index

    def coverage(self) -> dict[str, Coverage]:
        """Return what each set has of the documents; this reads the whole ledger."""
        labels = [stored.index.label for stored in self.every()]
        counts: Counter[tuple[str, str]] = Counter()
        for entry in self._engine.entries():
            if buildable(entry, labels):
                for label in labels:
                    counts[label, _kind(entry, label)] += 1
                    counts[label, "characters"] += 0 if entry.is_current_in(label) else entry.characters
        kinds = ("current", "outdated", "missing", "characters")
        return {label: Coverage(*(counts[label, kind] for kind in kinds)) for label in labels}

    def flip(self, index: IndexSet) -> None:
        """Make a set the active one, and let no write that is on its way into another one become live."""
        self._engine.publish(index)
        self._engine.activate(index)
        # Writers ask for the active set after the ledger named their write, so one that asked before the flip is named.
        for page in pages(self._engine.entries()):
            begun = [entry for entry in page if _is_written_elsewhere(entry, index.label)]
            self._engine.write_entries([ledger.fence(entry, self._clock()) for entry in begun])

    def drop(self, version: int) -> None:
        """Delete a set that is not active, first from the ledger, then as a whole.

        Not before every process has noticed that it is the active one no longer: it may just have been.

        ConfigurationError for the active set, for one that alone has the newest text of documents, and for one that a
        write was begun in within the grace.
        """
        stored = self.find(version)
        label = stored.index.label
        if stored.role is SetRole.ACTIVE:
            raise ConfigurationError(f"Index set {label} is the active one: activate another one before it is dropped.")
        if stored.role is not SetRole.BUILDING:
            self._sleep(self._engine.seconds_to_follow())
        self._check_spare(stored)
        for page in pages(self._engine.entries()):
            self._leave([entry for entry in page if label in entry.sets], label, stored.index)
        self._engine.drop_set(stored.index)

    def purge(self, *, days: float = TOMBSTONE_DAYS) -> int:
        """Delete tombstones of a certain age that no entry of any set remains of; return how many.

        Never younger than the grace: a writer that lost against the delete must find the tombstone, not nothing.
        """
        before = self._clock() - max(days * DAY, self._grace)
        return sum(
            self._engine.delete_entries([entry for entry in page if _is_purgeable(entry, before)])
            for page in pages(self._engine.entries(state=DocumentState.DELETED))
        )

    def _check_spare(self, stored: StoredSet) -> None:
        label = stored.index.label
        others = [other.index.label for other in self.every() if other.index.label != label]
        since = self._clock() - self._grace
        only, busy = 0, 0
        for entry in self._engine.entries():
            only += entry.is_current_in(label) and not buildable(entry, others)
            busy += any(item.since > since for item in ledger.unfinished(entry.in_set(label)))
        if only:
            raise ConfigurationError(
                f"Index set {label} alone has the newest text of {only} documents: "
                "run `umg index activate` with the version of the active set, which fetches them, then drop it."
            )
        if busy and stored.role is not SetRole.BUILDING:
            raise ConfigurationError(
                f"Index set {label} was written to within the last {self._grace:.0f} s: try again after that time."
            )

    def _leave(self, entries: Sequence[LedgerEntry], label: str, index: IndexSet) -> None:
        """Take a set out of ledger entries, however often others change them meanwhile."""
        waiting = list(entries)
        while waiting:
            written = self._engine.write_entries([ledger.leave(entry, label) for entry in waiting])
            lost = [entry.document for entry, new in zip(waiting, written, strict=True) if new is None]
            again = self._engine.fetch(index, lost, []).entries.values()
            waiting = [entry for entry in again if label in entry.sets]


def buildable(entry: LedgerEntry, labels: Sequence[str]) -> bool:
    """Tell whether one of the sets has the newest text of a document."""
    return entry.key is not None and any(entry.is_current_in(label) for label in labels)


def pages(entries: Iterator[LedgerEntry]) -> Iterator[list[LedgerEntry]]:
    """Yield entries in lists that one request can write."""
    while page := list(islice(entries, _PAGE)):
        yield page


def _kind(entry: LedgerEntry, label: str) -> str:
    if entry.is_current_in(label):
        return "current"
    return "missing" if entry.in_set(label).live is None else "outdated"


def _is_written_elsewhere(entry: LedgerEntry, label: str) -> bool:
    return entry.key is not None and any(
        ledger.unfinished(state) for other, state in entry.sets.items() if other != label
    )


def _is_purgeable(entry: LedgerEntry, before: float) -> bool:
    return entry.key is None and entry.changed_at < before and not any(s.retired for s in entry.sets.values())
