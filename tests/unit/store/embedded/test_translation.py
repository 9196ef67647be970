import errno
import sqlite3
from pathlib import Path

import pytest

from umg_search.errors import EngineBusy, EngineError
from umg_search.store.embedded.translation import translated

FOLDER = Path("/some/folder")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (sqlite3.OperationalError("database or disk is full"), "the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied"), "cannot be written"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "cannot be written"),
        (sqlite3.DatabaseError("file is not a database"), "damaged"),
        (Exception("Service runtime error:\n wal"), "Service runtime error: wal"),
        (Exception(), "Exception"),
    ],
)
def test_errors_become_one_sentence_that_names_the_folder(error: Exception, says: str) -> None:
    with pytest.raises(EngineError) as caught, translated(FOLDER, "Reading"):
        raise error
    assert says in str(caught.value)
    assert str(caught.value).startswith("Reading failed in the folder /some/folder: ")
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [EngineBusy("busy"), TypeError("a fault of this program")])
def test_other_errors_pass_as_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, translated(FOLDER, "Reading"):
        raise error
    assert caught.value is error
