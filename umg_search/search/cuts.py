"""Which cut rule a search uses, on what, and with which number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Self

from umg_search.errors import QueryError
from umg_search.ranking import adaptive_k, fixed, gapr, surprise, tail_aware
from umg_search.ranking.gaps import MOST_POWER

CANDIDATES = 30
"""Most candidates that a rule sees."""

FEWEST = 8
"""Candidates below which a rule says nothing: on 3 to 5 random scores GapR drops just the last, in 56 to 90 %."""


class CutRule(StrEnum):
    """How the number of candidates to keep is found from their scores."""

    GAPR = "gapr"
    ADAPTIVE_K = "adaptive_k"
    FIXED = "fixed"
    SURPRISE = "surprise"
    TAIL_AWARE = "tail_aware"


class CutOn(StrEnum):
    """What of evidence spans is cut: sentences before they are joined, or runs after; units are cut as they are."""

    SENTENCES = "sentences"
    RUNS = "runs"


class _Number(NamedTuple):
    """The number of a rule: the name of its argument, and the least and the most it can be."""

    name: str
    least: float
    most: float
    whole: bool = True


_FUNCTIONS: Mapping[CutRule, Callable[..., int]] = MappingProxyType(
    {
        CutRule.GAPR: gapr,
        CutRule.ADAPTIVE_K: adaptive_k,
        CutRule.FIXED: fixed,
        CutRule.SURPRISE: surprise,
        CutRule.TAIL_AWARE: tail_aware,
    }
)
_NUMBERS: Mapping[CutRule, _Number] = MappingProxyType(
    {
        CutRule.GAPR: _Number("r", 1, CANDIDATES),
        CutRule.ADAPTIVE_K: _Number("buffer", 0, CANDIDATES),
        CutRule.FIXED: _Number("k", 1, CANDIDATES),
        CutRule.SURPRISE: _Number("significance", 1e-9, 0.999, whole=False),
    }
)


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut rule with its number, and what of evidence spans it cuts.

    `number` None is the rule's own default: `gapr` looks at the 3 largest gaps, `adaptive_k` keeps 0 more behind the
    largest, `fixed` keeps 5, `surprise` takes p-values up to 0.05; `tail_aware` has no number. Every rule but `fixed`
    keeps `k_min` to `k_max` of up to 30 candidates, and keeps fewer than `fewest` whole. `rank_power` is that of
    `gapr`, which weighs gaps by rank.
    """

    rule: CutRule
    number: float | None = None
    on: CutOn = CutOn.SENTENCES
    k_min: int = 1
    k_max: int = CANDIDATES
    fewest: int = FEWEST
    rank_power: float = 0.0

    def __post_init__(self) -> None:
        wrong = list(self._wrong())
        if wrong:
            raise QueryError(f"Wrong cut {self}: {'; '.join(wrong)}.")

    @classmethod
    def parse(cls, text: str, on: CutOn = CutOn.SENTENCES) -> Self | None:
        """Return the cut that is written `RULE` or `RULE:NUMBER`, None for `none`."""
        if text == "none":
            return None
        name, colon, number = text.partition(":")
        try:
            rule, value = CutRule(name), float(number) if colon else None
        except ValueError as error:
            written = f"write none or one of {', '.join(CutRule)}, with a number if need be, as in gapr:2"
            raise QueryError(f"{text!r} is no cut: {written}.") from error
        return cls(rule, value, on)

    def __str__(self) -> str:
        return self.rule.value if self.number is None else f"{self.rule.value}:{self.number:g}"

    def keep(self, scores: Sequence[float]) -> int:
        """Return how many of up to 30 candidates are kept, by their scores, best first."""
        options: dict[str, float] = {}
        if self.rule is not CutRule.FIXED:
            if len(scores) < self.fewest:
                return len(scores)
            options |= {"k_min": self.k_min, "k_max": self.k_max}
        if self.rule is CutRule.GAPR:
            options["rank_power"] = self.rank_power
        if self.number is not None:
            known = _NUMBERS[self.rule]
            options[known.name] = int(self.number) if known.whole else self.number
        return _FUNCTIONS[self.rule](scores, **options)

    def _wrong(self) -> Iterator[str]:
        known = _NUMBERS.get(self.rule)
        if self.number is not None and known is None:
            yield f"{self.rule.value} takes no number"
        elif self.number is not None and known is not None:
            if not known.least <= self.number <= known.most:
                yield f"its number lies between {known.least:g} and {known.most:g}"
            elif known.whole and self.number != int(self.number):
                yield "its number is a whole one"
        if self.rank_power and self.rule is not CutRule.GAPR:
            yield f"rank_power belongs to {CutRule.GAPR.value}"
        if not 0 <= self.rank_power <= MOST_POWER:
            yield f"rank_power is {self.rank_power}, it lies between 0 and {MOST_POWER}"
        if not 1 <= self.k_min <= self.k_max <= CANDIDATES:
            yield f"k_min is {self.k_min} and k_max {self.k_max}, they lie between 1 and {CANDIDATES}, in this order"
        if not 0 <= self.fewest <= CANDIDATES:
            yield f"fewest is {self.fewest}, it lies between 0 and {CANDIDATES}"
