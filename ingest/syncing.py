"""Sources: what a path delivered last time and does not deliver any more is deleted."""

from collections.abc import Iterable, Iterator, Sequence

from umg_search.model import Document, DocumentKey
from umg_search.ports import Engine, Queue


class Sync:
    """One delivery of a source into a collection: documents pass through, and afterwards the vanished are known."""

    def __init__(self, engine: Engine, *, collection: str, source: str, queue: Queue | None = None) -> None:
        """`source` is the resolved path. `queue` is where texts of documents that wait are deleted, None if none do."""
        raise NotImplementedError

    def delivered(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Hand documents on, and remember their keys."""
        raise NotImplementedError

    def claim(self) -> None:
        """Write into the ledger that the delivered documents are of this source; submissions do so by themselves."""
        raise NotImplementedError

    def vanished(self) -> Sequence[DocumentKey]:
        """Return the documents of this source that were not delivered, by id.

        ConfigurationError where nothing was delivered at all: a path that is not mounted must delete nothing.
        """
        raise NotImplementedError

    def delete(self, keys: Sequence[DocumentKey]) -> int:
        """Delete vanished documents; return how many were."""
        raise NotImplementedError
