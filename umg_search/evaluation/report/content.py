"""What a report tells beyond the figures of methods: groups of questions, channels, oracles and losses, as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from umg_search.evaluation.groups import Group, channel_means, groups, main_dimension, mean_of
from umg_search.evaluation.losses import Loss, Quote, losses
from umg_search.evaluation.oracles import oracles
from umg_search.evaluation.results import Summary, label, primary
from umg_search.evaluation.running import Budget, Evaluation, QuestionFigures
from umg_search.evaluation.texts import Texts
from umg_search.search import Selection

MOST_SHOWN = 3
"""Methods of ours, and as many baselines, that are shown where there is no room for all."""

PREFERRED = 512
"""Budget that groups, channels and losses are told at, where it is asked for."""

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Focus:
    """What a report looks at closely: a measure at a budget, a method beside another, and methods worth a line."""

    measure: str
    budget: Budget
    method: str
    against: str
    shown: tuple[str, ...]


def focus_of(evaluation: Evaluation, found: Sequence[Summary]) -> Focus:
    """Return the focus: evidence spans, else the best of ours, beside what all are compared with."""
    budget = PREFERRED if PREFERRED in evaluation.budgets else evaluation.budgets[0]
    rows = [item for item in found if item.budget == budget]
    ours = {method.name for method in evaluation.methods if method.ours}
    best = [item.method for item in rows if item.method in ours]
    baselines = [item.method for item in rows if item.method not in ours]
    against = next((item.against for item in rows if item.against), "")
    spans = Selection.SPANS.value
    method = spans if spans in best else next(iter(best), rows[0].method if rows else "")
    shown = dict.fromkeys([method, *best[:MOST_SHOWN], *([against] if against else []), *baselines[:MOST_SHOWN]])
    return Focus(primary(evaluation), budget, method, against, tuple(shown))


def content(evaluation: Evaluation, found: Sequence[Summary], texts: Texts, *, seed: int = 0) -> dict[str, Any]:
    """Return what a report tells beside the figures of methods; it holds texts of questions and documents."""
    focus = focus_of(evaluation, found)
    return {
        "focus": {**asdict(focus), "budget": label(focus.budget)},
        "oracles": {
            label(budget): [
                {"family": each.family, **_rounded(asdict(each.interval)), "best": _rounded(dict(each.best))}
                for each in oracles(evaluation, budget, focus.measure, seed=seed)
            ]
            for budget in evaluation.budgets
        },
        "groups": _groups(evaluation, focus),
        "channels": _channels(evaluation),
        "losses": [_loss(each) for each in _losses(evaluation, focus, texts)],
    }


def _groups(evaluation: Evaluation, focus: Focus) -> list[dict[str, Any]]:
    possible = [m.name for m in evaluation.methods if focus.budget in evaluation.budgets_of(m)]
    return [
        {
            "dimension": group.dimension,
            "value": group.value,
            "questions": len(group.rows),
            "methods": _rounded(
                {name: mean_of(evaluation, group, name, focus.budget, focus.measure) for name in possible}
            ),
        }
        for group in groups([one.question for one in evaluation.figures])
    ]


def _channels(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return means by channel over all questions, and over each group of the main dimension."""
    found = groups([one.question for one in evaluation.figures])
    main = main_dimension(found)
    every = Group("", "all", tuple(range(len(evaluation.figures))))
    return [_of_channels(group, evaluation.figures) for group in (every, *(g for g in found if g.dimension == main))]


def _of_channels(group: Group, figures: Sequence[QuestionFigures]) -> dict[str, Any]:
    means = channel_means([figures[row] for row in group.rows])
    return {
        "dimension": group.dimension,
        "value": group.value,
        "questions": len(group.rows),
        "channels": {str(channel): _rounded(asdict(each)) for channel, each in means.items()},
    }


def _losses(evaluation: Evaluation, focus: Focus, texts: Texts) -> list[Loss]:
    if not focus.against or focus.against == focus.method:
        return []
    return losses(evaluation, focus.method, focus.against, focus.budget, focus.measure, texts=texts)


def _loss(each: Loss) -> dict[str, Any]:
    return {
        "id": each.question.id,
        "question": each.question.text,
        "own": round(each.own, _DIGITS),
        "other": round(each.other, _DIGITS),
        "expected": [_quote(quote) for quote in each.expected],
        "returned": [_quote(quote) for quote in each.returned],
    }


def _quote(quote: Quote) -> dict[str, str]:
    return {"document": quote.document, "text": quote.text}


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, _DIGITS) if isinstance(value, float) else value for name, value in values.items()}
