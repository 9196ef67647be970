"""From what is kept to what is shown: contexts with their sources, documents, explanations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from umg_search.errors import EngineError
from umg_search.granularity import Granularity
from umg_search.model import (
    ChannelReport,
    Context,
    DocumentGroup,
    DocumentKey,
    LedgerEntry,
    RankedList,
    Selected,
    Source,
    TopHit,
    document_of,
)
from umg_search.ports import Fetched, TokenCounter
from umg_search.search.ranking import Ranking, mass_by_channel, relevance
from umg_search.store.contexts import Passage, passage, shortened

TOP_HITS = 5
"""Hits of each channel in an explanation."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A ranking with what was read for it, and how it is to be shown; `budget` in tokens of `counter`.

    `derived` are the granularities whose lists were derived.
    """

    ranking: Ranking
    fetched: Fetched
    counter: TokenCounter
    budget: int
    explain: bool
    derived: tuple[Granularity, ...] = ()

    def contexts(self) -> tuple[Context, ...]:
        """Return the contexts, best first; what has no text is left out."""
        found = ((item, passage(item, self.fetched.blocks)) for item in self.ranking.kept)
        return tuple(self._context(item, text) for item, text in found if text is not None)

    def channels(self) -> tuple[ChannelReport, ...]:
        """Return what each channel found and weighed."""
        return tuple(
            ChannelReport(
                channel=evidence.ranked.channel,
                derived=evidence.ranked.channel.granularity in self.derived,
                hits=len(evidence.ranked.hits),
                entropy=evidence.entropy,
                confidence=evidence.confidence,
                weight=weight,
                top=tuple(_top_hits(evidence.ranked, self.fetched)),
            )
            for evidence, weight in zip(self.ranking.evidence, self.ranking.weights, strict=True)
        )

    def _context(self, item: Selected, text: Passage) -> Context:
        over = item.tokens > self.budget
        if over:  # a single sentence longer than the whole budget
            text = shortened(text, self.budget, self.counter)
        own = self._source(item, text)
        carried = mass_by_channel(self.ranking, item)
        return Context(
            document_id=own.document_id,
            collection=own.collection,
            title=own.title,
            metadata=self.fetched.entries[document_of(item.version)].metadata,
            first=own.first,
            last=own.last,
            start=own.start,
            end=own.end,
            text=text.text,
            tokens=self.counter.count([text.text])[0] if over else item.tokens,
            score=item.score,
            relevance=relevance(self.ranking, item),
            granularities=tuple(sorted({channel.granularity for channel in carried})),
            truncated=over or item.cut,
            sources=(own, *self._copies(item)),
            channels=carried if self.explain else {},
        )

    def _copies(self, item: Selected) -> Iterator[Source]:
        copies = next((shared.copies for shared in self.ranking.shared if shared.item == item), ())
        for copy in copies:
            text = passage(copy, self.fetched.blocks)
            if text is not None:
                yield self._source(copy, text)

    def _source(self, item: Selected, text: Passage) -> Source:
        entry = self.fetched.entries[document_of(item.version)]
        key = _key(entry)
        end = text.start + len(text.text)
        return Source(key.id, key.collection, entry.title, item.first, item.last, text.start, end)


def by_document(contexts: Sequence[Context]) -> tuple[Context, ...]:
    """Return contexts document by document, the documents in the order of their best contexts.

    Not by the sum of scores: that would put a document of many weak contexts before the one with the answer, and
    scores of chunks and parents are no masses that add up.
    """
    return tuple(context for own in _documents(contexts) for context in own)


def documents_of(contexts: Sequence[Context]) -> tuple[DocumentGroup, ...]:
    """Return the documents of contexts, in the same order."""
    return tuple(
        DocumentGroup(own[0].document_id, own[0].collection, own[0].title, own[0].score, len(own))
        for own in _documents(contexts)
    )


def _documents(contexts: Sequence[Context]) -> Iterable[list[Context]]:
    documents: dict[DocumentKey, list[Context]] = {}
    for context in contexts:
        documents.setdefault(DocumentKey(context.collection, context.document_id), []).append(context)
    return documents.values()


def _top_hits(ranked: RankedList, fetched: Fetched) -> Iterator[TopHit]:
    hits = ranked.hits
    for row in range(min(TOP_HITS, len(hits))):
        key = _key(fetched.entries[document_of(hits.versions[row])])
        yield TopHit(key.id, key.collection, int(hits.first[row]), int(hits.last[row]), float(ranked.scores[row]))


def _key(entry: LedgerEntry) -> DocumentKey:
    if entry.key is None:
        raise EngineError("The ledger holds a live document without an id: it was damaged from outside.")
    return entry.key
