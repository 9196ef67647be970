"""Methods under a cut rule, and where a cut lies beside the last candidate that holds what is expected."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from umg_search.evaluation.baselines import Fusing, Lists, Method, Product
from umg_search.evaluation.metrics import overlaps
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.texts import Layouts
from umg_search.search import Cut, Selection
from umg_search.search.cuts import CANDIDATES
from umg_search.search.options import MOST_TOKENS

MEASURES = ("k", "too_early", "too_late", "early_by", "late_by", "behind_gap")
"""Candidates kept; whether an expected one lies behind the cut, or all do well before it, and by how many; whether one
lies behind the largest gap of the scores."""


def under(method: Method, cut: Cut) -> Method | None:
    """Return a method under a cut rule, None where it has no scores that a rule reads."""
    if not isinstance(method, Product | Fusing):
        return None
    options = replace(method.options, cut=cut)
    return replace(method, name=f"{method.name}+{cut}", about=f"{method.about}, cut by {cut}", options=options)


def cut_figures(question: Question, method: Method, lists: Lists, layouts: Layouts) -> dict[str, float | None]:
    """Return the measures of a method's cut; none where it cuts no units, or nothing expected is a candidate."""
    if not isinstance(method, Product | Fusing) or method.options.cut is None or not lists:
        return {}
    if method.options.select is Selection.SPANS:
        return {}
    whole = replace(method, options=replace(method.options, cut=None))
    units = whole.answering(lists, layouts)(budget=MOST_TOKENS, most=CANDIDATES)
    expected = [is_expected(question, layouts[unit.version].span(unit)) for unit in units]
    scores = [unit.score for unit in units]
    return of_cut(scores, expected, method.options.cut.keep(scores))


def of_cut(scores: Sequence[float], expected: Sequence[bool], kept: int) -> dict[str, float | None]:
    """Return the measures of keeping so many of the candidates, best first."""
    figures: dict[str, float | None] = {"k": float(kept)}
    last = max((number for number, good in enumerate(expected, start=1) if good), default=0)
    if not last:
        return figures
    gaps = [a - b for a, b in pairwise(scores)]
    largest = gaps.index(max(gaps)) + 1 if gaps else len(scores)
    return {
        **figures,
        "too_early": float(kept < last),
        "too_late": float(kept > last),
        "early_by": float(last - kept) if kept < last else None,
        "late_by": float(kept - last) if kept > last else None,
        "behind_gap": float(last > largest),
    }


def is_expected(question: Question, span: Span) -> bool:
    """Return whether a candidate holds evidence, or is of an expected document where no evidence is known."""
    if question.evidence:
        return any(overlaps(gold, span) for gold in question.evidence)
    return span.document in question.documents
