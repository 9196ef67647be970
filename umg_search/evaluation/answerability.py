"""Whether what a search has at hand tells questions that documents answer from those that they do not.

A sign is a number of one question, computed from its ranked lists alone, higher where more speaks for an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import regex

from umg_search.evaluation.discrimination import Discrimination, discrimination
from umg_search.evaluation.indexing import Progress
from umg_search.evaluation.listing import Listing
from umg_search.evaluation.questions import Question
from umg_search.evaluation.scoping import Place
from umg_search.granularity import FINEST, Channel, Expert
from umg_search.model import Evidence, FloatArray, RankedList
from umg_search.ranking.axis import axis_of
from umg_search.ranking.evidence import Normalisation, normalise, to_evidence
from umg_search.ranking.fusion import fuse
from umg_search.ranking.spans import sentence_evidence
from umg_search.search import RankingOptions, rank
from umg_search.search.ranking import best_relevance

Lists = Sequence[RankedList]
Sign = Callable[[str, Lists], float | None]

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Answerability:
    """Numbers of questions with and without an answer, and how well each sign tells them apart."""

    answerable: int
    unanswerable: int
    signs: Mapping[str, Discrimination]


def answerability(
    questions: Sequence[Question], listing: Listing, place: Place, progress: Progress, *, seed: int = 0
) -> Answerability | None:
    """Return how well signs tell questions apart; None where no question is unanswerable, or all are.

    A sign that some question lacks is left out.
    """
    asked = [question for question in questions if question.judged or question.unanswerable]
    answerable = [question for question in asked if not question.unanswerable]
    if len(answerable) in {0, len(asked)}:
        return None
    found: list[tuple[bool, Mapping[str, float | None]]] = []
    for number, question in enumerate(asked, start=1):
        lists = listing.of(question.text, place.scope_of(question)).lists
        found.append((question.unanswerable, signs_of(question.text, lists)))
        progress("answerability", number, len(asked))
    told = {name: _told(name, found, seed) for name in SIGNS}
    signs = {name: value for name, value in told.items() if value is not None}
    return Answerability(len(answerable), len(asked) - len(answerable), signs)


def rounded(found: Answerability) -> dict[str, Any]:
    """Return the figures as JSON."""
    signs = {
        name: {measure: round(value, _DIGITS) for measure, value in asdict(sign).items()}
        for name, sign in found.signs.items()
    }
    return {"answerable": found.answerable, "unanswerable": found.unanswerable, "signs": signs}


def signs_of(question: str, lists: Lists) -> dict[str, float | None]:
    """Return every sign of a question; None where an expert that it needs is not there."""
    return {name: sign(question, lists) for name, sign in SIGNS.items()}


def agreement(lists: Lists) -> float | None:
    """Return the evidence that experts share, from 0 to 1: sum over sentences of the least that one of them gives.

    Each expert's evidence, that of all its lists in equal shares, sums to 1. None of a single expert.
    """
    experts = list(dict.fromkeys(ranked.channel.expert for ranked in lists))
    if len(experts) < 2:  # noqa: PLR2004 - one alone agrees with nobody
        return None
    evidence = _evidence(lists)
    if not evidence:
        return 0.0
    shares = [_sentences(evidence, expert) for expert in experts]
    return float(np.minimum.reduce(shares).sum())


def _told(name: str, found: Sequence[tuple[bool, Mapping[str, float | None]]], seed: int) -> Discrimination | None:
    values = [(unanswerable, signs[name]) for unanswerable, signs in found]
    known = [(unanswerable, value) for unanswerable, value in values if value is not None]
    if len(known) < len(values):
        return None
    return discrimination([v for no, v in known if not no], [v for no, v in known if no], seed=seed)


def _sentences(evidence: Sequence[Evidence], expert: Expert) -> FloatArray:
    """Return what an expert's lists give to each sentence that any list knows."""
    own = [item.ranked.channel.expert is expert for item in evidence]
    fused = fuse(evidence, [1 / max(1, sum(own)) if mine else 0.0 for mine in own])
    return sentence_evidence(fused, axis_of(fused))


def _best_score(question: str, lists: Lists) -> float | None:
    """Return the best lexical score of a finest window, a word of the question."""
    words = len(set(regex.findall(r"\w+", question.casefold())))
    return _of_finest(lists, Expert.LEXICAL, lambda scores: float(scores.max()) / max(1, words))


def _confidence(lists: Lists, expert: Expert) -> float | None:
    if not any(ranked.channel.expert is expert for ranked in lists):
        return None
    own = [item.confidence for item in _evidence(lists) if item.ranked.channel.expert is expert]
    return sum(own) / len(own) if own else 0.0


def _mean_best(lists: Lists) -> float | None:
    """Return the mean over window lengths of the best cosine, None without a dense list."""
    best = [float(own.scores.max()) for own in lists if own.channel.expert is Expert.DENSE and len(own.hits)]
    return sum(best) / len(best) if best else None


def _best_context(lists: Lists) -> float:
    """Return the mass of the best evidence span under our defaults."""
    return max((item.score for item in rank(lists, RankingOptions()).kept), default=0.0)


def _of_finest(lists: Lists, expert: Expert, measure: Callable[[FloatArray], float]) -> float | None:
    """Return a measure of the scores of an expert's finest list, 0 where that is empty, None where it is not there."""
    for ranked in lists:
        if ranked.channel == Channel(expert, FINEST):
            return measure(ranked.scores) if len(ranked.hits) else 0.0
    return None


def _lead(scores: FloatArray) -> float:
    """Return how many standard deviations the best score lies above the mean."""
    return float(normalise(scores, Normalisation.ZSCORE).max())


def _evidence(lists: Lists) -> list[Evidence]:
    options = RankingOptions()
    return [
        to_evidence(ranked, normalisation=options.normalisation, temperature=options.temperature)
        for ranked in lists
        if len(ranked.hits)
    ]


SIGNS: Mapping[str, Sign] = MappingProxyType(
    {
        "relevance": lambda _, lists: best_relevance(lists),
        "mean_relevance": lambda _, lists: _mean_best(lists),
        "dense_lead": lambda _, lists: _of_finest(lists, Expert.DENSE, _lead),
        "dense_confidence": lambda _, lists: _confidence(lists, Expert.DENSE),
        "lexical_score": _best_score,
        "lexical_lead": lambda _, lists: _of_finest(lists, Expert.LEXICAL, _lead),
        "lexical_confidence": lambda _, lists: _confidence(lists, Expert.LEXICAL),
        "agreement": lambda _, lists: agreement(lists),
        "best_context": lambda _, lists: _best_context(lists),
    }
)
"""Signs by name: the best cosine; the mean over window lengths of the best cosine; by how many standard deviations the
best score of a list leads; mean confidence of an expert's lists; the best lexical score a word; what experts agree on;
the mass of the best context."""
