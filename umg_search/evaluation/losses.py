"""The questions that a method loses most on, with what was expected and what it returned."""

from collections.abc import Sequence
from dataclasses import dataclass

from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.running import Budget, Evaluation, QuestionFigures
from umg_search.evaluation.texts import Texts

MOST = 10
"""Losses that are shown."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A text of a document; without a document, a string that any may hold."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Loss:
    """A question whose figure under one method is below that under another, and the texts that explain it."""

    question: Question
    own: float
    other: float
    expected: tuple[Quote, ...]
    returned: tuple[Quote, ...]


def worst(evaluation: Evaluation, method: str, other: str, budget: Budget, measure: str) -> list[QuestionFigures]:
    """Return the questions with the largest losses against another method, largest first; ties in their order."""
    lost = [
        (difference, one) for one in evaluation.figures if (difference := _lost(one, method, other, budget, measure))
    ]
    return [one for difference, one in sorted(lost, key=lambda item: item[0])[:MOST]]


def losses(
    evaluation: Evaluation, method: str, other: str, budget: Budget, measure: str, *, texts: Texts
) -> list[Loss]:
    """Return the worst losses with their texts, as the index holds them."""
    return [
        Loss(
            one.question,
            own=one.answers[method, budget].figures[measure] or 0.0,
            other=one.answers[other, budget].figures[measure] or 0.0,
            expected=_expected(one.question, texts),
            returned=_quotes(one.answers[method, budget].returned, texts),
        )
        for one in worst(evaluation, method, other, budget, measure)
    ]


def _lost(one: QuestionFigures, method: str, other: str, budget: Budget, measure: str) -> float | None:
    """Return the difference where it is a loss, a number below 0."""
    own, theirs = (one.answers[name, budget].figures[measure] for name in (method, other))
    return own - theirs if own is not None and theirs is not None and own < theirs else None


def _expected(question: Question, texts: Texts) -> tuple[Quote, ...]:
    if question.evidence:
        return _quotes(question.evidence, texts)
    documents = tuple(Quote(key.id, "") for key in question.documents)
    return tuple(Quote("", answer) for answer in question.answers) + documents


def _quotes(spans: Sequence[Span], texts: Texts) -> tuple[Quote, ...]:
    layouts = texts.of_documents([span.document for span in spans])
    return tuple(Quote(span.document.id, layouts[span.document].text_of(span)) for span in spans)
