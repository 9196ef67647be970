"""An evaluation from a data set and settings to figures: where the index is, what is in it, and what is asked of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from umg_search.errors import ConfigurationError
from umg_search.evaluation.baselines import Method, methods_of
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.cutting import under
from umg_search.evaluation.datasets import Dataset
from umg_search.evaluation.indexing import CachedEncoders, Own, Progress, Written, own_settings, read_documents, write
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.locating import located
from umg_search.evaluation.questions import Question
from umg_search.evaluation.running import Budget, Evaluation, Runner, is_possible
from umg_search.evaluation.scoping import Place, Scoping, decided
from umg_search.evaluation.texts import Texts
from umg_search.model import EngineInfo, IndexSet
from umg_search.ports import Engine, TokenCounter
from umg_search.search import Cut, RankingOptions
from umg_search.settings import Settings
from umg_search.store.reader import Reader
from umg_search.wiring import encoders_of, new_set


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is evaluated: patterns of method names, budgets, cuts, the rule of scope, and whom to search for.

    Each method whose scores a cut rule reads is evaluated without a cut and under each of `cuts`.
    """

    methods: tuple[str, ...] = ("*",)
    budgets: tuple[Budget, ...] = (256, 512, 1024, 2048)
    cuts: tuple[Cut, ...] = ()
    against: str = ""
    scoping: Scoping = Scoping.AUTO
    principals: tuple[str, ...] | None = None
    depth: int = RankingOptions().depth


@dataclass(frozen=True, slots=True)
class Target:
    """Settings of the index that is asked; `own` is None where it is the one that is there."""

    settings: Settings
    own: Own | None = None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Figures, and what they were measured on; `unjudged` questions expect nothing."""

    evaluation: Evaluation
    engine: EngineInfo
    index: IndexSet
    scoping: Scoping
    unjudged: int
    written: Written | None


def target_of(dataset: Dataset, settings: Settings, cache: Cache) -> Target:
    """Return which index is asked; this reads the documents and loads models where the data set has its own.

    Such an index has no access control, whatever the settings say of others.
    """
    if not dataset.documents:
        return Target(settings)
    documents = read_documents(dataset.documents)
    spec, encoders = new_set(settings.model_copy(update={"access_control": False}))
    own = Own(tuple(documents), spec, CachedEncoders(encoders, spec, cache))
    return Target(own_settings(settings, documents, spec, cache.folder), own)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An index that questions can be put to, and the questions with the places of what they expect."""

    index: IndexSet
    questions: tuple[Question, ...]
    listing: Listing
    texts: Texts
    counter: TokenCounter
    place: Place
    written: Written | None


def prepare(
    engine: Engine, target: Target, dataset: Dataset, place: Place, *, depth: int, cache: Cache, progress: Progress
) -> Prepared:
    """Write what is not written yet, and find what the questions expect; `place` may leave it to the set."""
    written = None if target.own is None else write(engine, target.own, target.settings, progress)
    index = Reader(engine).active_set()
    scoping = decided(place.scoping, target.own.documents if target.own else (), dataset.questions)
    texts = Texts(engine, index)
    encoders = target.own.encoders if target.own else encoders_of(target.settings)(index.spec)
    return Prepared(
        index=index,
        questions=located(dataset, texts).questions,
        listing=Listing(engine, index, encoders, cache, depth=depth),
        texts=texts,
        counter=encoders.counter,
        place=replace(place, scoping=scoping),
        written=written,
    )


def evaluate(
    engine: Engine, target: Target, dataset: Dataset, plan: Plan, *, cache: Cache, progress: Progress
) -> Evaluated:
    """Write what is not written yet, ask every question, and judge every method."""
    place = Place(plan.scoping, plan.principals)
    found = prepare(engine, target, dataset, place, depth=plan.depth, cache=cache, progress=progress)
    methods = chosen(methods_of(found.index.spec.channels), plan)
    runner = Runner(found.listing, found.texts, found.counter, found.place)
    evaluation = runner.run(found.questions, methods, plan.budgets, progress)
    unjudged = len(found.questions) - len(evaluation.figures)
    return Evaluated(evaluation, engine.info(), found.index, found.place.scoping, unjudged, found.written)


def chosen(methods: Sequence[Method], plan: Plan) -> tuple[Method, ...]:
    """Return the methods that patterns name, each also under the cuts, and the one to compare with.

    ConfigurationError for a name of none.
    """
    every = [*methods, *(other for method in methods for cut in plan.cuts if (other := under(method, cut)))]
    names = [method.name for method in every]
    patterns = [*plan.methods, *([plan.against] if plan.against else [])]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ConfigurationError(f"There is no method {pattern!r} for this index: there are {', '.join(names)}.")
    found = [method for method in every if any(_is_named(method, pattern, plan) for pattern in patterns)]
    possible = tuple(method for method in found if any(is_possible(method, budget) for budget in plan.budgets))
    if not possible:
        raise ConfigurationError(f"No method of {', '.join(plan.methods) or 'none'} has such a budget: name others.")
    return possible


def _is_named(method: Method, pattern: str, plan: Plan) -> bool:
    """Return whether a pattern names a method; what names one also names it under each cut."""
    bare = method.name.partition("+")[0] if pattern in plan.methods else method.name
    return fnmatchcase(method.name, pattern) or fnmatchcase(bare, pattern)
