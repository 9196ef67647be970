"""Cut rules on passages of multi-hop questions: `python -m bench.cut_study SETS --cache FOLDER [--json FILE]`.

SETS are folders of data sets whose documents are paragraphs. Every rule is compared with a fixed number of passages of
the same mean size (between two whole numbers, the mean of both in the right shares) and with adaptive-k whose buffer
gives the same mean. What has parameters gets them from one half of the questions and is judged on the other, both ways.
Figures are points of set-F1 (0 to 100); intervals are those of the paired bootstrap.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np

from bench.cut_lists import Case, Ranked, cases
from umg_search.evaluation.bootstrap import Difference, difference
from umg_search.evaluation.cutting import of_cut
from umg_search.model import FloatArray, IntArray
from umg_search.ranking import adaptive_k, gapr
from umg_search.search.cuts import CANDIDATES

QUESTIONS = 300
Rule = Callable[[Sequence[float]], int]
GRID = tuple(product(range(1, 7), range(1, 6), (5, 10, 15, 20, 30)))
"""Values of r, k_min and k_max that are tried."""


@dataclass(frozen=True)
class Table:
    """A ranker on some questions: set-F1 and size of keeping 0 to 30 passages, of shape (questions, 31)."""

    ranked: Sequence[Ranked]
    f1: FloatArray
    sizes: FloatArray

    def of(self, rows: IntArray) -> "Table":
        """Return some of the questions."""
        return Table([self.ranked[row] for row in rows], self.f1[rows], self.sizes[rows])

    def kept(self, rule: Rule) -> IntArray:
        """Return how many passages a rule keeps, question by question."""
        return np.array([rule(each.scores) for each in self.ranked], dtype=np.int64)

    def at(self, kept: IntArray) -> FloatArray:
        """Return the set-F1 of keeping so many."""
        return self.f1[np.arange(len(kept)), kept]


@dataclass(frozen=True)
class Judged:
    """A rule on questions that did not choose it: passages kept, set-F1, and that of the two it is compared with."""

    kept: IntArray
    f1: FloatArray
    fixed: FloatArray
    adaptive: FloatArray


def table(found: Sequence[Case], ranker: str) -> Table:
    """Return a ranker's passages with what keeping each number of them is worth."""
    ranked = [case.ranked[ranker] for case in found]
    size = np.array([[min(k, len(each.scores)) for k in range(CANDIDATES + 1)] for each in ranked], dtype=np.int64)
    hits = np.array([np.cumsum([0, *each.expected, *[0] * (CANDIDATES - len(each.scores))]) for each in ranked])
    wanted = np.array([[case.wanted] for case in found])
    return Table(ranked, 100 * 2 * hits / (size + wanted), size.astype(np.float64))


def between(means: FloatArray, columns: FloatArray, mean: float) -> FloatArray:
    """Return the figures at a mean size, from columns of rising mean sizes: of the two around it, or the nearest."""
    high = int(np.searchsorted(means, mean))
    if high == 0 or high == len(means):
        return columns[:, min(high, len(means) - 1)]
    share = (mean - means[high - 1]) / (means[high] - means[high - 1])
    return (1 - share) * columns[:, high - 1] + share * columns[:, high]


def fixed_at(part: Table, mean: float) -> FloatArray:
    """Return the set-F1 of a fixed number of passages of this mean size."""
    return between(part.sizes.mean(axis=0), part.f1, mean)


def adaptive_at(part: Table, mean: float) -> FloatArray:
    """Return the set-F1 of adaptive-k whose buffer gives this mean size, at least 0."""
    least = part.kept(adaptive_k)
    kept = np.minimum(least[:, None] + np.arange(CANDIDATES), part.sizes[:, -1:].astype(np.int64))
    return between(kept.mean(axis=0), np.take_along_axis(part.f1, kept, axis=1), mean)


def judged(part: Table, rule: Rule) -> Judged:
    """Return a rule's figures beside those of the same mean size."""
    kept = part.kept(rule)
    mean = float(kept.mean())
    return Judged(kept, part.at(kept), fixed_at(part, mean), adaptive_at(part, mean))


def chosen(part: Table, rules: Mapping[str, Rule], *, by_gain: bool) -> str:
    """Return the rule with the largest gain over a fixed number, or with the largest set-F1."""

    def worth(name: str) -> float:
        found = judged(part, rules[name])
        return float((found.f1 - found.fixed).mean() if by_gain else found.f1.mean())

    return max(rules, key=worth)


def held_out(whole: Table, rules: Mapping[str, Rule], *, by_gain: bool) -> tuple[Judged, list[str]]:
    """Return the figures of every question under the rule that the other half chose, and the names of both rules."""
    order = np.random.default_rng(0).permutation(len(whole.ranked))
    halves = order[::2], order[1::2]
    names = [chosen(whole.of(rows), rules, by_gain=by_gain) for rows in halves]
    parts = [judged(whole.of(rows), rules[name]) for rows, name in zip(halves, reversed(names), strict=True)]
    back = np.argsort(np.concatenate(halves))
    columns = (np.concatenate([getattr(part, name) for part in parts])[back] for name in Judged.__annotations__)
    return Judged(*columns), list(reversed(names))


def shares(whole: Table, kept: IntArray) -> dict[str, float]:
    """Return how often a cut is too early or too late, and how often gold lies behind the largest gap."""
    figures = [
        of_cut(each.scores, each.expected, k) for each, k in zip(whole.ranked, kept.tolist(), strict=True)
    ]
    named = ("too_early", "too_late", "behind_gap")
    columns = {name: [value for each in figures if (value := each.get(name)) is not None] for name in named}
    return {name: float(np.mean(values)) for name, values in columns.items()}


def gapr_of(r: int, k_min: int, k_max: int) -> Rule:
    """Return GapR with these parameters."""
    return lambda scores: gapr(scores, r=r, k_min=k_min, k_max=k_max)


def rules_of() -> dict[str, Rule]:
    """Return GapR with every combination of parameters, by what they are."""
    return {f"r={r} k={low}-{high}": gapr_of(r, low, high) for r, low, high in GRID}
