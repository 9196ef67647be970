"""Methods as values: ours, and what others do, all over the same ranked lists.

A method turns the lists of a question into a way to fill any budget. Where a budget ends an answer, the rule is that of
the product (`within_budget`) for every method.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Protocol

import numpy as np

from umg_search.evaluation.texts import Layout
from umg_search.granularity import PARENT, Channel, Expert, Granularity
from umg_search.model import Candidates, DocumentVersion, Evidence, FloatArray, Fused, RankedList, Selected, unit_keys
from umg_search.ranking.evidence import Normalisation, normalise
from umg_search.ranking.fusion import by_length, fuse
from umg_search.ranking.overlap import deduplicate
from umg_search.ranking.truncation import within_budget
from umg_search.ranking.weights import Weighting
from umg_search.search import RankingOptions, Selection, rank, refilled, select
from umg_search.windows import Window

RRF_K = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke & Buettcher 2009)."""

FIXED_K = 5
"""Contexts of an answer without a budget (Jung & Wang 2026)."""

LONG_UNIT = 4_096
"""Tokens of a LongRAG unit (Jiang, Ma & Chen 2024)."""

Layouts = Mapping[DocumentVersion, Layout]
Lists = Sequence[RankedList]
Fusion = Callable[[Lists], Fused]

PLAIN = RankingOptions(select=Selection.CHUNKS, alpha=0.0)
"""Units as they rank, without regard to their length."""


class Answering(Protocol):
    """The ranking of one question, ready to fill any budget."""

    def __call__(self, *, budget: int, most: int) -> Sequence[Selected]:
        """Return what is selected, best first: `budget` tokens and `most` contexts, 0: no limit of number."""
        ...


class Method(Protocol):
    """A way to answer questions from ranked lists.

    `ours` tells this project's methods, variants of them and the papers' they come from from the baselines. `fixed_k`
    is how many contexts an answer has without a budget, 0: the method ends it by itself, None: it would have no end.
    """

    @property
    def name(self) -> str:
        """Name in results."""
        ...

    @property
    def about(self) -> str:
        """What it does, in one sentence."""
        ...

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Channels whose lists it reads."""
        ...

    @property
    def depth(self) -> int:
        """Hits that it reads of each list."""
        ...

    @property
    def ours(self) -> bool:
        """Whether it is one of this project's."""
        ...

    @property
    def fixed_k(self) -> int | None:
        """Contexts of an answer without a budget."""
        ...

    def answering(self, lists: Lists, layouts: Layouts) -> Answering:
        """Return the ranking of one question.

        Lists have at least one hit, no more than `depth`, and are of the method's channels only.
        """
        ...


@dataclass(frozen=True, slots=True)
class Product:
    """What a search does under ranking options."""

    name: str
    about: str
    channels: tuple[Channel, ...]
    options: RankingOptions
    ours: bool = True

    @property
    def depth(self) -> int:
        """Hits that the options ask for."""
        return self.options.depth

    @property
    def fixed_k(self) -> int | None:
        """None for spans, which are whatever sentences fit, 0 where a cut decides."""
        return _fixed_k(self.options)

    def answering(self, lists: Lists, layouts: Layouts) -> Answering:
        """Return the search's own ranking."""
        del layouts
        ranking = rank(lists, self.options)

        def answer(*, budget: int, most: int) -> Sequence[Selected]:
            return refilled(ranking, replace(self.options, budget=budget, top_k=most)).kept

        return answer


@dataclass(frozen=True, slots=True)
class Fusing:
    """Another fusion in place of entropy weights, and then what a search does under ranking options."""

    name: str
    about: str
    channels: tuple[Channel, ...]
    fusion: Fusion
    options: RankingOptions = PLAIN
    ours: bool = False

    @property
    def depth(self) -> int:
        """Hits that the options ask for."""
        return self.options.depth

    @property
    def fixed_k(self) -> int | None:
        """None for spans, which are whatever sentences fit, 0 where a cut decides."""
        return _fixed_k(self.options)

    def answering(self, lists: Lists, layouts: Layouts) -> Answering:
        """Return the fused ranking."""
        del layouts
        fused = self.fusion(lists)

        def answer(*, budget: int, most: int) -> Sequence[Selected]:
            return select(fused, replace(self.options, budget=budget, top_k=most)).items

        return answer


