"""What each method costs: milliseconds of a question by stage, and what the index takes that it reads.

Times are those of requests for just the lists that a method reads, asked one after the other on a warm engine, every
method in turn for each question. Nothing is taken from what is remembered of earlier runs.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

from umg_search.encoding.encoders import Encoders
from umg_search.evaluation.baselines import Method, methods_of
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.footprints import Footprints, Grid, footprints, grid_of, narrowed
from umg_search.evaluation.indexing import Progress
from umg_search.evaluation.questions import Question
from umg_search.evaluation.results import label
from umg_search.evaluation.running import Budget, is_possible
from umg_search.evaluation.scoping import Place
from umg_search.evaluation.service import Evaluated, Plan, Target
from umg_search.evaluation.texts import Layouts, Texts
from umg_search.granularity import PARENT, Channel, Expert
from umg_search.model import EncodedQuery, IndexSet, RankedList, Selected
from umg_search.ports import Engine, Scope
from umg_search.search.deriving import asked_depth, completed
from umg_search.search.options import MOST_TOKENS
from umg_search.store.reader import Reader, effective
from umg_search.wiring import encoders_of

REFERENCE = str(Channel(Expert.DENSE, PARENT))
"""The method that others are put beside: a dense index of 8-sentence chunks, and nothing else."""

STAGES = ("encode", "retrieve", "rank", "contexts")

PREFERRED = 512
"""Budget in tokens at which methods are timed, where it is asked for."""

COMPARED = ("total_ms", "tokens", "bytes", "ingest_s")
"""What of a cost is put beside the reference, and its stages."""

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Cost:
    """A method's cost: medians of milliseconds by stage, mean tokens of its answers, and its part of the index.

    `bytes` are those of the indices it reads and of the texts; `ingest_s` the seconds to encode and write what it reads
    of all documents, None where they are not known.
    """

    method: str
    stages_ms: Mapping[str, float]
    tokens: float
    bytes: int
    ingest_s: float | None

    @property
    def total_ms(self) -> float:
        """Milliseconds of all stages."""
        return sum(self.stages_ms.values())


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of methods at one budget over `questions` questions, and what a plain index would cost."""

    budget: Budget
    questions: int
    methods: tuple[Cost, ...]
    reference: Cost | None
    footprints: Footprints


@dataclass(frozen=True, slots=True)
class _Sample:
    """What one method took for one question."""

    stages_ms: Mapping[str, float]
    tokens: int


class Meter:
    """Answers questions stage by stage, with a watch."""

    def __init__(self, engine: Engine, index: IndexSet, encoders: Encoders, place: Place) -> None:
        self._reader = Reader(engine)
        self._texts = Texts(engine, index)
        self._index = index
        self._encoders = encoders
        self._place = place
        self._alone = {
            expert: _alone(encoders, expert) for expert in index.spec.experts if expert is not Expert.LEXICAL
        }

    def samples(self, question: Question, methods: Sequence[tuple[Method, Grid]], budget: Budget) -> dict[str, _Sample]:
        """Return what each method takes for a question; methods of one grid and depth share a request."""
        encode = {expert: _timed(own.encode_query, question.text)[1] for expert, own in self._alone.items()}
        query = self._encoders.encode_query(question.text)
        scope = self._place.scope_of(question)
        scope = replace(scope, principals=effective(scope.principals, self._index.spec))
        requests = dict.fromkeys((grid, method.depth) for method, grid in methods)
        retrieved = {(grid, depth): self._retrieved(grid, query, scope, depth) for grid, depth in requests}
        found: dict[str, _Sample] = {}
        for method, grid in methods:
            lists, retrieve_ms = retrieved[grid, method.depth]
            stages = {
                "encode": sum(encode[expert] for expert in grid.experts if expert in encode),
                "retrieve": retrieve_ms,
            }
            found[method.name] = self._answered(method, lists, budget, stages)
        return found

    def _retrieved(
        self, grid: Grid, query: EncodedQuery, scope: Scope, depth: int
    ) -> tuple[Sequence[RankedList], float]:
        part = replace(self._index, spec=narrowed(self._index.spec, grid))

        def lists() -> Sequence[RankedList]:
            asked = asked_depth(part.spec, depth)
            found = self._reader.ranked_lists(part, query, depth=asked, scope=scope).lists
            return completed([ranked for ranked in found if len(ranked.hits)], part.spec, depth)

        return _timed(lists)

    def _answered(
        self, method: Method, lists: Sequence[RankedList], budget: Budget, stages_ms: Mapping[str, float]
    ) -> _Sample:
        own = [ranked for ranked in lists if ranked.channel in method.channels]
        layouts = self._texts.of(version for ranked in own for version in ranked.hits.distinct)
        selected, rank_ms = _timed(_selected, method, own, layouts, budget)
        _, contexts_ms = _timed(self._reader.fetch, self._index, selected)
        tokens = sum(item.tokens for item in selected)
        return _Sample({**stages_ms, "rank": rank_ms, "contexts": contexts_ms}, tokens)


