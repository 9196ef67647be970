"""Documents into a set that is not searched yet: read from a set that is current, written anew beside it.

The ledger entry that was read together with the text is the condition of both ledger writes, so that whatever another
writer changes meanwhile, text, access or existence, makes the copy fail instead of bringing back what was before.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from umg_search.model import (
    BLOCK_SENTENCES,
    Document,
    DocumentHash,
    EncodedDocument,
    IndexSet,
    IngestReport,
    LedgerEntry,
    version_of,
)
from umg_search.ports import BlockId, Engine
from umg_search.store import generations, ledger
from umg_search.store.generations import Write
from umg_search.store.reports import failure, stored


class Builder:
    """Reads stored documents and writes them into another set."""

    def __init__(self, engine: Engine, *, clock: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._clock = clock

    def read(self, sets: Iterable[IndexSet], entries: Iterable[LedgerEntry]) -> Iterator[tuple[LedgerEntry, Document]]:
        """Yield documents with their exact newest text and the ledger entry as it was when the text was read.

        Documents that changed since `entries` were read, or that no set has the newest text of, are left out.
        """
        by_label = {index.label: index for index in sets}
        sources: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
        for entry in entries:
            label = next((label for label in by_label if entry.is_current_in(label)), None)
            if label is not None:
                sources[label].append(entry)
        for label, found in sources.items():
            yield from self._read_from(by_label[label], found)

    def store(
        self, index: IndexSet, copies: Sequence[tuple[LedgerEntry, EncodedDocument]]
    ) -> Mapping[DocumentHash, IngestReport]:
        """Make documents live in a set; return a report of each but those that another writer changed meanwhile."""
        begun = self._begin(index, copies)
        failed = generations.write(self._engine, index, begun)
        now = self._clock()
        done = [ledger.built(item.entry, index.label, item.number, now) for item in begun if item.version not in failed]
        finished = {entry.document: entry for entry in self._engine.write_entries(done) if entry is not None}
        generations.tidy(self._engine, index, begun, finished)
        return {
            item.entry.document: failure(item.document, failed[item.version])
            if item.version in failed
            else stored(item, index)
            for item in begun
            if item.version in failed or item.entry.document in finished
        }

    def _read_from(self, source: IndexSet, entries: Sequence[LedgerEntry]) -> Iterator[tuple[LedgerEntry, Document]]:
        wanted = {entry.document: _blocks(entry, source.label) for entry in entries}
        blocks = [block for some in wanted.values() for block in some]
        fetched = self._engine.fetch(source, list(wanted), blocks)
        for document, some in wanted.items():
            entry = fetched.entries.get(document)
            if entry is None or entry.key is None or not entry.is_current_in(source.label):
                continue
            if _blocks(entry, source.label) == some and all(block in fetched.blocks for block in some):
                text = "".join(fetched.blocks[block].text for block in some)
                yield entry, _document(entry, text)

    def _begin(self, index: IndexSet, copies: Sequence[tuple[LedgerEntry, EncodedDocument]]) -> list[Write]:
        now = self._clock()
        named = [ledger.name(entry, index.label, encoded.split.sentences, now) for entry, encoded in copies]
        accepted = self._engine.write_entries([entry for entry, _ in named])
        return [
            Write(encoded, entry, number, existed=before.in_set(index.label).live is not None)
            for (before, encoded), entry, (_, number) in zip(copies, accepted, named, strict=True)
            if entry is not None
        ]


def _blocks(entry: LedgerEntry, label: str) -> list[BlockId]:
    live = entry.in_set(label).live
    if live is None:
        return []
    version = version_of(entry.document, live.number)
    return [BlockId(version, number) for number in range(-(-live.sentences // BLOCK_SENTENCES))]


def _document(entry: LedgerEntry, text: str) -> Document:
    if entry.key is None:
        raise ValueError("a tombstone has no text")
    return Document(
        id=entry.key.id,
        text=text,
        title=entry.title,
        collection=entry.key.collection,
        metadata=entry.metadata,
        acl=entry.acl,
    )
