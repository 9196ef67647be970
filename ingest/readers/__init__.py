"""Reading documents from files, folders and JSON lines; what cannot be read is named, and reading goes on."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ingest.readers.formats import read_file
from ingest.readers.jsonl import is_jsonl, read_jsonl
from ingest.readers.outcomes import Skipped, Unreadable, printable
from ingest.readers.walking import Found, walk
from umg_search.model import DEFAULT_COLLECTION, Document

__all__ = ["Skipped", "Unreadable", "read_paths", "total_bytes"]


def read_paths(
    paths: Sequence[Path], *, collection: str = DEFAULT_COLLECTION, progress: Callable[[int], None] | None = None
) -> Iterator[Document | Unreadable | Skipped]:
    """Yield the documents of all paths, one at a time, in the order given; a folder's by name, with its subfolders.

    A file's id is its path relative to the folder given, for a file given its name. Hidden files and folders inside a
    folder are passed over; its files of unknown kind are counted in one `Skipped` at its end. `.jsonl` and `.jsonl.gz`
    hold a document a line. `progress` is told bytes read since its last call; they add up to `total_bytes(paths)`
    where every file can be read.
    """
    tell = progress or _nobody
    for path in paths:
        for found in walk(path):
            if isinstance(found, Found):
                yield from _read(found, collection, tell)
            else:
                yield found


def total_bytes(paths: Sequence[Path]) -> int:
    """Return the size of all files that `read_paths` would open, compressed ones as they are on disk."""
    return sum(found.size for path in paths for found in walk(path) if isinstance(found, Found))


def _read(found: Found, collection: str, tell: Callable[[int], None]) -> Iterator[Document | Unreadable]:
    if is_jsonl(found.path):
        yield from read_jsonl(found.path, collection, tell)
        return
    yield _document(found, collection)
    tell(found.size)


def _document(found: Found, collection: str) -> Document | Unreadable:
    try:
        content = read_file(found.path)
    except OSError as error:
        return Unreadable(found.id, printable(found.path), f"{printable(found.path)} cannot be read: {error.strerror}.")
    if isinstance(content, str):
        return Unreadable(found.id, printable(found.path), f"{printable(found.path)} {content}.")
    return Document(id=found.id, text=content.text, title=content.title, collection=collection)


def _nobody(_: int) -> None:
    """Take progress that nobody asked for."""
