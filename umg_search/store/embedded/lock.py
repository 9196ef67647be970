"""One process at a time: a lock on the folder that names its owner."""

import json
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from umg_search.errors import EngineBusy

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[str]) -> None:
        # A locked byte cannot be read on Windows: one far behind the owner's name is taken.
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[str]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


LOCK_FILE = "lock"


class FolderLock:
    """An operating system's lock on a file of the folder; it ends with the process, whatever ends that.

    The file stays when the lock is given up: removing it would let two processes lock two files of one name.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock; EngineBusy names the process that has it."""
        self._file: IO[str] = (folder / LOCK_FILE).open("a+", encoding="utf-8")
        try:
            _try_lock(self._file)
        except OSError as error:
            owner = _owner(self._file)
            self._file.close()
            raise EngineBusy(
                f"The folder {folder} is in use by {owner}: close that first or use another folder, "
                "for the embedded engine serves one process at a time."
            ) from error
        self._name_owner()

    def release(self) -> None:
        """Give the lock up.

        Closing the file is enough, and in a child made by fork it leaves the parent's lock as it is.
        """
        self._file.close()

    def _name_owner(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "host": socket.gethostname()}, self._file)
        self._file.flush()


def _owner(file: IO[str]) -> str:
    with suppress(OSError, ValueError, KeyError, TypeError):
        file.seek(0)
        owner = json.load(file)
        return f"process {owner['pid']} on {owner['host']}"
    return "another process"
