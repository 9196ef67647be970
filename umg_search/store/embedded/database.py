"""The SQLite file: ledger, text blocks and index set specifications."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Empty, LifoQueue
from threading import Lock
from typing import Any

from umg_search.errors import ConfigurationError
from umg_search.model import DocumentHash, DocumentState, IndexSet, LedgerEntry, SetRole, StoredSet, TextBlock
from umg_search.ports import BlockId, Fetched, IndexSize, Selection
from umg_search.store.jobs import meets
from umg_search.store.ledger import oldest_retired
from umg_search.store.records import (
    SCHEMA,
    block_from_json,
    block_to_json,
    check_schema,
    entry_from_json,
    entry_to_json,
    spec_from_json,
    spec_to_json,
)

DATABASE_FILE = "umg.sqlite"

_APPLICATION = 0x756D6773
"""`umgs`, in the file's header: marks a SQLite file as ours."""

_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE sets (version INTEGER PRIMARY KEY AUTOINCREMENT, role TEXT NOT NULL, spec BLOB NOT NULL);
CREATE TABLE documents (
    hash BLOB PRIMARY KEY,
    revision INTEGER NOT NULL,
    state TEXT NOT NULL,
    retired_since REAL,
    entry BLOB NOT NULL
);
CREATE INDEX documents_state ON documents (state);
CREATE INDEX documents_retired ON documents (retired_since, hash) WHERE retired_since IS NOT NULL;
CREATE TABLE blocks (
    set_version INTEGER NOT NULL,
    version BLOB NOT NULL,
    number INTEGER NOT NULL,
    block BLOB NOT NULL,
    PRIMARY KEY (set_version, version, number)
);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA};
COMMIT;
"""

_PAGE = 500
"""Ledger entries that a scan reads at once; no read is open between two pages."""


class Database:
    """One connection for writing, as many for reading as threads read at once."""

    def __init__(self, file: Path) -> None:
        """Open the file, or make it; EngineUnsupported for another schema, ConfigurationError for another's file."""
        self._file = file
        self._writing = Lock()
        self._readers: LifoQueue[sqlite3.Connection] = LifoQueue()
        self._writer = self._connect()
        try:
            self._prepare()
        except BaseException:
            self._writer.close()
            raise

    def active_set(self) -> IndexSet | None:
        """Return the active set, None if there is none."""
        with self._reading() as connection:
            row = connection.execute("SELECT version, spec FROM sets WHERE role = ?", (SetRole.ACTIVE,)).fetchone()
        return None if row is None else _index_set(*row)

    def sets(self) -> list[StoredSet]:
        """Return all sets by version."""
        with self._reading() as connection:
            rows = connection.execute("SELECT version, spec, role FROM sets ORDER BY version").fetchall()
        return [StoredSet(_index_set(version, spec), SetRole(role)) for version, spec, role in rows]

    def next_version(self) -> int:
        """Return the version after the highest that any set ever had."""
        with self._reading() as connection:
            row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'sets'").fetchone()
        return 1 if row is None else int(row[0]) + 1

    def add_set(self, index: IndexSet, role: SetRole) -> None:
        """Keep the specification and the role of a set."""
        row = (index.version, role, _to_blob(spec_to_json(index.spec)))
        with self._transaction() as connection:
            connection.execute("INSERT INTO sets (version, role, spec) VALUES (?, ?, ?)", row)

    def activate(self, index: IndexSet) -> None:
        """Make a set active and the one before previous, in one transaction."""
        older = {"old": SetRole.PREVIOUS, "new": SetRole.OLDER}
        former = {"old": SetRole.ACTIVE, "new": SetRole.PREVIOUS}
        with self._transaction() as connection:
            for change in (older, former):
                statement = "UPDATE sets SET role = :new WHERE role = :old AND version <> :version"
                connection.execute(statement, {**change, "version": index.version})
            statement = "UPDATE sets SET role = ? WHERE version = ?"
            connection.execute(statement, (SetRole.ACTIVE, index.version))

    def drop_set(self, index: IndexSet) -> None:
        """Forget a set and its text blocks, in one transaction."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM sets WHERE version = ?", (index.version,))
            connection.execute("DELETE FROM blocks WHERE set_version = ?", (index.version,))

    def fetch(self, index: IndexSet | None, documents: Sequence[DocumentHash], blocks: Sequence[BlockId]) -> Fetched:
        """Read ledger entries and text blocks as of one moment."""
        with self._reading() as connection:
            connection.execute("BEGIN")
            try:
                found = [_entry(connection, document) for document in dict.fromkeys(documents)]
                texts = [_block(connection, index.version, block) for block in dict.fromkeys(blocks)] if index else []
            finally:
                connection.execute("COMMIT")
        return Fetched(
            {entry.document: entry for entry in found if entry is not None},
            {BlockId(block.version, block.number): block for block in texts if block is not None},
        )

    def write_entries(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry | None]:
        """Write entries whose token is still the current one, in one transaction; None for each other one."""
        with self._transaction() as connection:
            return [_write_entry(connection, entry) for entry in entries]

    def delete_entries(self, entries: Sequence[LedgerEntry]) -> int:
        """Delete entries whose token is still the current one, in one transaction; return how many were."""
        rows = [(entry.document, entry.token[0] if entry.token else 0) for entry in entries]
        with self._transaction() as connection:
            statement = "DELETE FROM documents WHERE hash = ? AND revision = ?"
            return sum(connection.execute(statement, row).rowcount for row in rows)

    def write_blocks(self, index: IndexSet, blocks: Iterable[TextBlock]) -> None:
        """Write text blocks in one transaction."""
        rows = [(index.version, block.version, block.number, _to_blob(block_to_json(block))) for block in blocks]
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", rows)

    def delete_blocks(self, index: IndexSet, blocks: Sequence[BlockId]) -> None:
        """Delete text blocks; one that is missing already is no failure."""
        rows = [(index.version, block.version, block.number) for block in blocks]
        with self._transaction() as connection:
            connection.executemany("DELETE FROM blocks WHERE set_version = ? AND version = ? AND number = ?", rows)

    def entries(self, selection: Selection) -> Iterator[LedgerEntry]:
        """Go through the ledger by hash, a page at a time; two conditions have an index."""
        indexed = {"retired_before": "retired_since < ? AND ", "state": "state = ? AND "}
        named = [name for name in indexed if name in selection]
        condition = "".join(indexed[name] for name in named)
        limits = tuple(value for name in named for key, value in selection.items() if key == name)
        last = b""
        while rows := self._page(condition, limits, last):
            yield from (entry for row in rows if meets(entry := _to_entry(*row), selection))
            last = rows[-1][0]

    def states(self) -> dict[DocumentState, int]:
        """Count the ledger's entries by state."""
        with self._reading() as connection:
            rows = connection.execute("SELECT state, count(*) FROM documents GROUP BY state").fetchall()
        return {DocumentState(state): count for state, count in rows}

    def text_size(self, index: IndexSet) -> IndexSize:
        """Return the number of text blocks of a set, and their bytes."""
        statement = "SELECT count(*), coalesce(sum(length(block)), 0) FROM blocks WHERE set_version = ?"
        with self._reading() as connection:
            count, size = connection.execute(statement, (index.version,)).fetchone()
        return IndexSize(count, size)

    def damage(self) -> str:
        """Return what SQLite's own check of the file finds wrong, empty if nothing."""
        with self._reading() as connection:
            first: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        return "" if first == "ok" else first

    def versions(self) -> frozenset[int]:
        """Return the versions of all index sets."""
        with self._reading() as connection:
            return frozenset(version for (version,) in connection.execute("SELECT version FROM sets"))

    def close(self) -> None:
        """Close all connections."""
        self._writer.close()
        while not self._readers.empty():
            self._readers.get_nowait().close()

    def _page(self, condition: str, limits: tuple[object, ...], last: bytes) -> list[tuple[bytes, int, bytes]]:
        statement = f"SELECT hash, revision, entry FROM documents WHERE {condition} hash > ? ORDER BY hash LIMIT ?"  # noqa: S608 - the condition is made of two constants above
        with self._reading() as connection:
            return connection.execute(statement, (*limits, last, _PAGE)).fetchall()

    def _prepare(self) -> None:
        application = self._writer.execute("PRAGMA application_id").fetchone()[0]
        if application == 0 and self._writer.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.executescript(_TABLES)
        elif application != _APPLICATION:
            raise ConfigurationError(f"{self._file} is not a file of umg-search: use another folder.")
        check_schema(self._writer.execute("PRAGMA user_version").fetchone()[0])

    def _connect(self) -> sqlite3.Connection:
        # Connections pass from thread to thread, one at a time. Transactions are begun and ended here.
        connection = sqlite3.connect(self._file, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk when it returns; NORMAL is not, with WAL
        return connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._readers.get_nowait()
        except Empty:
            connection = self._connect()
        try:
            yield connection
        finally:
            self._readers.put(connection)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:  # a full disk ends the transaction by itself
                    self._writer.execute("ROLLBACK")
                raise


def _index_set(version: int, spec: bytes) -> IndexSet:
    return IndexSet(version, spec_from_json(_from_blob(spec)))


def _entry(connection: sqlite3.Connection, document: DocumentHash) -> LedgerEntry | None:
    statement = "SELECT hash, revision, entry FROM documents WHERE hash = ?"
    row = connection.execute(statement, (document,)).fetchone()
    return None if row is None else _to_entry(*row)


def _to_entry(document: bytes, revision: int, entry: bytes) -> LedgerEntry:
    return entry_from_json(DocumentHash(document), _from_blob(entry), (revision, 0))


def _block(connection: sqlite3.Connection, set_version: int, block: BlockId) -> TextBlock | None:
    statement = "SELECT block FROM blocks WHERE set_version = ? AND version = ? AND number = ?"
    row = connection.execute(statement, (set_version, block.version, block.number)).fetchone()
    return None if row is None else block_from_json(block, _from_blob(row[0]))


def _write_entry(connection: sqlite3.Connection, entry: LedgerEntry) -> LedgerEntry | None:
    known = entry.token[0] if entry.token else 0
    row = {
        "hash": entry.document,
        "state": entry.state.value,
        "since": oldest_retired(entry),
        "entry": _to_blob(entry_to_json(entry)),
        "revision": known,
    }
    if entry.token is None:
        statement = "INSERT INTO documents VALUES (:hash, 1, :state, :since, :entry) ON CONFLICT DO NOTHING"
    else:
        statement = (
            "UPDATE documents SET revision = revision + 1, state = :state, retired_since = :since, entry = :entry "
            "WHERE hash = :hash AND revision = :revision"
        )
    written = connection.execute(statement, row).rowcount == 1
    return replace(entry, token=(known + 1, 0)) if written else None


def _to_blob(data: Mapping[str, Any]) -> bytes:
    # Metadata may hold lone surrogates, which UTF-8 proper has no place for.
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _from_blob(blob: bytes) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(blob.decode("utf-8", "surrogatepass"))
    return data
