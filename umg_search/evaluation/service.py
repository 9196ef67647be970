"""An evaluation from a data set and settings to figures: where the index is, what is in it, and what is asked of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from umg_search.errors import ConfigurationError
from umg_search.evaluation.baselines import Method, methods_of
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.cutting import under
from umg_search.evaluation.datasets import Dataset
from umg_search.evaluation.indexing import CachedEncoders, Own, Progress, Written, own_settings, read_documents, write
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.locating import located
from umg_search.evaluation.running import Budget, Evaluation, Runner, is_possible
from umg_search.evaluation.scoping import Place, Scoping, decided
from umg_search.evaluation.texts import Texts
from umg_search.evaluation.variants import is_variant, variant
from umg_search.model import EngineInfo, IndexSet
from umg_search.ports import Engine
from umg_search.search import Cut
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


def evaluate(
    engine: Engine, target: Target, dataset: Dataset, plan: Plan, *, cache: Cache, progress: Progress
) -> Evaluated:
    """Write what is not written yet, ask every question, and judge every method."""
    written = None if target.own is None else write(engine, target.own, target.settings, progress)
    index = Reader(engine).active_set()
    methods = chosen(methods_of(index.spec.channels), plan)
    scoping = decided(plan.scoping, target.own.documents if target.own else (), dataset.questions)
    texts = Texts(engine, index)
    questions = located(dataset, texts).questions
    encoders = target.own.encoders if target.own else encoders_of(target.settings)(index.spec)
    listing = Listing(engine, index, encoders, cache, depth=max(method.depth for method in methods))
    runner = Runner(listing, texts, encoders.counter, Place(scoping, plan.principals))
    evaluation = runner.run(questions, methods, plan.budgets, progress)
    unjudged = len(questions) - len(evaluation.figures)
    return Evaluated(evaluation, engine.info(), index, scoping, unjudged, written)


def chosen(methods: Sequence[Method], plan: Plan) -> tuple[Method, ...]:
    """Return the methods that patterns name, variants of them, each also under the cuts, and the one to compare with.

    ConfigurationError for a name of none.
    """
    patterns = [*plan.methods, *([plan.against] if plan.against else [])]
    variants = [variant(name, methods) for name in dict.fromkeys(patterns) if is_variant(name)]
    bare = [*methods, *variants]
    every = [*bare, *(other for method in bare for cut in plan.cuts if (other := under(method, cut)))]
    names = [method.name for method in every]
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in names):
            raise ConfigurationError(f"There is no method {pattern!r} for this index: there are {', '.join(names)}.")
    found = [method for method in every if any(_is_named(method, pattern, plan) for pattern in patterns)]
    possible = tuple(method for method in found if any(is_possible(method, budget) for budget in plan.budgets))
    if not possible:
        raise ConfigurationError(f"No method of {', '.join(plan.methods) or 'none'} has such a budget: name others.")
    return possible


def _is_named(method: Method, pattern: str, plan: Plan) -> bool:
    """Return whether a pattern names a method; what names one also names it under each cut."""
    bare = method.name.rpartition("+")[0] or method.name
    under_a_cut = method.name.endswith(tuple(f"+{cut}" for cut in plan.cuts))
    return _matches(method.name, pattern) or (under_a_cut and pattern in plan.methods and _matches(bare, pattern))


def _matches(name: str, pattern: str) -> bool:
    """Return whether a name is a pattern's; the brackets of a variant are no pattern."""
    return name == pattern if is_variant(pattern) else not is_variant(name) and fnmatchcase(name, pattern)
