"""The read path: a question in, contexts out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice, pairwise
from time import perf_counter
from typing import Protocol, Self

import numpy as np

from umg_search.errors import EngineError, QueryError
from umg_search.granularity import FINEST, Channel, Expert
from umg_search.model import (
    ChannelReport,
    Context,
    DocumentKey,
    DocumentVersion,
    EncodedQuery,
    Evidence,
    Fused,
    IndexSet,
    LedgerEntry,
    RankedList,
    Retrieval,
    SearchResult,
    Selected,
    SetSpec,
    TopHit,
    document_of,
)
from umg_search.ports import Fetched, Scope, TokenCounter
from umg_search.ranking.evidence import Normalisation, to_evidence
from umg_search.ranking.fusion import by_length, fuse, units
from umg_search.ranking.overlap import deduplicate
from umg_search.ranking.promotion import promote
from umg_search.ranking.spans import spans
from umg_search.ranking.truncation import within_budget
from umg_search.ranking.weights import entropy_weights
from umg_search.store.contexts import Passage, passage, shortened
from umg_search.store.reader import Reader, effective, judge

MOST_DEPTH = 5_000
"""Hits of a channel that can be asked for: servers look at twice as many, and at 10,000 at most."""

MOST_TOKENS = 10_000_000
"""Largest budget that is no mistake."""

TOP_HITS = 5
"""Hits of each channel in an explanation."""


class Selection(StrEnum):
    """What an answer is made of: evidence spans (ours), units of any length (UMG-RAG), or parents (UMGP-RAG)."""

    SPANS = "spans"
    CHUNKS = "chunks"
    PARENTS = "parents"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """Knobs of the ranking, with the only defaults; METHODS: UMG-RAG (arXiv 2606.13550) and evidence spans.

    `budget` in tokens of the index set. `top_k` None: 5 for chunks and parents as published, no limit for spans; 0: no
    limit. `depth` hits a channel. `floor` in tokens. `overlap` is the share of the shorter unit above which two units
    of a document are taken for the same; 1 turns de-duplication off.
    """

    select: Selection = Selection.SPANS
    budget: int = 512
    top_k: int | None = None
    depth: int = 100
    normalisation: Normalisation = Normalisation.ZSCORE
    temperature: float = 1.0
    alpha: float = 0.5
    floor: int = 16
    overlap: float = 0.75
    own_mass: bool = True
    min_sentences: int = 1

    def __post_init__(self) -> None:
        limits = {
            "budget": (self.budget, 1, MOST_TOKENS),
            "top_k": (self.top_k or 0, 0, MOST_DEPTH),
            "depth": (self.depth, 1, MOST_DEPTH),
            "alpha": (self.alpha, 0, 10),
            "floor": (self.floor, 0, MOST_TOKENS),
            "overlap": (self.overlap, 0, 1),
            "min_sentences": (self.min_sentences, 1, 1_000),
            "temperature": (self.temperature, 1e-3, 1e3),
        }
        wrong = [
            f"{name} is {value}, it lies between {least} and {most}"
            for name, (value, least, most) in limits.items()
            if not least <= value <= most
        ]
        if wrong:
            raise QueryError(f"Wrong ranking options: {'; '.join(wrong)}.")

    @classmethod
    def paper(cls, select: Selection = Selection.PARENTS) -> Self:
        """Return the literal reading of the paper: min-max, no floor, de-duplication of parents only."""
        overlap = 0.75 if select is Selection.PARENTS else 1.0
        return cls(select=select, normalisation=Normalisation.MINMAX, floor=0, own_mass=False, overlap=overlap)

    @property
    def limit(self) -> int | None:
        """Most contexts of an answer, None: no limit."""
        if self.top_k is None:
            return None if self.select is Selection.SPANS else 5
        return self.top_k or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question, what it may see, and how it is to be answered."""

    text: str
    scope: Scope = field(default_factory=Scope)
    options: RankingOptions = field(default_factory=RankingOptions)
    explain: bool = False


class QueryEncoder(Protocol):
    """What a search needs of the encoders of an index set."""

    @property
    def counter(self) -> TokenCounter:
        """The set's way to count tokens."""
        ...

    def encode_query(self, text: str) -> EncodedQuery:
        """Return the question as each expert of the set reads it."""
        ...


@dataclass(frozen=True, slots=True)
class Ranking:
    """Everything between ranked lists and text; `fused` is None where no list has a hit."""

    evidence: tuple[Evidence, ...]
    weights: tuple[float, ...]
    fused: Fused | None
    kept: tuple[Selected, ...]


