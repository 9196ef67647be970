"""`SearchService`: the read path, a stage a line."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter

from umg_search.errors import SetDropped
from umg_search.granularity import Expert
from umg_search.model import (
    DocumentVersion,
    EncodedQuery,
    IndexSet,
    RankedList,
    Retrieval,
    SearchResult,
    Selected,
    SetSpec,
    document_of,
)
from umg_search.ports import Fetched, Scope
from umg_search.search.answers import Answer, by_document, documents_of
from umg_search.search.deriving import asked_depth, completed, fallen
from umg_search.search.hints import hints
from umg_search.search.options import Query, RankingOptions
from umg_search.search.questions import QueryEncoder, Questions, Remembered
from umg_search.search.ranking import Ranking, hit_in, is_answered, merged, rank, refilled
from umg_search.store.contexts import passage
from umg_search.store.filters import resolved
from umg_search.store.reader import Reader, Verdict, effective, from_active_set, judge

REFILLS = 2
"""How often tokens that duplicates leave are filled again; each costs one more read of texts, and no search."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with all that was decided at its start and holds to its end."""

    query: Query
    options: RankingOptions
    index: IndexSet
    scope: Scope
    encoders: QueryEncoder
    clock: "_Stopwatch"


@dataclass(frozen=True, slots=True)
class _Round:
    """One pass from lists to text: what was ranked, what was read for it, and the ledger's word."""

    ranking: Ranking
    fetched: Fetched
    verdict: Verdict

    def there(self, item: Selected) -> bool:
        """Whether the text of a selection was read."""
        return passage(item, self.fetched.blocks) is not None

    @property
    def missing(self) -> tuple[Selected, ...]:
        return tuple(item for item in self.ranking.kept if not self.there(item))

    @property
    def complete(self) -> bool:
        return not self.verdict.stale and not self.missing

    def merged(self) -> "_Round":
        """Return the round with passages of one text taken together."""
        passages = {item: passage(item, self.fetched.blocks) for item in self.ranking.kept}
        texts = {item: found.text for item, found in passages.items() if found}
        return replace(self, ranking=merged(self.ranking, texts))

    def with_hits(self) -> "_Round":
        """Return the round with the best hit inside it in place of each selection whose text is not whole.

        A hit that another selection shows is left out.
        """
        whole = [item for item in self.ranking.kept if self.there(item)]
        found = {item: hit_in(self.ranking, item, self.there) for item in self.missing}
        hits = {item: hit for item, hit in found.items() if hit and not any(_within(hit, other) for other in whole)}
        kept = tuple(hits.get(item, item) for item in self.ranking.kept)
        return replace(self, ranking=replace(self.ranking, kept=kept))


class SearchService:
    """Answers questions from the active index set; one instance serves many threads."""

    def __init__(
        self,
        reader: Reader,
        encoders_of: Callable[[SetSpec], QueryEncoder],
        *,
        options: RankingOptions | None = None,
        remembered_questions: int = 0,
    ) -> None:
        """Search with a reader and the encoders of each set, and remember the encodings of so many questions.

        `options` are those of queries that bring none; `ranking_options` makes them from settings.
        """
        self._reader = reader
        self._options = options or RankingOptions()
        self._encoders_of = encoders_of
        self._questions = Questions(encoders_of, remembered_questions)

    @property
    def remembered(self) -> Remembered:
        """How often a question's encodings were remembered, and how often a model was asked."""
        return self._questions.remembered

    def search(self, query: Query) -> SearchResult:
        """Return the contexts that answer a question.

        QueryError for a question or options that cannot be searched with, EngineError where every list failed; where
        only some failed, `degraded` names them.
        """
        return from_active_set(lambda: self._search(query))

    def _search(self, query: Query) -> SearchResult:
        clock = _Stopwatch()
        index = self._reader.active_set()
        scope = replace(query.scope, principals=effective(query.scope.principals, index.spec))
        options = query.options or self._options
        options.check_experts(index.spec)
        resolved(scope, index.spec)  # a filter that does not fit is refused before anything is encoded
        asked = _Asked(query, options, index, scope, self._encoders_of(index.spec), clock)
        encoded = self._encoded(asked)
        clock.lap("encode")
        barred: frozenset[DocumentVersion] = frozenset()
        depth = asked_depth(index.spec, options.depth)
        for _ in range(2):  # once more where documents were replaced between the lists and the texts
            retrieval = self._reader.ranked_lists(index, encoded, depth=depth, scope=scope)
            clock.lap("retrieve")
            found = self._settle(asked, retrieval, barred)
            if found.complete:
                break
            barred = found.verdict.stale
        return self._result(asked, retrieval, found)

    def _encoded(self, asked: _Asked) -> EncodedQuery:
        encoded = self._questions.encode(asked.index.spec, asked.query.text)
        return replace(encoded, title_weight=asked.options.title_weight, experts=asked.options.experts)

    def _settle(self, asked: _Asked, retrieval: Retrieval, barred: frozenset[DocumentVersion]) -> _Round:
        """Rank and read, and rank again without what the ledger refuses, until it refuses nothing."""
        while True:
            lists, contested = _admissible(retrieval.lists, barred)
            ranking = rank(completed(lists, asked.index.spec, asked.options.depth), asked.options)
            asked.clock.lap("rank")
            found = self._without_duplicates(asked, self._read(asked, ranking, contested), contested)
            if not found.verdict.refused:
                return found
            barred |= self._refused(asked, lists)

    def _without_duplicates(self, asked: _Asked, found: _Round, contested: set[DocumentVersion]) -> _Round:
        """Take passages of one text together, and fill the tokens that this leaves, until there are none."""
        for _ in range(REFILLS):
            if found.verdict.refused:
                return found
            once = found.merged()
            again = refilled(once.ranking, asked.options) if once.ranking != found.ranking else once.ranking
            asked.clock.lap("rank")
            if again.kept == once.ranking.kept:
                return once
            found = self._read(asked, again, contested)
        return found if found.verdict.refused else found.merged()

    def _read(self, asked: _Asked, ranking: Ranking, contested: set[DocumentVersion]) -> _Round:
        """Read the texts of a ranking, and the ledger's word on all that is shown of it."""
        shown = {item.version for item in ranking.places} | contested
        if asked.query.explain or asked.scope.principals is not None:
            # An explanation counts every hit, and scores and warnings rest on all: none may come from a document that
            # was revoked, even where its chunk entries do not say so yet.
            shown |= {version for item in ranking.evidence for version in item.ranked.hits.distinct}
        fetched = self._reader.fetch(asked.index, ranking.places, map(document_of, shown))
        asked.clock.lap("fetch")
        return _Round(ranking, fetched, judge(shown, fetched.entries, asked.index.label, asked.scope.principals))

    def _refused(self, asked: _Asked, lists: Iterable[RankedList]) -> frozenset[DocumentVersion]:
        """Return every version in the lists that may not be shown, so that one more round is enough.

        SetDropped where the set is no longer searched: one that is dropped leaves the ledger first, which then knows
        of none of its versions.
        """
        if self._reader.active_set() != asked.index:
            raise SetDropped(f"Index set {asked.index.label} is no longer the active one: search again.")
        versions = {version for ranked in lists for version in ranked.hits.distinct}
        entries = self._reader.fetch(asked.index, (), map(document_of, versions)).entries
        return judge(versions, entries, asked.index.label, asked.scope.principals).refused

    def _result(self, asked: _Asked, retrieval: Retrieval, found: _Round) -> SearchResult:
        query, shown = asked.query, found.with_hits()
        answer = Answer(
            ranking=shown.ranking,
            fetched=shown.fetched,
            counter=asked.encoders.counter,
            budget=asked.options.budget,
            explain=query.explain,
            derived=asked.index.spec.derived,
        )
        contexts = answer.contexts()
        groups = documents_of(contexts) if query.group_by else ()
        asked.clock.lap("contexts")
        return SearchResult(
            question=query.text,
            contexts=by_document(contexts) if query.group_by else contexts,
            degraded=tuple(map(str, fallen(retrieval.failed, asked.index.spec))),
            warnings=(
                *retrieval.notes,
                *_warnings(asked, found, len(contexts)),
                *(() if contexts else hints(asked.query.scope, asked.index.spec, self._reader.collections)),
            ),
            engine=self._reader.info(),
            timings_ms=asked.clock.milliseconds,
            channels=answer.channels() if query.explain else (),
            groups=groups,
            cut=shown.ranking.cut,
            answered=is_answered(shown.ranking, asked.options),
        )


