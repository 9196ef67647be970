"""An evaluation: every method fills every budget for every question, and each answer is judged."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umg_search.evaluation.baselines import Layouts, Method
from umg_search.evaluation.cutting import cut_figures
from umg_search.evaluation.indexing import Progress
from umg_search.evaluation.judging import Judged, ceiling, documents_of, judge
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.questions import Question
from umg_search.evaluation.rankings import ranking_measures
from umg_search.evaluation.scoping import Place
from umg_search.evaluation.texts import Texts
from umg_search.granularity import Channel
from umg_search.model import DocumentKey, RankedList, Selected
from umg_search.ports import TokenCounter
from umg_search.ranking.evidence import to_evidence
from umg_search.ranking.weights import weights
from umg_search.search import RankingOptions
from umg_search.search.options import MOST_TOKENS

Budget = int | None
"""Most tokens of an answer; None: no limit of tokens, and `fixed_k` contexts."""


@dataclass(frozen=True, slots=True)
class ChannelFigures:
    """How certain a channel was of a question, and what it weighs under our defaults."""

    confidence: float
    weight: float


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """All that was found out about one question.

    `answers` and `rank_ms` (milliseconds from the lists to the selection) are by method and budget; `ceilings` and
    `rankings` (documents, best first, without a budget) and `cuts` (measures of a cut) by method. `ceiling` is that
    of all lists together.
    """

    question: Question
    encode_ms: float
    retrieve_ms: float
    channels: Mapping[Channel, ChannelFigures]
    ceiling: float | None
    ceilings: Mapping[str, float | None]
    rankings: Mapping[str, tuple[DocumentKey, ...]]
    cuts: Mapping[str, Mapping[str, float | None]]
    answers: Mapping[tuple[str, Budget], Judged]
    rank_ms: Mapping[tuple[str, Budget], float]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures of the same questions under all methods and budgets; `ranked` is nDCG and MRR by method and question."""

    methods: tuple[Method, ...]
    budgets: tuple[Budget, ...]
    figures: tuple[QuestionFigures, ...]
    ranked: Mapping[str, Mapping[str, Mapping[str, float]]]

    def column(self, method: str, budget: Budget, measure: str) -> list[float | None]:
        """Return a measure question by question, None where a question does not allow it."""
        return [one.answers[method, budget].figures[measure] for one in self.figures]

    def budgets_of(self, method: Method) -> tuple[Budget, ...]:
        """Return the budgets that the method can be given."""
        return tuple(budget for budget in self.budgets if is_possible(method, budget))


def is_possible(method: Method, budget: Budget) -> bool:
    """Return whether a method can be given a budget."""
    return budget is not None or method.fixed_k is not None


@dataclass(frozen=True, slots=True)
class _Given:
    """What one method makes of one question: answers and milliseconds by budget, and documents, best first."""

    answers: Mapping[Budget, Judged]
    rank_ms: Mapping[Budget, float]
    documents: tuple[DocumentKey, ...]


class Runner:
    """Puts questions to an index and judges what each method makes of the lists."""

    def __init__(self, listing: Listing, texts: Texts, counter: TokenCounter, place: Place) -> None:
        self._listing = listing
        self._texts = texts
        self._counter = counter
        self._place = place

    def run(
        self, questions: Sequence[Question], methods: Sequence[Method], budgets: Sequence[Budget], progress: Progress
    ) -> Evaluation:
        """Return the figures; questions that nothing is expected of are left out."""
        judged = [question for question in questions if question.judged]
        figures: list[QuestionFigures] = []
        for number, question in enumerate(judged, start=1):
            figures.append(self._figures(question, methods, budgets))
            progress("evaluate", number, len(judged))
        return Evaluation(tuple(methods), tuple(budgets), tuple(figures), _ranked(methods, figures))

    def _figures(self, question: Question, methods: Sequence[Method], budgets: Sequence[Budget]) -> QuestionFigures:
        found = self._listing.of(question.text, self._place.scope_of(question))
        lists = [ranked for ranked in found.lists if len(ranked.hits)]
        layouts = self._texts.of(version for ranked in lists for version in ranked.hits.distinct)
        own = {m.name: [each.head(m.depth) for each in lists if each.channel in m.channels] for m in methods}
        given = {m.name: self._given(question, m, own[m.name], layouts, budgets) for m in methods}
        return QuestionFigures(
            question=question,
            encode_ms=found.encode_ms,
            retrieve_ms=found.retrieve_ms,
            channels=_channels(lists),
            ceiling=ceiling(question, lists, layouts),
            ceilings={name: ceiling(question, some, layouts) for name, some in own.items()},
            rankings={name: each.documents for name, each in given.items()},
            cuts={m.name: cut for m in methods if (cut := cut_figures(question, m, own[m.name], layouts))},
            answers={(name, budget): one for name, each in given.items() for budget, one in each.answers.items()},
            rank_ms={(name, budget): ms for name, each in given.items() for budget, ms in each.rank_ms.items()},
        )

    def _given(
        self,
        question: Question,
        method: Method,
        lists: Sequence[RankedList],
        layouts: Layouts,
        budgets: Sequence[Budget],
    ) -> _Given:
        """Return what a method makes of the lists; fusion is done once and counted in the time of every budget."""
        started = time.perf_counter()
        answering = method.answering(lists, layouts) if lists else _nothing
        fused_ms = _since(started)
        answers: dict[Budget, Judged] = {}
        rank_ms: dict[Budget, float] = {}
        for budget in budgets:
            if is_possible(method, budget):
                tokens = MOST_TOKENS if budget is None else budget
                started = time.perf_counter()
                selected = answering(budget=tokens, most=(method.fixed_k or 0) if budget is None else 0)
                rank_ms[budget] = fused_ms + _since(started)
                answers[budget] = judge(question, selected, layouts, self._counter, tokens)
        # Only where documents are expected is their order asked for: without a budget everything is selected.
        every = answering(budget=MOST_TOKENS, most=0) if question.documents else ()
        return _Given(answers, rank_ms, documents_of([layouts[item.version].span(item) for item in every]))


def _since(started: float) -> float:
    return 1000 * (time.perf_counter() - started)


def _nothing(*, budget: int, most: int) -> Sequence[Selected]:
    """Answer where no list has a hit."""
    del budget, most
    return ()


def _channels(lists: Sequence[RankedList]) -> dict[Channel, ChannelFigures]:
    options = RankingOptions()
    evidence = [
        to_evidence(ranked.head(options.depth), normalisation=options.normalisation, temperature=options.temperature)
        for ranked in lists
    ]
    shares = weights(evidence, options.weighting, depth=options.depth).tolist()
    return {
        item.ranked.channel: ChannelFigures(item.confidence, share)
        for item, share in zip(evidence, shares, strict=True)
    }


def _ranked(
    methods: Sequence[Method], figures: Sequence[QuestionFigures]
) -> dict[str, Mapping[str, Mapping[str, float]]]:
    expected = {one.question.id: one.question.documents for one in figures if one.question.documents}
    return {
        method.name: ranking_measures(expected, {one.question.id: one.rankings[method.name] for one in figures})
        for method in methods
    }
