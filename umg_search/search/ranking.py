"""The pure middle of a search: from ranked lists to what is kept of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from math import inf

import numpy as np

from umg_search.granularity import FINEST, Channel, Expert
from umg_search.model import CutPoint, Evidence, Fused, RankedList, Selected, Shared
from umg_search.ranking.diversity import spread
from umg_search.ranking.duplicates import identical
from umg_search.ranking.evidence import to_evidence
from umg_search.ranking.fusion import by_length, fuse, units
from umg_search.ranking.overlap import deduplicate
from umg_search.ranking.promotion import promote
from umg_search.ranking.spans import spans, strongest
from umg_search.ranking.truncation import within_budget
from umg_search.ranking.weights import weights
from umg_search.search.cuts import CANDIDATES, Cut, CutOn, CutRule
from umg_search.search.options import RankingOptions, Selection

_RELEVANCE = Channel(Expert.DENSE, FINEST)
"""The channel whose cosines say how relevant a context is."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Everything between ranked lists and text; `fused` is None where no list has a hit.

    `kept` is what the answer is made of, best first. Of passages with one text it holds the best, and `shared` names
    the others. `irrelevant` counts what was left out because of its relevance. `cut` is where a cut rule cut.
    """

    evidence: tuple[Evidence, ...]
    weights: tuple[float, ...]
    fused: Fused | None
    kept: tuple[Selected, ...]
    shared: tuple[Shared, ...] = ()
    irrelevant: int = 0
    cut: CutPoint | None = None

    @property
    def places(self) -> tuple[Selected, ...]:
        """Every place that the answer names: what is kept, and its copies."""
        return (*self.kept, *(copy for shared in self.shared for copy in shared.copies))

    @property
    def has_relevance(self) -> bool:
        """Whether a list with the relevance of its hits is there."""
        return any(item.ranked.channel == _RELEVANCE for item in self.evidence)


def rank(lists: Sequence[RankedList], options: RankingOptions) -> Ranking:
    """Return the ranking of lists, pure: evidence, weights, fusion, selection, cut."""
    evidence = tuple(
        to_evidence(ranked, normalisation=options.normalisation, temperature=options.temperature)
        for ranked in lists
        if len(ranked.hits)
    )
    if not evidence:
        return Ranking((), (), None, ())
    shares = tuple(weights(evidence, options.weighting, depth=options.depth).tolist())
    return _selected(Ranking(evidence, shares, fuse(evidence, shares), ()), options)


def merged(ranking: Ranking, texts: Mapping[Selected, str]) -> Ranking:
    """Return the ranking with passages of one text taken together."""
    shared = identical(ranking.kept, texts, ranking.shared)
    copies = {copy for item in shared for copy in item.copies}
    return replace(ranking, kept=tuple(item for item in ranking.kept if item not in copies), shared=shared)


def refilled(ranking: Ranking, options: RankingOptions) -> Ranking:
    """Return the ranking selected anew around its shared passages, whose copies take no tokens."""
    return _selected(ranking, options)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What an answer is made of, best first, and where a cut rule cut."""

    items: Sequence[Selected]
    cut: CutPoint | None = None


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What a cut leaves: so many sentences, of units those of at least such a score."""

    sentences: int | None = None
    score: float = -inf


def select(fused: Fused, options: RankingOptions, shared: Sequence[Shared] = ()) -> Chosen:
    """Return what the answer is made of within the cut, the number and the tokens that are asked for.

    `shared` passages are in it already: what they leave of the budget is filled without them and their copies. A rule
    that looks at scores cuts units and sentences as if there were none, so that nothing comes in from behind the cut;
    runs are cut as they are found around them.
    """
    if options.cut is None:
        return Chosen(_settled(fused, options, shared, _Bounds()))
    if options.select is not Selection.SPANS:
        return _cut_units(fused, options, shared, options.cut)
    if options.cut.on is CutOn.SENTENCES:
        return _cut_sentences(fused, options, shared, options.cut)
    return _cut_runs(fused, options, shared, options.cut)


def _cut_units(fused: Fused, options: RankingOptions, shared: Sequence[Shared], cut: Cut) -> Chosen:
    every = _units(fused, replace(options, top_k=0), {}, ())
    scores = [unit.score for unit in islice(every, CANDIDATES)]
    kept = cut.keep(scores)
    most = kept if options.limit is None else min(kept, options.limit)
    score = -inf if cut.rule is CutRule.FIXED else min(scores[:kept], default=inf)
    found = _settled(fused, replace(options, top_k=most), shared, _Bounds(score=score))
    return Chosen(found, CutPoint(str(cut), "units", len(scores), kept))


def _cut_sentences(fused: Fused, options: RankingOptions, shared: Sequence[Shared], cut: Cut) -> Chosen:
    scores = strongest(fused, CANDIDATES)
    kept = cut.keep(scores)
    found = _settled(fused, options, shared, _Bounds(sentences=kept))
    return Chosen(found, CutPoint(str(cut), cut.on.value, len(scores), kept))


def _cut_runs(fused: Fused, options: RankingOptions, shared: Sequence[Shared], cut: Cut) -> Chosen:
    runs = _settled(fused, replace(options, top_k=0), shared, _Bounds())
    scores = [run.score for run in runs[:CANDIDATES]]
    kept = cut.keep(scores)
    return Chosen(runs[:kept][: options.limit], CutPoint(str(cut), cut.on.value, len(scores), kept))


def _settled(fused: Fused, options: RankingOptions, shared: Sequence[Shared], bounds: _Bounds) -> list[Selected]:
    if not shared:
        return list(_chosen(fused, options, {}, (), bounds))
    settled = [item.item for item in shared]
    left = options.budget - sum(item.tokens for item in settled)
    most = None if options.limit is None else options.limit - len(settled)
    if left > 0 and (most is None or most > 0):
        rest = replace(options, budget=left, top_k=most or 0)
        used = Counter(fused.versions.index(item.version) for item in settled)
        places = (place for item in shared for place in (item.item, *item.copies))
        taken = [(fused.versions.index(place.version), place.first, place.last) for place in places]
        settled += [item for item in _chosen(fused, rest, used, taken, bounds) if item.tokens <= left]
    return sorted(settled, key=lambda item: (-item.score, item.version, item.first, item.last))


def _chosen(
    fused: Fused,
    options: RankingOptions,
    used: Mapping[int, int],
    taken: Sequence[tuple[int, int, int]],
    bounds: _Bounds,
) -> Iterable[Selected]:
    """Return selections, best first; `used` counts those of a document before, `taken` ranges are left alone."""
    if options.select is Selection.SPANS:
        runs = spans(
            fused,
            budget=options.budget,
            min_sentences=options.min_sentences,
            most_sentences=bounds.sentences,
            max_per_document=options.max_per_document,
            used=used,
            taken=taken,
        )
        return runs[: options.limit]
    admitted = takewhile(lambda unit: unit.score >= bounds.score, _units(fused, options, used, taken))
    return within_budget(admitted, budget=options.budget)


def _units(
    fused: Fused, options: RankingOptions, used: Mapping[int, int], taken: Sequence[tuple[int, int, int]]
) -> Iterator[Selected]:
    if options.select is Selection.PARENTS:
        pool = promote(fused, own_mass=options.own_mass, aggregation=options.aggregation)
    else:
        pool = units(fused)
    ranked = by_length(fused, pool, alpha=options.alpha, floor=options.floor)
    rows = deduplicate(ranked, share=options.overlap, taken=taken)
    if options.max_per_document is not None:
        rows = spread(rows, ranked, most=options.max_per_document, used=used)
    for i in islice(rows, options.limit):
        yield fused.selected(
            int(ranked.document[i]),
            int(ranked.first[i]),
            int(ranked.last[i]),
            int(ranked.place[i]),
            float(ranked.score[i]),
        )


def _selected(ranking: Ranking, options: RankingOptions) -> Ranking:
    if ranking.fused is None:
        return ranking
    chosen = select(ranking.fused, options, ranking.shared)
    found, ranking = chosen.items, replace(ranking, cut=chosen.cut)
    least = options.min_relevance
    if least is None or not ranking.has_relevance:
        return replace(ranking, kept=tuple(found))
    known = ((item, relevance(ranking, item)) for item in found)
    kept = tuple(item for item, cosine in known if cosine is not None and cosine >= least)
    return replace(ranking, kept=kept, irrelevant=len(found) - len(kept))


def mass_by_channel(ranking: Ranking, item: Selected) -> dict[Channel, float]:
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


def relevance(ranking: Ranking, item: Selected) -> float | None:
    """Return the best cosine of a finest window that overlaps a selection, None where the list holds none."""
    for evidence in ranking.evidence:
        if evidence.ranked.channel == _RELEVANCE:
            hits = evidence.ranked.hits
            if item.version not in hits.distinct:
                return None
            own = hits.table[0] == hits.distinct.index(item.version)
            cosines = evidence.ranked.scores[own & (hits.first < item.last) & (hits.last > item.first)]
            return max(cosines.tolist(), default=None)
    return None


def hit_in(ranking: Ranking, item: Selected, there: Callable[[Selected], bool]) -> Selected | None:
    """Return the unit of most mass inside a selection whose text is there, with the selection's score."""
    fused = ranking.fused
    if fused is None:
        return None
    own = fused.document == fused.versions.index(item.version)
    inside = np.flatnonzero(own & (fused.first >= item.first) & (fused.last <= item.last))
    for i in inside[np.argsort(-fused.mass[inside], kind="stable")]:
        hit = fused.selected(
            int(fused.document[i]), int(fused.first[i]), int(fused.last[i]), int(fused.place[i]), item.score
        )
        if there(hit):
            return hit
    return None