def measure(
    engine: Engine, target: Target, found: Evaluated, plan: Plan, *, questions: int, cache: Cache, progress: Progress
) -> Costs:
    """Return the costs of the methods of an evaluation, and of a plain index where the set has its list.

    So many of the questions are asked, twice: the first round, which warms models, files and caches, is not counted.
    """
    spec = found.index.spec
    budget = PREFERRED if PREFERRED in plan.budgets else plan.budgets[0]
    evaluated = [method for method in found.evaluation.methods if is_possible(method, budget)]
    plain = [method for method in methods_of(spec.channels) if method.name == REFERENCE]
    timed = {method.name: method for method in (*evaluated, *plain)}.values()
    grids = [(method, grid_of(spec, method.channels)) for method in timed]
    distinct = list(dict.fromkeys(grid for _, grid in grids))
    prints = footprints(
        engine, found.index, target.settings, target.own, distinct, folder=cache.folder, progress=progress
    )
    encoders = target.own.encoders if target.own else encoders_of(target.settings)(spec)
    meter = Meter(engine, found.index, encoders, Place(found.scoping, plan.principals))
    asked = [one.question for one in found.evaluation.figures][:questions]
    samples: list[dict[str, _Sample]] = []
    for number, question in enumerate((*asked, *asked), start=1):
        samples.append(meter.samples(question, grids, budget))
        progress("time", number, 2 * len(asked))
    counted = samples[len(asked) :]
    costs = {m.name: _cost(m, [each[m.name] for each in counted], grid, prints) for m, grid in grids}
    return Costs(
        budget,
        len(asked),
        tuple(costs[method.name] for method in evaluated),
        _plain(costs[REFERENCE], prints) if plain else None,
        prints,
    )


def as_json(costs: Costs) -> dict[str, Any]:
    """Return costs as JSON, those of each method also as ratios to the plain index."""
    return {
        "budget": label(costs.budget),
        "questions": costs.questions,
        "index_bytes": dict(costs.footprints.bytes),
        "sample_characters": costs.footprints.sample,
        "characters": costs.footprints.characters,
        "reference": costs.reference and {"method": costs.reference.method, **_figures(costs.reference)},
        "methods": {
            cost.method: {**_figures(cost), "ratios": _ratios(cost, costs.reference)} for cost in costs.methods
        },
    }


def _figures(cost: Cost) -> dict[str, Any]:
    return {
        "ms": {stage: round(value, 3) for stage, value in cost.stages_ms.items()},
        "total_ms": round(cost.total_ms, 3),
        "tokens": round(cost.tokens, 1),
        "bytes": cost.bytes,
        "ingest_s": None if cost.ingest_s is None else round(cost.ingest_s, 2),
    }


def _ratios(cost: Cost, reference: Cost | None) -> dict[str, float | None]:
    """Return how many times a method costs what the plain index costs; None where either is not known, or nothing."""
    pairs = {name: (getattr(cost, name), getattr(reference, name, None)) for name in COMPARED}
    pairs |= {f"{s}_ms": (cost.stages_ms[s], reference.stages_ms[s] if reference else None) for s in STAGES}
    return {name: round(own / other, 3) if other and own is not None else None for name, (own, other) in pairs.items()}


def _plain(cost: Cost, prints: Footprints) -> Cost:
    """Return the cost of the reference with what a plain index takes in place of its part of the set."""
    return replace(cost, bytes=prints.plain_bytes, ingest_s=prints.plain_ingest_s)


def _alone(encoders: Encoders, expert: Expert) -> Encoders:
    """Return the encoders of one expert only."""
    return Encoders(
        counter=encoders.counter,
        granularities=encoders.granularities,
        dense=encoders.dense if expert is Expert.DENSE else None,
        sparse=encoders.sparse if expert is Expert.SPARSE else None,
        encoding=encoders.encoding,
    )


def _timed(call: Callable[_Given, _Answer], *arguments: _Given.args, **options: _Given.kwargs) -> tuple[_Answer, float]:
    """Return what a call returns, and the milliseconds that it takes."""
    started = time.perf_counter()
    answer = call(*arguments, **options)
    return answer, 1000 * (time.perf_counter() - started)


def _selected(method: Method, lists: Sequence[RankedList], layouts: Layouts, budget: Budget) -> Sequence[Selected]:
    if not lists:
        return ()
    most = (method.fixed_k or 0) if budget is None else 0
    return method.answering(lists, layouts)(budget=MOST_TOKENS if budget is None else budget, most=most)


def _cost(method: Method, samples: Sequence[_Sample], grid: Grid, prints: Footprints) -> Cost:
    return Cost(
        method.name,
        {stage: statistics.median(each.stages_ms[stage] for each in samples) for stage in STAGES},
        tokens=statistics.mean(each.tokens for each in samples),
        bytes=prints.bytes_of(grid),
        ingest_s=prints.ingest_s.get(grid),
    )