def _warnings(asked: _Asked, found: _Round, contexts: int) -> Iterable[str]:
    """Yield what the asker should know of an answer."""
    lost = len(found.ranking.kept) - contexts
    if lost:
        yield f"Texts that were deleted meanwhile are left out: {lost}."
    if len(found.missing) > lost:
        yield f"Of texts that were deleted in part meanwhile only the hits are shown: {len(found.missing) - lost}."
    if found.ranking.irrelevant:
        yield f"Contexts of less than the least relevance are left out: {found.ranking.irrelevant}."
    options = asked.options
    if options.min_relevance is not None and found.ranking.evidence and not found.ranking.has_relevance:
        yield "There is no relevance to judge by, since no dense list of 2-sentence windows is there: all are shown."
    if options.answered_at is not None and found.ranking.evidence and not found.ranking.has_relevance:
        yield "Whether this is an answer cannot be told, since no dense list of 2-sentence windows is there."
    if options.title_weight and Expert.LEXICAL not in asked.index.spec.experts:
        yield "This index set has no lexical expert: titles were not searched."
    elif options.title_weight and Expert.LEXICAL not in (options.experts or Expert):
        yield "The lexical expert was not asked: titles were not searched."
    if asked.query.scope.principals and asked.scope.principals is None:
        yield "This index set has no access control: the principals were ignored."


def _within(item: Selected, other: Selected) -> bool:
    return item.version == other.version and other.first <= item.first and item.last <= other.last


def _admissible(
    lists: Sequence[RankedList], barred: frozenset[DocumentVersion]
) -> tuple[list[RankedList], set[DocumentVersion]]:
    """Return lists without barred versions, of two generations of a document only the higher, and contested versions.

    The ledger must speak on the latter even where they are not shown. Those that won: one that was never finished must
    not hide what is live. Those that lost and stood in a list alone: indices show a new generation one after the other,
    so what won is in some lists only, and if it is live by now, the answer would lack what those lists know of it.
    """
    versions = sorted({version for ranked in lists for version in ranked.hits.distinct} - barred)
    pairs = [(a, b) for a, b in pairwise(versions) if document_of(a) == document_of(b)]
    if not pairs:
        return [ranked.without(barred) for ranked in lists], set()
    older = {a for a, _ in pairs}
    won = {document_of(b): b for _, b in pairs if b not in older}
    shown = [set(ranked.hits.versions) for ranked in lists]
    alone = {version for some in shown for version in older & some if won[document_of(version)] not in some}
    return [ranked.without(barred | older) for ranked in lists], {*won.values(), *alone}


class _Stopwatch:
    """Adds up milliseconds by stage."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        now = perf_counter()
        self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + 1000 * (now - self._last)
        self._last = now
