"""What reading yields besides documents, and what one file holds."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ingest.sentences import stored_text


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file, or a line of one, that gave no document; `reason` is one sentence that names it.

    `id` is the id that the document has or would have had; for a line without one, the file's name and the line.
    """

    id: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Files of unknown kind inside a folder; `endings` are theirs, without repetition, sorted."""

    path: str
    files: int
    endings: tuple[str, ...]


class Content(NamedTuple):
    """Title (may be empty) and stored text of one file."""

    title: str
    text: str


class NotReadable(Exception):
    """A file that cannot be read; the message is what follows its name in a sentence."""


def printable(path: Path) -> str:
    """Return a path as text; bytes of a name that are no UTF-8 become U+FFFD."""
    return stored_text(str(path))
