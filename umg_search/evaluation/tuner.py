"""Tuning from a data set and settings to what is chosen: the index is asked once, everything else is ranking."""

from dataclasses import dataclass, replace

from umg_search.evaluation.cache import Cache
from umg_search.evaluation.datasets import Dataset
from umg_search.evaluation.indexing import Progress
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.scoping import Place, Scoping
from umg_search.evaluation.service import Prepared, Target, prepare
from umg_search.evaluation.space import Space
from umg_search.evaluation.trials import Trials, asked_of, measured
from umg_search.evaluation.tuning import FOLDS, Tuned, tune
from umg_search.ports import Engine
from umg_search.search import RankingOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """What is tuned: the current settings with their budget, the measure (empty: the first that questions allow)."""

    current: RankingOptions
    measure: str = ""
    folds: int = FOLDS
    seed: int = 0
    scoping: Scoping = Scoping.AUTO
    principals: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TunedOn:
    """What was chosen, by which measure, on how many questions of which index; the other questions were left out."""

    tuned: Tuned
    measure: str
    questions: int
    left_out: int
    prepared: Prepared


def tune_on(
    engine: Engine, target: Target, dataset: Dataset, plan: TuningPlan, *, cache: Cache, progress: Progress
) -> TunedOn:
    """Ask every question once, and choose settings; DatasetError where too few questions can be measured."""
    place = Place(plan.scoping, plan.principals)
    prepared = prepare(engine, target, dataset, place, progress=progress)
    spec, counter = prepared.index.spec, prepared.encoders.counter
    plan.current.check_experts(spec)
    listing = Listing(engine, prepared.index, prepared.encoders, cache, depth=plan.current.depth)
    space = Space(plan.current, spec.experts, plan.measure)
    current = space.plain(plan.current)
    measure, asked = measured(asked_of(prepared, listing, progress), current, plan.measure, counter)
    trials = Trials(asked, measure, counter, progress)
    texts = [one.question.text for one in asked]
    tuned = tune(trials, texts, current, replace(space, measure=measure), folds=plan.folds, seed=plan.seed)
    return TunedOn(tuned, measure, len(asked), len(prepared.questions) - len(asked), prepared)
