"""The settings that tuning tries: knobs, their values, and how far settings are from our defaults."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

from umg_search.granularity import Expert
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting
from umg_search.search import Cut, CutOn, CutRule, RankingOptions, Selection

Change = Mapping[str, Any]

KNOBS = ("experts", "select", "weighting", "normalisation", "temperature", "aggregation", "alpha", "floor", "cut")
"""Options that tuning changes, in the order in which a search goes through them."""

TEMPERATURES: Mapping[Normalisation, Sequence[float]] = MappingProxyType(
    {
        Normalisation.ZSCORE: (0.5, 0.75, 1.0, 1.5, 2.0),
        Normalisation.MINMAX: (0.1, 0.2, 0.5, 1.0),
        Normalisation.MAX: (0.02, 0.05, 0.1, 0.5),
    }
)
"""Z-scores span about 5 and scaled scores 1, and scores divided by their maximum often less than 0.5."""

CUTS = (
    Cut(CutRule.GAPR, 2),
    Cut(CutRule.GAPR),
    Cut(CutRule.GAPR, 5),
    Cut(CutRule.ADAPTIVE_K),
    Cut(CutRule.ADAPTIVE_K, 5),
    Cut(CutRule.FIXED, 5),
    Cut(CutRule.FIXED, 10),
)

SHORTER_IS_BETTER = frozenset({"precision", "iou", "ie", "set_f1"})
"""Measures that an answer can gain by when something is left out. Recall cannot, so that no cut is tried for it
unless there is one that may better be away."""


@dataclass(frozen=True, slots=True)
class Space:
    """What is tried for one index set, one measure and one budget; `fixed` holds what all settings have in common.

    That is whatever is no knob, such as the budget, and the most contexts: those of `fixed`, and where it names none,
    no limit, so that the budget alone ends an answer of every selection.
    """

    fixed: RankingOptions
    experts: tuple[Expert, ...]
    measure: str

    @property
    def defaults(self) -> RankingOptions:
        """Our defaults at this budget."""
        default = RankingOptions()
        return self.plain(replace(self.fixed, **{name: getattr(default, name) for name in KNOBS}))

    @property
    def knobs(self) -> tuple[str, ...]:
        """Knobs that are tried; normalisation and temperature mean little without each other and are one."""
        cuts = ("cut",) if self.measure in SHORTER_IS_BETTER or self.fixed.cut is not None else ()
        return (*(name for name in KNOBS if name not in {"temperature", "cut"}), *cuts)

    def around(self, options: RankingOptions, knob: str) -> Iterator[RankingOptions]:
        """Yield settings that differ from others in one knob at most."""
        changes = self._experts() if knob == "experts" else _CHANGES[knob]
        return (self.plain(replace(options, **change)) for change in changes)

    def _experts(self) -> Iterator[Change]:
        for number in range(len(self.experts), 0, -1):
            yield from ({"experts": some} for some in combinations(self.experts, number))

    def plain(self, options: RankingOptions) -> RankingOptions:
        """Return settings with what has no effect as it is by default, so that equal ones are equal."""
        default = RankingOptions()
        if options.experts is not None and set(options.experts) == set(self.experts):
            options = replace(options, experts=None)
        if options.select is Selection.SPANS:
            idle = {name: getattr(default, name) for name in ("alpha", "floor", "aggregation")}
            return replace(options, **idle, top_k=self.fixed.top_k or None)
        how = options.aggregation if options.select is Selection.PARENTS else default.aggregation
        cut = None if options.cut is None else replace(options.cut, on=CutOn.SENTENCES)
        return replace(options, aggregation=how, cut=cut, top_k=self.fixed.top_k or 0)


def distance(options: RankingOptions) -> int:
    """Return how many knobs differ from our defaults."""
    default = RankingOptions()
    return sum(getattr(options, name) != getattr(default, name) for name in KNOBS)


def _each(name: str, values: Iterable[object]) -> tuple[Change, ...]:
    return tuple({name: value} for value in values)


_CHANGES: Mapping[str, tuple[Change, ...]] = MappingProxyType(
    {
        "select": _each("select", Selection),
        "weighting": _each("weighting", Weighting),
        "normalisation": tuple(
            {"normalisation": normalisation, "temperature": temperature}
            for normalisation, temperatures in TEMPERATURES.items()
            for temperature in temperatures
        ),
        "aggregation": _each("aggregation", Aggregation),
        "alpha": _each("alpha", (0.0, 0.25, 0.5, 0.75, 1.0)),
        "floor": _each("floor", (0, 16, 32, 64)),
        "cut": _each("cut", (None, *(replace(cut, on=on) for cut in CUTS for on in CutOn))),
    }
)
"""What is tried of each knob; of experts it depends on the index set."""
