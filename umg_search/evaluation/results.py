"""Figures of an evaluation, put together: means, differences to a baseline with their intervals, and JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from umg_search.evaluation.baselines import Method
from umg_search.evaluation.bootstrap import Difference, Interval, difference, interval
from umg_search.evaluation.cutting import MEASURES as CUT_MEASURES
from umg_search.evaluation.judging import MEASURES, Judged
from umg_search.evaluation.questions import Span
from umg_search.evaluation.rankings import MEASURES as RANKING_MEASURES
from umg_search.evaluation.running import Budget, Evaluation, QuestionFigures

COMPARED = ("recall", "precision", "iou", "ie", "all_evidence", "answer_recall", "ar_1", "ar_5", "set_f1")
"""Measures whose difference to a baseline is given."""

INTERVALS = (*COMPARED, "document_recall")
"""Measures whose own interval is given."""

PRIMARY = ("recall", "answer_recall", "document_recall")
"""What methods are ordered by: the first that any question allows."""

TUNABLE = tuple(dict.fromkeys((*PRIMARY, *COMPARED)))
"""Measures that settings can be chosen by."""

NO_BUDGET = "none"

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Summary:
    """Means of one method with one budget, intervals, and its differences to the method it is compared with."""

    method: str
    budget: Budget
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    against: str
    differences: Mapping[str, Difference]


def primary(evaluation: Evaluation) -> str:
    """Return the measure that methods are ordered by."""
    return primary_of(judged for one in evaluation.figures for judged in one.answers.values())


def primary_of(answers: Iterable[Judged]) -> str:
    """Return the measure that goes before others for some answers: the first that any question allows."""
    allowed = {measure for judged in answers for measure in PRIMARY if judged.figures[measure] is not None}
    return next((measure for measure in PRIMARY if measure in allowed), PRIMARY[-1])


def mean(column: Sequence[float | None]) -> float | None:
    """Return the mean over the questions that allow a measure, None where none does."""
    known = [value for value in column if value is not None]
    return sum(known) / len(known) if known else None


def summaries(evaluation: Evaluation, *, against: str = "", seed: int = 0) -> list[Summary]:
    """Return all methods with all budgets, budget by budget, best first.

    Each is compared with the method named `against`; without a name, with the best baseline at that budget, which
    favours the baselines: it is chosen by the result.
    """
    return [item for budget in evaluation.budgets for item in _at(evaluation, budget, against, seed)]


def as_json(evaluation: Evaluation, *, against: str = "", seed: int = 0, details: bool = False) -> dict[str, Any]:
    """Return the figures; with `details` also those of every question, and the places of all that was returned."""
    methods: dict[str, Any] = {method.name: _whole(evaluation, method) for method in evaluation.methods}
    for item in summaries(evaluation, against=against, seed=seed):
        methods[item.method][label(item.budget)] = _summary_json(evaluation, item)
    figures = evaluation.figures
    result: dict[str, Any] = {
        "primary": primary(evaluation),
        "ceiling": _rounded(mean([one.ceiling for one in figures])),
        "timings_ms": {
            "encode": _rounded(mean([one.encode_ms for one in figures])),
            "retrieve": _rounded(mean([one.retrieve_ms for one in figures])),
        },
        "methods": methods,
    }
    return {**result, "questions": [_question_json(one) for one in figures]} if details else result


def label(budget: Budget) -> str:
    """Return the name of a budget in results."""
    return NO_BUDGET if budget is None else str(budget)


def _at(evaluation: Evaluation, budget: Budget, against: str, seed: int) -> list[Summary]:
    possible = [method for method in evaluation.methods if budget in evaluation.budgets_of(method)]
    means = {method.name: _means(evaluation, method.name, budget) for method in possible}
    order = primary(evaluation)
    names = sorted(means, key=lambda name: -means[name].get(order, 0.0))
    baselines = {method.name for method in possible if not method.ours}
    other = against if against in means else "" if against else next((n for n in names if n in baselines), "")
    return [
        Summary(
            name,
            budget,
            means[name],
            _intervals(evaluation, name, budget, seed),
            other,
            _differences(evaluation, name, other, budget, seed),
        )
        for name in names
    ]


def _means(evaluation: Evaluation, name: str, budget: Budget) -> dict[str, float]:
    found = {measure: mean(evaluation.column(name, budget, measure)) for measure in MEASURES}
    return {measure: value for measure, value in found.items() if value is not None}


def _intervals(evaluation: Evaluation, name: str, budget: Budget, seed: int) -> dict[str, Interval]:
    found = {measure: interval(evaluation.column(name, budget, measure), seed=seed) for measure in INTERVALS}
    return {measure: value for measure, value in found.items() if value is not None}


def _differences(evaluation: Evaluation, name: str, other: str, budget: Budget, seed: int) -> dict[str, Difference]:
    if other in {"", name}:
        return {}
    found = {
        measure: difference(
            evaluation.column(name, budget, measure), evaluation.column(other, budget, measure), seed=seed
        )
        for measure in COMPARED
    }
    return {measure: value for measure, value in found.items() if value is not None}


def _whole(evaluation: Evaluation, method: Method) -> dict[str, Any]:
    """Return what is true of a method whatever the budget."""
    ranked = evaluation.ranked[method.name].values()
    cuts = [one.cuts[method.name] for one in evaluation.figures if method.name in one.cuts]
    cut = {name: _rounded(mean([each.get(name) for each in cuts])) for name in CUT_MEASURES}
    return {
        "about": method.about,
        "ours": method.ours,
        "channels": [str(channel) for channel in method.channels],
        "ceiling": _rounded(mean([one.ceilings[method.name] for one in evaluation.figures])),
        **{name: _rounded(mean([each[name] for each in ranked])) for name in RANKING_MEASURES},
        **({"cut": cut} if cuts else {}),
    }


def _summary_json(evaluation: Evaluation, item: Summary) -> dict[str, Any]:
    rank_ms = mean([one.rank_ms[item.method, item.budget] for one in evaluation.figures])
    facts: dict[str, Any] = {**{m: _rounded(value) for m, value in item.means.items()}, "rank_ms": _rounded(rank_ms)}
    facts["intervals"] = {m: [_rounded(found.low), _rounded(found.high)] for m, found in item.intervals.items()}
    if item.differences:
        facts["against"] = item.against
        facts["differences"] = {
            measure: {name: _rounded(value) for name, value in asdict(found).items()}
            for measure, found in item.differences.items()
        }
    return facts


def _question_json(one: QuestionFigures) -> dict[str, Any]:
    question = one.question
    answers: dict[str, dict[str, Any]] = {}
    for (name, budget), judged in one.answers.items():
        figures = {measure: _rounded(value) for measure, value in judged.figures.items() if value is not None}
        returned = [_span_json(span) for span in judged.returned]
        answers.setdefault(name, {})[label(budget)] = {**figures, "returned": returned}
    return {
        "id": question.id,
        "question": question.text,
        "level": question.level,
        "mode": question.mode.value,
        "metadata": dict(question.metadata),
        "evidence": [_span_json(span) for span in question.evidence],
        "ceiling": _rounded(one.ceiling),
        "channels": {
            str(channel): {name: _rounded(value) for name, value in asdict(found).items()}
            for channel, found in one.channels.items()
        },
        "methods": answers,
    }


def _span_json(span: Span) -> list[str | int]:
    return [span.document.collection, span.document.id, span.start, span.end]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
