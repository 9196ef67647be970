"""The folder that holds fetched servers and running ones."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def cache_folder() -> Path:
    """Return the folder that UMG_DEV_CACHE names, else the one below the user's cache."""
    named = os.environ.get("UMG_DEV_CACHE")
    return Path(named).absolute() if named else Path.home() / ".cache" / "umg-search" / "servers"


def run_folder() -> Path:
    """Return the folder with one folder for each running server."""
    return cache_folder() / "run"


@contextmanager
def exclusive(name: str) -> Iterator[None]:
    """Hold the lock of this name against every other process and thread that uses the same cache."""
    path = cache_folder() / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _locked(path)
    try:
        yield
    finally:
        # Private servers have names of their own, whose files would pile up.
        path.unlink(missing_ok=True)
        file.close()


def _locked(path: Path) -> IO[str]:
    """Return the open lock file; the lock ends with it, so a killed process never leaves one behind."""
    while True:
        file = path.open("w")
        fcntl.flock(file, fcntl.LOCK_EX)
        if _is_at(path, file):
            return file
        # Its last holder has removed it while we waited: others lock a new file by now.
        file.close()


def _is_at(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
