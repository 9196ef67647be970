"""Errors of SQLite, of the file system and of Qdrant Edge, in the words of this project."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from umg_search.errors import EngineError

_FULL = ("disk is full", "No space left", "database or disk is full")


@contextmanager
def translated(folder: Path, doing: str) -> Iterator[None]:
    """Raise what goes wrong inside as an EngineError of one sentence that names the folder."""
    try:
        yield
    except Exception as error:
        # Qdrant Edge raises plain `Exception`, no class of its own; anything narrower is a fault of this program.
        if type(error) is not Exception and not isinstance(error, (sqlite3.Error, OSError)):
            raise
        raise EngineError(f"{doing} failed in the folder {folder}: {reason(error)}.") from error


def reason(error: Exception) -> str:
    """Return why something failed, and what to do where that is known."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    if getattr(error, "errno", None) == errno.ENOSPC or any(sign in text for sign in _FULL):
        return "the disk is full, free some space and try again"
    if isinstance(error, PermissionError) or "readonly database" in text or "Permission denied" in text:
        return "the folder cannot be written to, change its permissions or use another one"
    if isinstance(error, sqlite3.DatabaseError) and ("malformed" in text or "not a database" in text):
        return f"the file is damaged ({text}), restore the folder from a copy or ingest anew"
    return text