@dataclass(frozen=True, slots=True)
class SmallToBig:
    """Small units are found, by reciprocal ranks, and the 8-sentence windows around them are shown, in that order."""

    name: str
    about: str
    channels: tuple[Channel, ...]
    ours: bool = False
    depth: int = PLAIN.depth
    fixed_k: int | None = FIXED_K

    def answering(self, lists: Lists, layouts: Layouts) -> Answering:
        """Return the parents in the order of their best units."""
        del layouts
        fused = reciprocal_ranks(lists)
        ordered = by_length(fused, best_of_parents(fused), alpha=0.0, floor=1)
        return _limited(lambda: _selected(fused, ordered, deduplicate(ordered, share=PLAIN.overlap)))


@dataclass(frozen=True, slots=True)
class LongUnits:
    """Whole documents, or parts of them of about 4,096 tokens, ranked by the best dense score of a window in them."""

    name: str
    about: str
    channels: tuple[Channel, ...]
    ours: bool = False
    depth: int = PLAIN.depth
    fixed_k: int | None = FIXED_K

    def answering(self, lists: Lists, layouts: Layouts) -> Answering:
        """Return long units, best first."""
        ordered = long_ranking(lists, layouts)
        return _limited(lambda: iter(ordered))


def reciprocal_ranks(lists: Lists) -> Fused:
    """Return P(u) = sum over lists of 1 / (60 + rank of u), ranks from 1; of one list, that is its own order."""
    return _summed(lists, [1 / (RRF_K + 1 + np.arange(len(ranked.hits))) for ranked in lists])


def linear(lists: Lists) -> Fused:
    """Return the mean of min-max scaled scores, as hybrid searches of Elasticsearch and OpenSearch combine them.

    The lowest hit of a list gets 0 and equal scores get 1, as OpenSearch has it; what is not in a list gets 0.
    """
    return _summed(lists, [_scaled(ranked.scores) / len(lists) for ranked in lists])


def best_of_parents(fused: Fused) -> Candidates:
    """Return the parents of units, each with the mass of its best unit."""
    key = unit_keys(fused.document, fused.parent_first, fused.parent_last)
    _, row, target = np.unique(key, return_index=True, return_inverse=True)
    best = np.zeros(len(row))
    np.maximum.at(best, target, fused.mass)
    first = fused.parent_first[row]
    place = fused.place[row] - fused.first[row] + first
    return Candidates(fused.document[row], first, fused.parent_last[row], place, best)


def long_ranking(lists: Lists, layouts: Layouts) -> list[Selected]:
    """Return long units by the best score of a window that begins in them; ties by document and place."""
    best: dict[tuple[DocumentVersion, int], float] = {}
    units = {version: long_units(layouts[version].counts) for each in lists for version in each.hits.distinct}
    for ranked in lists:
        rows = zip(ranked.hits.versions, ranked.hits.first.tolist(), ranked.scores.tolist(), strict=True)
        for version, first, score in rows:
            number = next(i for i, unit in enumerate(units[version]) if first < unit.last)
            best[version, number] = max(score, best.get((version, number), score))
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    return [_unit(version, units[version][number], score, layouts) for (version, number), score in ordered]


def long_units(counts: Sequence[int], tokens: int = LONG_UNIT) -> list[Window]:
    """Return neighbouring stretches of whole sentences that hold at most `tokens` tokens, longer sentences alone."""
    units: list[Window] = []
    totals = list(accumulate(counts, initial=0))
    first = 0
    for last in range(1, len(counts) + 1):
        if last == len(counts) or totals[last + 1] - totals[first] > tokens:
            units.append(Window(first, last))
            first = last
    return units


def methods_of(channels: Sequence[Channel]) -> tuple[Method, ...]:
    """Return every method that an index set with these channels allows, ours first.

    Baselines of two experts take dense and sparse, lexical where there is no sparse one.
    """
    experts = list(dict.fromkeys(channel.expert for channel in channels))
    pair = [e for e in experts if e is not Expert.LEXICAL or Expert.SPARSE not in experts]
    granularities = list(dict.fromkeys(channel.granularity for channel in channels))
    return tuple(_ours(channels, pair)) + tuple(_baselines(channels, pair, granularities))


