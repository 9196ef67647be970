"""What an evaluation need not compute twice: encodings and ranked lists, in one SQLite file.

Every value is stored at once, so that an interrupted run goes on where it was.
"""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Self

from umg_search.errors import ConfigurationError

_FILE = "evaluation.sqlite"


class Cache:
    """Bytes by key; a key is the digest of everything that determines the value. Errors: ConfigurationError."""

    def __init__(self, folder: Path) -> None:
        """Open the cache of a folder, or make both."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(folder / _FILE, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("CREATE TABLE IF NOT EXISTS cached (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"The cache in {str(folder)!r} cannot be used ({error}): choose another."
            ) from error

    def get(self, key: bytes) -> bytes | None:
        """Return a value, None if it is not there."""
        with closing(self._database.execute("SELECT value FROM cached WHERE key = ?", (key,))) as found:
            row = found.fetchone()
        return None if row is None else bytes(row[0])

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Store values in one step, in place of what was there."""
        with self._database:
            self._database.execute("BEGIN")
            self._database.executemany("INSERT OR REPLACE INTO cached VALUES (?, ?)", values.items())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()


def digest(*parts: object) -> bytes:
    """Return 16 bytes that stand for values in their order, by what `repr` tells of them."""
    found = blake2b(digest_size=16)
    for part in parts:
        raw = repr(part).encode("utf-8", "surrogatepass")
        found.update(len(raw).to_bytes(8, "big") + raw)
    return found.digest()
