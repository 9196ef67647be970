"""From the paths given to the files to be read."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ingest.readers.formats import is_known
from ingest.readers.jsonl import is_jsonl
from ingest.readers.outcomes import Skipped, Unreadable, printable
from ingest.sentences import stored_text


class Found(NamedTuple):
    """A file of a known kind: where it is, the id its document gets, and its bytes."""

    path: Path
    id: str
    size: int


def walk(path: Path) -> Iterator[Found | Unreadable | Skipped]:
    """Yield the files under a path given, or why there is none."""
    try:
        status = path.stat()
    except OSError as error:
        yield _unreadable(path, path.name or str(path), error)
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _folder(path)
    elif not stat.S_ISREG(status.st_mode):
        yield Unreadable(stored_text(path.name), printable(path), f"{printable(path)} is neither a file nor a folder.")
    elif _is_readable_kind(path):
        yield Found(path, stored_text(path.name), status.st_size)
    else:
        reason = f"{printable(path)} is of an unknown kind ({path.suffix.lower() or 'no ending'})."
        yield Unreadable(stored_text(path.name), printable(path), reason)


def _folder(root: Path) -> Iterator[Found | Unreadable | Skipped]:
    """Yield what is in a folder, by name; a folder that is reached twice through links is read once."""
    endings: list[str] = []
    seen: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        path = waiting.pop()
        try:
            status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                if (status.st_dev, status.st_ino) not in seen:
                    seen.add((status.st_dev, status.st_ino))
                    waiting.extend(sorted(_visible(path), reverse=True))
            elif stat.S_ISREG(status.st_mode) and _is_readable_kind(path):
                yield Found(path, _relative(path, root), status.st_size)
            else:
                endings.append(path.suffix.lower())
        except OSError as error:
            yield _unreadable(path, _relative(path, root), error)
    if endings:
        yield Skipped(printable(root), len(endings), tuple(sorted(set(endings))))


def _visible(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [folder / entry.name for entry in entries if not entry.name.startswith(".")]


def _is_readable_kind(path: Path) -> bool:
    return is_jsonl(path) or is_known(path)


def _relative(path: Path, root: Path) -> str:
    return stored_text(path.relative_to(root).as_posix())


def _unreadable(path: Path, id: str, error: OSError) -> Unreadable:
    problem = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
    return Unreadable(stored_text(id), printable(path), f"{printable(path)} {problem}.")
