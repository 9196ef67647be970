"""An evaluation is the same on every engine: documents are written once, questions asked inside their scopes."""

from pathlib import Path

import pytest

from tests.fakes.evaluations import dataset, target
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.scoping import Scoping
from umg_search.evaluation.service import Evaluated, Plan, evaluate
from umg_search.model import Document
from umg_search.ports import Engine
from umg_search.settings import Settings
from umg_search.wiring import open_engine

TEXT = "Bread is baked at six. The oven is cold on Sundays. Rolls are sold out by nine."
DOCUMENTS = [Document(name, TEXT, metadata={"language": name[:2]}) for name in ("en one", "en two", "de one")]


def questions() -> list[Question]:
    """One a document, which only its scope tells from the others."""
    sentence = "The oven is cold on Sundays."
    start = TEXT.index(sentence)
    return [
        Question(
            document.id,
            "when is the oven cold?",
            evidence=(Span(document.key, start, start + len(sentence)),),
            documents=(document.key,),
            scope_document=document.id,
            metadata=document.metadata,
        )
        for document in DOCUMENTS
    ]


def evaluated(engine: Engine, folder: Path, scoping: Scoping) -> Evaluated:
    with Cache(folder) as cache:
        plan = Plan(methods=("spans", "rrf-all", "longrag"), budgets=(20,), scoping=scoping)
        data = dataset(questions())
        return evaluate(engine, target(*DOCUMENTS), data, plan, cache=cache, progress=lambda *_: None)


def test_questions_are_asked_inside_their_scopes(engine_settings: Settings, tmp_path: Path) -> None:
    engine = open_engine(engine_settings)
    try:
        inside = evaluated(engine, tmp_path, Scoping.DOCUMENT)
        language = evaluated(engine, tmp_path, Scoping.LANGUAGE)
    finally:
        engine.close()
    assert [figures.rankings["rrf-all"] for figures in inside.evaluation.figures] == [(d.key,) for d in DOCUMENTS]
    assert inside.evaluation.column("spans", 20, "recall") == [1, 1, 1]
    reached = [{key.id for key in figures.rankings["rrf-all"]} for figures in language.evaluation.figures]
    assert reached == [{"en one", "en two"}, {"en one", "en two"}, {"de one"}]
    assert (inside.written.stored, language.written.stored) == (3, 0)  # type: ignore[union-attr] - both wrote
    assert inside.evaluation.figures[0].ceiling == pytest.approx(1)


def test_questions_without_an_answer_are_measured_apart(engine_settings: Settings, tmp_path: Path) -> None:
    nothing = Question("none", "xqzt wvvk pfft", metadata={"unanswerable": True, "language": "en"})
    engine = open_engine(engine_settings)
    try:
        with Cache(tmp_path) as cache:
            data = dataset([*questions(), nothing])
            plan = Plan(methods=("spans",), budgets=(20,), scoping=Scoping.ALL)
            found = evaluate(engine, target(*DOCUMENTS), data, plan, cache=cache, progress=lambda *_: None)
    finally:
        engine.close()
    assert found.unjudged == 1
    assert found.answerability is not None
    assert (found.answerability.answerable, found.answerability.unanswerable) == (3, 1)
    assert found.answerability.signs["relevance"].auroc == 1
