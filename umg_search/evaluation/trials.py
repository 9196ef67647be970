"""Figures of settings on the same questions and lists, each computed once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from umg_search.errors import DatasetError
from umg_search.evaluation.indexing import Progress
from umg_search.evaluation.judging import Judged, judge
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.questions import Question
from umg_search.evaluation.results import primary_of
from umg_search.evaluation.service import Prepared
from umg_search.evaluation.texts import Layouts
from umg_search.evaluation.tuning import LEAST_QUESTIONS, MOST_SETTINGS, plain
from umg_search.model import FloatArray, RankedList
from umg_search.ports import TokenCounter
from umg_search.search import RankingOptions, rank


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its lists, and the texts that are in them."""

    question: Question
    lists: tuple[RankedList, ...]
    layouts: Layouts


class Trials:
    """Ranks the lists of questions under settings and measures the answers; a second time costs nothing."""

    def __init__(self, asked: Sequence[Asked], measure: str, counter: TokenCounter, progress: Progress) -> None:
        self._asked = asked
        self._measure = measure
        self._counter = counter
        self._progress = progress
        self._known: dict[RankingOptions, FloatArray] = {}

    def __call__(self, options: RankingOptions) -> FloatArray:
        """Return the measure of settings, of shape (questions,)."""
        if options not in self._known:
            judged = [judged_under(options, one, self._counter).figures[self._measure] for one in self._asked]
            self._known[options] = np.array(judged, dtype=np.float64)
            done = len(self._known)
            self._progress("settings", done, max(done, MOST_SETTINGS))
        return self._known[options]


def asked_of(prepared: Prepared, listing: Listing, progress: Progress) -> list[Asked]:
    """Put every question that something is expected of to the index, in one request each."""
    judged = [question for question in prepared.questions if question.judged]
    found: list[Asked] = []
    for number, question in enumerate(judged, start=1):
        lists = listing.of(question.text, prepared.place.scope_of(question)).lists
        versions = (version for ranked in lists for version in ranked.hits.distinct)
        found.append(Asked(question, lists, prepared.texts.of(versions)))
        progress("questions", number, len(judged))
    return found


def measured(
    asked: Sequence[Asked], options: RankingOptions, measure: str, counter: TokenCounter
) -> tuple[str, list[Asked]]:
    """Return the measure, unless it is named the one that goes before others, and the questions that allow it.

    DatasetError where these are too few to tune on.
    """
    answers = [judged_under(options, one, counter) for one in asked]
    measure = measure or primary_of(answers)
    allowed = [one for one, judged in zip(asked, answers, strict=True) if judged.figures[measure] is not None]
    different = {plain(one.question.text) for one in allowed}
    if len(different) < LEAST_QUESTIONS:
        raise DatasetError(
            f"Settings cannot be told apart on so few questions: {len(different)} different ones can be measured by "
            f"{measure}, and it takes {LEAST_QUESTIONS}; add questions, or choose another --measure."
        )
    return measure, allowed


def judged_under(options: RankingOptions, asked: Asked, counter: TokenCounter) -> Judged:
    """Return what the answer to a question is worth under settings."""
    return judge(asked.question, rank(asked.lists, options).kept, asked.layouts, counter, options.budget)
