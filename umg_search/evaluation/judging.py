"""What one answer is worth: all measures of it that the question's expectations allow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umg_search.evaluation.metrics import answer_recall, coverage, position, set_f1
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.texts import Layouts
from umg_search.model import DocumentKey, RankedList, Selected
from umg_search.ports import TokenCounter

MEASURES = (
    "recall",
    "precision",
    "iou",
    "ie",
    "all_evidence",
    "position",
    "answer_recall",
    "ar_1",
    "ar_5",
    "document_recall",
    "set_f1",
    "tokens",
    "contexts",
)
"""Names of all measures of an answer; a question has only those that its expectations allow."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer's spans, best first, and its figures by measure; None: the question does not allow it."""

    returned: tuple[Span, ...]
    figures: Mapping[str, float | None]


def judge(
    question: Question, selected: Sequence[Selected], layouts: Layouts, counter: TokenCounter, budget: int
) -> Judged:
    """Return the figures of an answer; a single sentence over the whole budget is cut as a search cuts it."""
    returned = tuple(layouts[item.version].within(item, budget, counter) for item in selected)
    texts = [layouts[item.version].text_of(span) for item, span in zip(selected, returned, strict=True)]
    figures: dict[str, float | None] = dict.fromkeys(MEASURES)
    figures |= _of_evidence(question, returned) | _of_answers(question, texts) | _of_documents(question, returned)
    figures["tokens"] = float(sum(min(item.tokens, budget) for item in selected))
    figures["contexts"] = float(len(selected))
    return Judged(returned, figures)


def ceiling(question: Question, lists: Sequence[RankedList], layouts: Layouts) -> float | None:
    """Return the recall of all windows in the lists together: no selection from them can reach more."""
    if not question.evidence:
        return None
    windows = [
        (version, first, last)
        for ranked in lists
        for version, first, last in zip(
            ranked.hits.versions, ranked.hits.first.tolist(), ranked.hits.last.tolist(), strict=True
        )
    ]
    spans = [layouts[version].span(Selected(version, first, last, 0.0, ())) for version, first, last in windows]
    return coverage(question.evidence, spans, question.mode).recall


def documents_of(returned: Sequence[Span]) -> tuple[DocumentKey, ...]:
    """Return the documents of spans, each once, in the order of its first."""
    return tuple(dict.fromkeys(span.document for span in returned))


def _of_evidence(question: Question, returned: Sequence[Span]) -> dict[str, float | None]:
    if not question.evidence:
        return {}
    found = coverage(question.evidence, returned, question.mode)
    return {
        "recall": found.recall,
        "precision": found.precision,
        "iou": found.iou,
        "ie": found.ie,
        "all_evidence": found.complete,
        "position": position(question.evidence, returned),
    }


def _of_answers(question: Question, texts: Sequence[str]) -> dict[str, float | None]:
    if not question.answers:
        return {}
    depths = {"answer_recall": len(texts), "ar_1": 1, "ar_5": 5}
    return {name: answer_recall(question.answers, texts[:depth]) for name, depth in depths.items()}


def _of_documents(question: Question, returned: Sequence[Span]) -> dict[str, float | None]:
    if not question.documents:
        return {}
    found = documents_of(returned)
    return {
        "document_recall": len(set(question.documents) & set(found)) / len(set(question.documents)),
        "set_f1": set_f1(question.documents, found),
    }
