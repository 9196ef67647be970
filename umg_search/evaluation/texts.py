"""The stored texts of documents, as an index holds them: what ranges of sentences mean in characters."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from umg_search.errors import EngineError
from umg_search.evaluation.questions import Span
from umg_search.model import (
    BLOCK_SENTENCES,
    DocumentHash,
    DocumentKey,
    DocumentVersion,
    IndexSet,
    LedgerEntry,
    Selected,
    TextBlock,
    document_of,
    version_of,
)
from umg_search.ports import BlockId, Engine, TokenCounter
from umg_search.store.contexts import Passage, shortened

_TOGETHER = 256
"""Documents whose texts are read in one request."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The text of a document, the bounds of its sentences (one more than there are) and their tokens."""

    key: DocumentKey
    text: str
    bounds: tuple[int, ...]
    counts: tuple[int, ...]

    def span(self, item: Selected) -> Span:
        """Return the characters of a range of sentences, white space at its end included."""
        return Span(self.key, self.bounds[item.first], self.bounds[item.last])

    def within(self, item: Selected, budget: int, counter: TokenCounter) -> Span:
        """Return the characters of a range, cut at a word bound where a single sentence is over the whole budget."""
        whole = self.span(item)
        if item.tokens <= budget:
            return whole
        short = shortened(Passage(whole.start, self.text[whole.start : whole.end]), budget, counter)
        return Span(self.key, short.start, short.start + len(short.text))

    def text_of(self, span: Span) -> str:
        """Return the text of a span of this document."""
        return self.text[span.start : span.end]


Layouts = Mapping[DocumentVersion, Layout]


class Texts:
    """Reads the live texts of an index set, each document once."""

    def __init__(self, engine: Engine, index: IndexSet) -> None:
        self._engine = engine
        self._index = index
        self._known: dict[DocumentVersion, Layout] = {}

    def of(self, versions: Iterable[DocumentVersion]) -> Mapping[DocumentVersion, Layout]:
        """Return the layouts of versions; EngineError where one is not live any more."""
        wanted = tuple(dict.fromkeys(versions))
        unknown = [version for version in wanted if version not in self._known]
        for start in range(0, len(unknown), _TOGETHER):
            self._known |= self._read([document_of(version) for version in unknown[start : start + _TOGETHER]])
        gone = [version for version in wanted if version not in self._known]
        if gone:
            raise EngineError(
                f"The index changed while it was evaluated: {len(gone)} documents are gone. Run it again."
            )
        return {version: self._known[version] for version in wanted}

    def of_documents(self, keys: Iterable[DocumentKey]) -> Mapping[DocumentKey, Layout]:
        """Return the layouts of those documents that are there."""
        hashes = [key.hash for key in dict.fromkeys(keys)]
        parts = [self._read(hashes[start : start + _TOGETHER]) for start in range(0, len(hashes), _TOGETHER)]
        return {layout.key: layout for part in parts for layout in part.values()}

    def every(self) -> Iterator[Layout]:
        """Go through all documents, by the order of the ledger."""
        for entry in self._engine.entries():
            yield from self._read([entry.document]).values()

    def _read(self, documents: Sequence[DocumentHash]) -> dict[DocumentVersion, Layout]:
        entries = self._engine.fetch(self._index, documents, []).entries
        ids = {version: wanted for entry in entries.values() for version, wanted in self._blocks(entry)}
        blocks = self._engine.fetch(self._index, [], [block for wanted in ids.values() for block in wanted]).blocks
        whole = {v: [blocks[b] for b in wanted] for v, wanted in ids.items() if all(b in blocks for b in wanted)}
        return {version: _layout(entries[document_of(version)], own) for version, own in whole.items()}

    def _blocks(self, entry: LedgerEntry) -> Iterator[tuple[DocumentVersion, list[BlockId]]]:
        live = entry.in_set(self._index.label).live
        if live is not None and entry.key is not None:
            version = version_of(entry.document, live.number)
            yield version, [BlockId(version, number) for number in range(-(-live.sentences // BLOCK_SENTENCES))]


def _layout(entry: LedgerEntry, blocks: Sequence[TextBlock]) -> Layout:
    if entry.key is None:
        raise EngineError("The ledger holds a live document without an id: it was damaged from outside.")
    bounds = [block.start + bound for block in blocks for bound in block.bounds[:-1]]
    text = "".join(block.text for block in blocks)
    counts = tuple(count for block in blocks for count in block.counts)
    return Layout(entry.key, text, (*bounds, len(text)), counts)
