"""Cut rules on passages of multi-hop questions: `python -m bench.cut_study SETS --cache FOLDER [--json FILE]`.

SETS are folders of data sets whose documents are paragraphs (`--passages` searches some of them, `--lexical` needs no
model). Every rule is compared with a fixed number of passages of
the same mean size (between two whole numbers, the mean of both in the right shares) and with adaptive-k whose buffer
gives the same mean. What has parameters gets them from one half of the questions and is judged on the other, both ways.
Figures are points of set-F1 (0 to 100); intervals are those of the paired bootstrap.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bench.cut_lists import Case, Ranked, cases
from umg_search.evaluation.bootstrap import difference
from umg_search.evaluation.cutting import of_cut
from umg_search.model import FloatArray, IntArray
from umg_search.ranking import adaptive_k, gapr
from umg_search.search.cuts import CANDIDATES

Rule = Callable[[Sequence[float]], int]
Kept = Mapping[str, IntArray]
"""Passages kept, question by question, under parameters by name."""

QUESTIONS = 300
FIXED = (1, 2, 3, 5, 10)
BOUNDS = tuple(product(range(1, 6), (5, 10, 15, 20, 30)))
"""Values of k_min and k_max that are tried."""

PLAIN: Mapping[str, Rule] = {f"r={r}": partial(gapr, r=r) for r in range(1, 7)}
BY_RANK: Mapping[str, Rule] = {
    f"r={r} power={power:g}": partial(gapr, r=r, rank_power=power)
    for r, power in product(range(1, 5), (0.25, 0.5, 0.75, 1.0))
}


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


def judged(part: Table, kept: IntArray) -> Judged:
    """Return the figures of keeping so many beside those of the same mean size."""
    mean = float(kept.mean())
    return Judged(kept, part.at(kept), fixed_at(part, mean), adaptive_at(part, mean))


def bounded(whole: Table, rules: Mapping[str, Rule]) -> dict[str, IntArray]:
    """Return what rules keep under every pair of bounds; bounds apply last, so each rule is asked once."""
    found = {name: whole.kept(rule) for name, rule in rules.items()}
    most = whole.sizes[:, -1].astype(np.int64)
    return {
        f"{name} k={low}-{high}": np.minimum(np.clip(kept, low, high), most)
        for name, kept in found.items()
        for low, high in BOUNDS
    }


def chosen(part: Table, kept: Kept, rows: IntArray, *, by_gain: bool) -> str:
    """Return the parameters with the largest gain over a fixed number, or with the largest set-F1."""

    def worth(name: str) -> float:
        own = kept[name][rows]
        return float(part.at(own).mean() - (fixed_at(part, float(own.mean())).mean() if by_gain else 0.0))

    return max(kept, key=worth)


def held_out(whole: Table, kept: Kept, *, by_gain: bool) -> tuple[Judged, list[str]]:
    """Return the figures of every question under what the other half chose, and the parameters that judged each."""
    order = np.random.default_rng(0).permutation(len(whole.ranked))
    halves = order[::2], order[1::2]
    names = [chosen(whole.of(rows), kept, rows, by_gain=by_gain) for rows in reversed(halves)]
    parts = [judged(whole.of(rows), kept[name][rows]) for rows, name in zip(halves, names, strict=True)]
    back = np.argsort(np.concatenate(halves))
    columns = (np.concatenate([getattr(part, field.name) for part in parts])[back] for field in fields(Judged))
    return Judged(*columns), names


def shares(whole: Table, kept: IntArray) -> dict[str, float]:
    """Return how often a cut is too early or too late, and how often gold lies behind the largest gap."""
    figures = [of_cut(each.scores, each.expected, k) for each, k in zip(whole.ranked, kept.tolist(), strict=True)]
    named = ("too_early", "too_late", "behind_gap")
    columns = {name: [value for each in figures if (value := each.get(name)) is not None] for name in named}
    return {name: float(np.mean(values)) for name, values in columns.items()}


def figures_of(whole: Table, found: Judged) -> dict[str, Any]:
    """Return the figures of a rule: means, gains with their intervals, and where its cuts lie."""
    pairs = {"to_fixed": found.fixed, "to_adaptive_k": found.adaptive}
    gains = {name: difference(found.f1.tolist(), other.tolist()) for name, other in pairs.items()}
    return {
        "k": float(found.kept.mean()),
        "f1": float(found.f1.mean()),
        **{name: asdict(gain) for name, gain in gains.items() if gain},
        **shares(whole, found.kept),
    }


def rows_of(whole: Table) -> dict[str, dict[str, Any]]:
    """Return the figures of every rule on a ranker."""
    fixed_rules = {"gapr r=3": gapr, "gapr r=2": partial(gapr, r=2), "adaptive_k": adaptive_k}
    rows = {name: figures_of(whole, judged(whole, whole.kept(rule))) for name, rule in fixed_rules.items()}
    for name, rules in (("gapr", PLAIN), ("gapr by rank", BY_RANK)):
        kept = bounded(whole, rules)
        for by_gain in (True, False):
            found, names = held_out(whole, kept, by_gain=by_gain)
            rows[f"{name}, by {'gain' if by_gain else 'F1'}"] = {**figures_of(whole, found), "parameters": names}
    return rows


def printed(name: str, row: Mapping[str, Any]) -> str:
    """Return a row of the table."""
    gains = "".join(
        f" {row[key]['mean']:+6.2f} [{row[key]['low']:+6.2f},{row[key]['high']:+6.2f}]"
        for key in ("to_fixed", "to_adaptive_k")
    )
    where = " ".join(f"{row[key]:6.2f}" for key in ("too_early", "too_late", "behind_gap"))
    return f"{name:22s} {row['k']:6.2f} {row['f1']:5.1f}{gains} {where}  {'; '.join(row.get('parameters', ()))}"


def studied(name: str, found: Sequence[Case]) -> dict[str, Any]:
    """Print a table a ranker, and return the figures of all."""
    result: dict[str, Any] = {"questions": len(found)}
    for ranker in found[0].ranked:
        whole = table(found, ranker)
        best = whole.f1.mean(axis=0)
        result[ranker] = {"fixed": {str(k): float(best[k]) for k in FIXED}, "rules": rows_of(whole)}
        fixed_k = ", ".join(f"{k}: {best[k]:.1f}" for k in FIXED)
        print(f"\n{name}, {ranker}, {len(found)} questions; set-F1 of a fixed K of {fixed_k}")
        print(f"{'rule':22s} mean K    F1 {'to fixed K':>23s} {'to adaptive_k':>23s}  early   late behind")
        print("\n".join(printed(*row) for row in result[ranker]["rules"].items()), flush=True)
    return result


def main() -> None:
    """Print the tables and write the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--passages", type=int, default=0)
    parser.add_argument("--lexical", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    result: dict[str, Any] = {"passages": given.passages or "all"}
    for folder in given.sets:
        found = cases(folder, given.questions, given.cache, passages=given.passages, dense=not given.lexical)
        result[folder.name] = studied(folder.name, found)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