def rank(lists: Sequence[RankedList], options: RankingOptions) -> Ranking:
    """Return the ranking of lists, pure: evidence, weights, fusion, selection, cut."""
    evidence = tuple(
        to_evidence(ranked, normalisation=options.normalisation, temperature=options.temperature)
        for ranked in lists
        if len(ranked.hits)
    )
    if not evidence:
        return Ranking((), (), None, ())
    weights = tuple(entropy_weights(evidence).tolist())
    fused = fuse(evidence, weights)
    return Ranking(evidence, weights, fused, tuple(select(fused, options)))


def select(fused: Fused, options: RankingOptions) -> list[Selected]:
    """Return what the answer is made of, best first, within the number and the tokens that are asked for."""
    if options.select is Selection.SPANS:
        runs = spans(fused, budget=options.budget, min_sentences=options.min_sentences)
        return runs[: options.limit]
    pool = promote(fused, own_mass=options.own_mass) if options.select is Selection.PARENTS else units(fused)
    ranked = by_length(fused, pool, alpha=options.alpha, floor=options.floor)
    rows = islice(deduplicate(ranked, share=options.overlap), options.limit)
    chosen = (
        fused.selected(
            int(ranked.document[i]),
            int(ranked.first[i]),
            int(ranked.last[i]),
            int(ranked.place[i]),
            float(ranked.score[i]),
        )
        for i in rows
    )
    return list(within_budget(chosen, budget=options.budget))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with all that was decided at its start and holds to its end."""

    query: Query
    index: IndexSet
    scope: Scope
    encoders: QueryEncoder
    clock: "_Stopwatch"


@dataclass(frozen=True, slots=True)
class _Round:
    """One pass from lists to text: what was ranked, what was read, and versions that were replaced meanwhile."""

    ranking: Ranking
    fetched: Fetched
    texts: tuple[Passage | None, ...]
    stale: frozenset[DocumentVersion]

    @property
    def complete(self) -> bool:
        return not self.stale and None not in self.texts


class SearchService:
    """Answers questions from the active index set; one instance serves many threads."""

    def __init__(self, reader: Reader, encoders_of: Callable[[SetSpec], QueryEncoder]) -> None:
        self._reader = reader
        self._encoders_of = encoders_of

    def search(self, query: Query) -> SearchResult:
        """Return the contexts that answer a question.

        QueryError for a question or options that cannot be searched with, EngineError where every list failed; where
        only some failed, `degraded` names them.
        """
        clock = _Stopwatch()
        index = self._reader.active_set()
        scope = replace(query.scope, principals=effective(query.scope.principals, index.spec))
        asked = _Asked(query, index, scope, self._encoders_of(index.spec), clock)
        encoded = asked.encoders.encode_query(query.text)
        clock.lap("encode")
        barred: frozenset[DocumentVersion] = frozenset()
        for _ in range(2):  # once more where documents were replaced between the lists and the texts
            retrieval = self._reader.ranked_lists(index, encoded, depth=query.options.depth, scope=scope)
            clock.lap("retrieve")
            found = self._settle(asked, retrieval, barred)
            if found.complete:
                break
            barred = found.stale
        return self._result(asked, retrieval, found)

    def _settle(self, asked: _Asked, retrieval: Retrieval, barred: frozenset[DocumentVersion]) -> _Round:
        """Rank and read, and rank again without what the ledger refuses, until it refuses nothing."""
        while True:
            lists, contested = _admissible(retrieval.lists, barred)
            ranking = rank(lists, asked.query.options)
            asked.clock.lap("rank")
            shown = {item.version for item in ranking.kept} | contested
            if asked.query.explain:
                # An explanation counts and weighs every hit, so it must not rest on one that may not be seen.
                shown |= {version for item in ranking.evidence for version in item.ranked.hits.distinct}
            fetched = self._reader.fetch(asked.index, ranking.kept, map(document_of, shown))
            asked.clock.lap("fetch")
            verdict = judge(shown, fetched.entries, asked.index.label, asked.scope.principals)
            if not verdict.refused:
                texts = tuple(passage(item, fetched.blocks) for item in ranking.kept)
                return _Round(ranking, fetched, texts, verdict.stale)
            barred |= self._refused(asked, lists)

    def _refused(self, asked: _Asked, lists: Iterable[RankedList]) -> frozenset[DocumentVersion]:
        """Return every version in the lists that may not be shown, so that one more round is enough."""
        versions = {version for ranked in lists for version in ranked.hits.distinct}
        entries = self._reader.fetch(asked.index, (), map(document_of, versions)).entries
        return judge(versions, entries, asked.index.label, asked.scope.principals).refused

    def _result(self, asked: _Asked, retrieval: Retrieval, found: _Round) -> SearchResult:
        contexts = tuple(
            _context(asked, found, item, text)
            for item, text in zip(found.ranking.kept, found.texts, strict=True)
            if text is not None
        )
        missing = len(found.texts) - len(contexts)
        lost = [f"Texts that were deleted meanwhile are left out: {missing}."] if missing else []
        ignored = []
        if asked.query.scope.principals and asked.scope.principals is None:
            ignored.append("This index set has no access control: the principals were ignored.")
        asked.clock.lap("contexts")
        return SearchResult(
            question=asked.query.text,
            contexts=contexts,
            degraded=tuple(str(channel) for channel in sorted(retrieval.failed)),
            warnings=(*retrieval.notes, *lost, *ignored),
            engine=self._reader.info(),
            timings_ms=asked.clock.milliseconds,
            channels=_channel_reports(found) if asked.query.explain else (),
        )


def _admissible(
    lists: Iterable[RankedList], barred: frozenset[DocumentVersion]
) -> tuple[list[RankedList], set[DocumentVersion]]:
    """Return lists without barred versions, of two generations of a document only the higher, and those that won.

    The ledger must speak on the latter even where they are not shown: one that was never finished must not hide what
    is live.
    """
    versions = sorted({version for ranked in lists for version in ranked.hits.distinct} - barred)
    pairs = [(a, b) for a, b in pairwise(versions) if document_of(a) == document_of(b)]
    older = {a for a, _ in pairs}
    return [ranked.without(barred | older) for ranked in lists], {b for _, b in pairs} - older


def _context(asked: _Asked, found: _Round, item: Selected, text: Passage) -> Context:
    entry = found.fetched.entries[document_of(item.version)]
    key = _key(entry)
    budget, counter = asked.query.options.budget, asked.encoders.counter
    over = item.tokens > budget
    if over:  # a single sentence longer than the whole budget
        text = shortened(text, budget, counter)
    carried = _mass_by_channel(found.ranking, item)
    return Context(
        document_id=key.id,
        collection=key.collection,
        title=entry.title,
        first=item.first,
        last=item.last,
        start=text.start,
        end=text.start + len(text.text),
        text=text.text,
        tokens=counter.count([text.text])[0] if over else item.tokens,
        score=item.score,
        relevance=_relevance(found.ranking, item),
        granularities=tuple(sorted({channel.granularity for channel in carried})),
        truncated=over or item.cut,
        channels=carried if asked.query.explain else {},
    )


def _mass_by_channel(ranking: Ranking, item: Selected) -> dict[Channel, float]:
    """Return the mass that each channel has on the sentences of a selection, channels without any left out."""
    fused = ranking.fused
    if fused is None:
        return {}
    shared = np.minimum(fused.last, item.last) - np.maximum(fused.first, item.first)
    inside = (fused.document == fused.versions.index(item.version)) & (shared > 0)
    part = np.where(inside, shared / (fused.last - fused.first), 0.0)
    shares = fused.shares
    masses = np.bincount(shares.channel, shares.mass * part[shares.unit], len(fused.channels))
    return {channel: mass for channel, mass in zip(fused.channels, masses.tolist(), strict=True) if mass > 0}


def _relevance(ranking: Ranking, item: Selected) -> float | None:
    """Return the best cosine of a finest window that overlaps a selection, None where the list holds none."""
    finest = Channel(Expert.DENSE, FINEST)
    for evidence in ranking.evidence:
        if evidence.ranked.channel == finest:
            hits = evidence.ranked.hits
            if item.version not in hits.distinct:
                return None
            own = hits.table[0] == hits.distinct.index(item.version)
            cosines = evidence.ranked.scores[own & (hits.first < item.last) & (hits.last > item.first)]
            return max(cosines.tolist(), default=None)
    return None


def _channel_reports(found: _Round) -> tuple[ChannelReport, ...]:
    reports = []
    for evidence, weight in zip(found.ranking.evidence, found.ranking.weights, strict=True):
        ranked = evidence.ranked
        reports.append(
            ChannelReport(
                channel=ranked.channel,
                hits=len(ranked.hits),
                entropy=evidence.entropy,
                confidence=evidence.confidence,
                weight=weight,
                top=tuple(_top_hit(ranked, row, found.fetched) for row in range(min(TOP_HITS, len(ranked.hits)))),
            )
        )
    return tuple(reports)


def _top_hit(ranked: RankedList, row: int, fetched: Fetched) -> TopHit:
    hits = ranked.hits
    key = _key(fetched.entries[document_of(hits.versions[row])])
    return TopHit(key.id, key.collection, int(hits.first[row]), int(hits.last[row]), float(ranked.scores[row]))


def _key(entry: LedgerEntry) -> DocumentKey:
    if entry.key is None:
        raise EngineError("The ledger holds a live document without an id: it was damaged from outside.")
    return entry.key


class _Stopwatch:
    """Adds up milliseconds by stage."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        now = perf_counter()
        self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + 1000 * (now - self._last)
        self._last = now
