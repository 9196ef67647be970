"""Reading the documents of a command's paths, with a progress bar, and what a synchronisation deletes afterwards."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ingest.readers import Skipped, Unreadable, read_paths, total_bytes
from ingest.syncing import Sync
from umg_search.cli.commands import progress_bar
from umg_search.cli.output import complain, err
from umg_search.errors import ConfigurationError
from umg_search.model import Document

Paths = Annotated[list[str], typer.Argument(help="Files, folders, .jsonl or .jsonl.gz.", show_default=False)]
Synchronise = Annotated[
    bool, typer.Option("--sync", help="Delete documents that PATH had the last time and lacks now.")
]
Yes = Annotated[bool, typer.Option("--yes", help="With --sync: delete without asking.")]

SHOWN = 20
"""Documents that are named before a deletion; the others are counted."""


class Reading:
    """The documents of some paths; what cannot be read is named as it comes, and counted."""

    def __init__(self, paths: list[str], collection: str) -> None:
        missing = [path for path in paths if not os.path.exists(path)]  # noqa: PTH110 - Path.exists raises for long names
        if missing:
            raise ConfigurationError(f"There is no file or folder {', '.join(map(repr, missing))}: correct the path.")
        self._paths = [Path(path) for path in paths]
        self._collection = collection
        self.bytes = total_bytes(self._paths)
        self.documents = 0
        self.unreadable = 0
        self.skipped = 0

    @property
    def nothing(self) -> bool:
        """Say whether there was neither a document nor what should have been one."""
        return not self.documents and not self.unreadable

    @contextmanager
    def progressing(self, what: str) -> Iterator[Iterator[Document]]:
        """Give the documents, read one at a time under a progress bar."""
        with progress_bar() as bar:
            task = bar.add_task(what, total=self.bytes)

            def documents() -> Iterator[Document]:
                for item in read_paths(
                    self._paths, collection=self._collection, progress=lambda read: bar.advance(task, read)
                ):
                    if isinstance(item, Document):
                        self.documents += 1
                        yield item
                    else:
                        self._tell(item)

            yield documents()

    def _tell(self, item: Unreadable | Skipped) -> None:
        if isinstance(item, Unreadable):
            self.unreadable += 1
            complain(item.reason)
            return
        self.skipped += item.files
        kinds = ", ".join(ending or "without ending" for ending in item.endings) or "without ending"
        complain(f"Files of unknown kind in {item.path} were passed over: {item.files} ({kinds}).")


def complain_of_nothing() -> None:
    """Say that the paths hold no document."""
    complain("No document was found there: give text, Markdown, HTML, PDF, Word, PowerPoint or .jsonl files.")


def source_of(paths: list[str]) -> str:
    """Return what the ledger keeps of the path of a synchronisation, of which there is one."""
    if len(paths) != 1:
        raise ConfigurationError(f"--sync takes one PATH, and there are {len(paths)}: run the command once for each.")
    return str(Path(paths[0]).resolve())


def delete_vanished(sync: Sync, reading: Reading, *, yes: bool) -> int | None:
    """Delete, after showing them, what the path does not deliver any more; return how many, None where that is refused.

    Nothing is deleted where the path delivered nothing, or something of it cannot be read: it may be there still.
    """
    if reading.unreadable or not reading.documents:
        what = f"{reading.unreadable} documents cannot be read" if reading.unreadable else "no document was found there"
        complain(f"Nothing is deleted, since {what}: correct that, and run the command again.")
        return None
    vanished = sync.vanished()
    if not vanished:
        return 0
    for key in vanished[:SHOWN]:
        err.print(f"  {key.id}", markup=False)
    if len(vanished) > SHOWN:
        err.print(f"  and {len(vanished) - SHOWN} more")
    if not yes and not _confirmed(len(vanished)):
        complain("Nothing is deleted: run the command again, with --yes where nobody can be asked.")
        return None
    return sync.delete(vanished)


def _confirmed(count: int) -> bool:
    try:
        these = "this document" if count == 1 else f"these {count} documents"
        return typer.confirm(f"Delete {these}?", err=True)
    except typer.Abort:  # nobody is there to answer, and the line of the question is still open
        err.print()
        return False
