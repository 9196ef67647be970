"""What the best window length of each question would reach, if something told it: a bound for any choice of one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umg_search.evaluation.bootstrap import Interval, interval
from umg_search.evaluation.running import Budget, Evaluation

_AT_ONE_LENGTH = re.compile(r"(.+)-(g\d\d)")


@dataclass(frozen=True, slots=True)
class Oracle:
    """A family of methods that differ in the length of their windows, each question at the best of them.

    `best` is the share of questions that each length is best for; lengths that are equally good share a question.
    """

    family: str
    interval: Interval
    best: Mapping[str, float]


def oracles(evaluation: Evaluation, budget: Budget, measure: str, *, seed: int = 0) -> list[Oracle]:
    """Return the oracle of each family with at least two lengths, as far as any question allows the measure."""
    families: dict[str, dict[str, list[float | None]]] = {}
    for method in evaluation.methods:
        named = _AT_ONE_LENGTH.fullmatch(method.name)
        if named and budget in evaluation.budgets_of(method):
            columns = families.setdefault(named[1], {})
            columns[named[2]] = evaluation.column(method.name, budget, measure)
    found = [_oracle(name, columns, seed) for name, columns in families.items() if len(columns) > 1]
    return [oracle for oracle in found if oracle]


def _oracle(family: str, columns: Mapping[str, Sequence[float | None]], seed: int) -> Oracle | None:
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    known = [{label: value for label, value in row.items() if value is not None} for row in rows]
    best = interval([max(row.values(), default=None) for row in known], seed=seed)
    if best is None:
        return None
    shares = dict.fromkeys(columns, 0.0)
    for row in known:
        winners = [label for label, value in row.items() if value == max(row.values())]
        for label in winners:
            shares[label] += 1 / len(winners) / best.questions
    return Oracle(family, best, shares)