def _ours(channels: Sequence[Channel], pair: Sequence[Expert]) -> Iterator[Method]:
    every = tuple(channels)
    published = tuple(channel for channel in channels if channel.expert in pair)
    for selection, what in (("spans", "evidence spans"), ("chunks", "UMG-RAG"), ("parents", "UMGP-RAG")):
        yield Product(selection, f"{what} under our defaults", every, RankingOptions(select=Selection(selection)))
    for selection, what in (("chunks", "UMG-RAG"), ("parents", "UMGP-RAG")):
        options = RankingOptions.paper(Selection(selection))
        yield Product(f"paper-{selection}", f"{what} as published, read literally", published, options)


def _baselines(
    channels: Sequence[Channel], pair: Sequence[Expert], granularities: Sequence[Granularity]
) -> Iterator[Method]:
    every = tuple(channels)
    for selection in Selection:
        ours = selection is Selection.SPANS  # another fusion of our own selection, which nobody else has
        about = f"{selection.value} under our defaults, all lists weighing the same"
        equal = RankingOptions(select=selection, weighting=Weighting.UNIFORM)
        yield Product(f"uniform-{selection.value}", about, every, equal, ours)
    for selection in Selection:
        ours = selection is Selection.SPANS
        about = f"{selection.value} under our defaults, from reciprocal ranks of all lists"
        options = RankingOptions(select=selection)
        yield Fusing(f"rrf-{selection.value}", about, every, reciprocal_ranks, options, ours)
    for channel in channels:
        yield Fusing(str(channel), f"the list of {channel} alone", (channel,), reciprocal_ranks)
    for granularity in granularities if len(pair) > 1 else ():
        both = tuple(channel for channel in channels if channel.granularity is granularity and channel.expert in pair)
        what = f"{' and '.join(pair)} at {granularity.value} sentences"
        yield Fusing(f"rrf-{granularity.label}", f"reciprocal rank fusion of {what}", both, reciprocal_ranks)
        yield Fusing(f"linear-{granularity.label}", f"mean of min-max scaled scores of {what}", both, linear)
    yield Fusing("rrf-all", "reciprocal rank fusion of all lists", every, reciprocal_ranks)
    small = tuple(channel for channel in channels if channel.granularity is granularities[0] and channel.expert in pair)
    if granularities[0] < PARENT:
        yield SmallToBig("small-to-big", "2-sentence hits by reciprocal ranks, shown as 8-sentence parents", small)
    yield LongUnits("longrag", "units of 4,096 tokens by their best window", (_passage_channel(channels),))


def _passage_channel(channels: Sequence[Channel]) -> Channel:
    """Return the channel whose windows come nearest to passages of 512 tokens: 16 sentences, dense where there is."""
    own = [channel for channel in channels if channel.expert is channels[0].expert]
    return max((channel for channel in own if channel.granularity <= Granularity.G16), key=lambda c: c.granularity)


def _fixed_k(options: RankingOptions) -> int | None:
    if options.cut is not None:
        return 0
    return None if options.select is Selection.SPANS else FIXED_K


def _summed(lists: Lists, masses: Sequence[FloatArray]) -> Fused:
    evidence = [Evidence(ranked, mass, 0.0, 1.0) for ranked, mass in zip(lists, masses, strict=True)]
    return fuse(evidence, [1.0] * len(evidence))


def _scaled(scores: FloatArray) -> FloatArray:
    scaled = normalise(scores, Normalisation.MINMAX)
    return scaled if scaled.any() else np.ones_like(scores)


def _limited(ranking: Callable[[], Iterator[Selected]]) -> Answering:
    def answer(*, budget: int, most: int) -> Sequence[Selected]:
        return list(within_budget(islice(ranking(), most or None), budget=budget))

    return answer


def _selected(fused: Fused, ordered: Candidates, rows: Iterable[int]) -> Iterator[Selected]:
    for i in rows:
        document, first, last = int(ordered.document[i]), int(ordered.first[i]), int(ordered.last[i])
        yield fused.selected(document, first, last, int(ordered.place[i]), float(ordered.score[i]))


def _unit(version: DocumentVersion, window: Window, score: float, layouts: Layouts) -> Selected:
    counts = tuple(layouts[version].counts[window.first : window.last])
    return Selected(version, window.first, window.last, score, counts)
