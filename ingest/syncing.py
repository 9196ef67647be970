"""Sources: what a path delivered last time and does not deliver any more is deleted."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from umg_search.errors import ConfigurationError, WriteConflict
from umg_search.model import Document, DocumentHash, DocumentKey
from umg_search.ports import Engine, Queue
from umg_search.store.writer import CONFLICT, Writer

ATTEMPTS = 5
"""How often entries are written anew after others changed them."""

_PAGE = 500


class Sync:
    """One delivery of a source into a collection: documents pass through, and afterwards the vanished are known."""

    def __init__(self, engine: Engine, *, collection: str, source: str, queue: Queue | None = None) -> None:
        """`source` is the resolved path. `queue` is where texts of documents that wait are deleted, None if none do."""
        self._engine = engine
        self._collection = collection
        self._source = source
        self._queue = queue
        self._delivered: dict[DocumentHash, None] = {}

    def delivered(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Hand documents on, and remember their keys."""
        for document in documents:
            self._delivered[document.key.hash] = None
            yield document

    def claim(self) -> None:
        """Write into the ledger that the delivered documents are of this source; submissions do so by themselves."""
        known = list(self._delivered)
        for begin in range(0, len(known), _PAGE):
            self._claim(known[begin : begin + _PAGE])

    def vanished(self) -> Sequence[DocumentKey]:
        """Return the documents of this source that were not delivered, by id.

        ConfigurationError where nothing was delivered at all: a path that is not mounted must delete nothing.
        """
        if not self._delivered:
            raise ConfigurationError(
                f"{self._source} has no document at all, so that nothing is deleted: see whether the path is right, "
                "or delete its documents with `umg delete`."
            )
        entries = self._engine.entries(collection=self._collection, source=self._source)
        return sorted(entry.key for entry in entries if entry.key and entry.document not in self._delivered)

    def delete(self, keys: Sequence[DocumentKey]) -> int:
        """Delete vanished documents; return how many were."""
        return sum(Writer(self._engine, queue=self._queue).delete(self._engine.active_set(), keys))

    def _claim(self, documents: Sequence[DocumentHash]) -> None:
        for _ in range(ATTEMPTS):
            found = self._engine.fetch(None, documents, []).entries.values()
            others = [entry for entry in found if entry.key is not None and entry.source != self._source]
            written = self._engine.write_entries([replace(entry, source=self._source) for entry in others])
            if None not in written:
                return
        raise WriteConflict(CONFLICT)
