"""Places of what is expected, in the stored texts: passages are looked up, spans are checked."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from umg_search.evaluation.datasets import Dataset, WrongLine, wrong_lines
from umg_search.evaluation.questions import EvidenceMode, Question, Span
from umg_search.evaluation.texts import Layout, Texts
from umg_search.model import DocumentKey

Known = Mapping[DocumentKey, Layout]


def located(dataset: Dataset, texts: Texts) -> Dataset:
    """Return the set with passages as spans; DatasetError names lines whose documents or passages are not there.

    A passage that stands in several places is found in any of them where it is the only one that is expected, else its
    first place counts. White space may differ.
    """
    keys = {key for question in dataset.questions for key in question.documents}
    keys |= {span.document for question in dataset.questions for span in question.evidence}
    known = texts.of_documents(sorted(keys))
    unnamed = any(question.passages and not question.documents for question in dataset.questions)
    every = {layout.key: layout for layout in texts.every()} if unnamed else {}
    found: list[Question] = []
    wrong: list[str] = []
    for question in dataset.questions:
        try:
            found.append(_located(question, known, every))
        except WrongLine as error:
            wrong.append(f"line {question.line}: {error}")
    if wrong:
        raise wrong_lines(dataset.path, wrong)
    return replace(dataset, questions=tuple(found))


def _located(question: Question, known: Known, every: Known) -> Question:
    missing = [key.id for key in question.documents if key not in known]
    if missing:
        raise WrongLine(f"there is no document {missing[0]!r}")
    _check(question, known)
    if not question.passages:
        return question
    own = {key: known[key] for key in question.documents} or every
    places = [_places(passage, own) for passage in question.passages]
    spans = places[0] if len(places) == 1 else [spans[0] for spans in places]
    mode = EvidenceMode.ANY if len(places) == 1 else EvidenceMode.ALL
    documents = question.documents or tuple(dict.fromkeys(span.document for span in spans))
    return replace(question, evidence=tuple(spans), mode=mode, level="passage", documents=documents)


def _check(question: Question, known: Known) -> None:
    """Raise WrongLine where evidence is not where the question says."""
    for number, span in enumerate(question.evidence):
        layout = known.get(span.document)
        if layout is None:
            raise WrongLine(f"there is no document {span.document.id!r}")
        said = question.texts[number] if question.texts else ""
        if span.end > len(layout.text) or (said and layout.text_of(span) != said):
            raise WrongLine(f"in {span.document.id!r} characters {span.start} to {span.end} are not its evidence")


def _places(passage: str, layouts: Known) -> list[Span]:
    """Return where a passage stands; WrongLine where it does not."""
    pattern = re.compile(r"\s+".join(map(re.escape, passage.split())))
    found = [span for key in sorted(layouts) for span in _matches(pattern, layouts[key])]
    if not found:
        where = f"in {', '.join(repr(key.id) for key in layouts)}" if len(layouts) == 1 else "in the documents"
        raise WrongLine(f"the passage {_beginning(passage)!r} does not stand {where}")
    return found


def _matches(pattern: "re.Pattern[str]", layout: Layout) -> Iterator[Span]:
    return (Span(layout.key, match.start(), match.end()) for match in pattern.finditer(layout.text))


def _beginning(passage: str, most: int = 40) -> str:
    return passage if len(passage) <= most else f"{passage[:most]}..."
