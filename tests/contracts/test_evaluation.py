"""An evaluation is the same on every engine: documents are written once, questions asked inside their scopes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fakes.encoders import WordCount, dense, spec
from tests.fakes.evaluations import SPEC, dataset, target
from umg_search.encoding.encoders import Encoders
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.costs import measure
from umg_search.evaluation.indexing import Own
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.scoping import Scoping
from umg_search.evaluation.service import Evaluated, Plan, Target, evaluate
from umg_search.granularity import Expert, Granularity
from umg_search.model import Document, EncodedQuery, IndexSet, Retrieval, Vectors
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


def documents() -> tuple[Document, ...]:
    """The documents, as a data set's own are read."""
    return target(*DOCUMENTS).own.documents  # type: ignore[union-attr] - it has its own


class _Dense:
    """The fake of the encoders as a model."""

    model = SPEC.dense
    max_tokens = 512

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([dense(text) for text in texts])

    def encode_query(self, text: str) -> Vectors:
        return dense(text)


def test_costs_are_those_of_the_lists_that_a_method_reads(engine_settings: Settings, tmp_path: Path) -> None:
    parts = spec(experts=(Expert.DENSE, Expert.LEXICAL), granularities=(Granularity.G2, Granularity.G8))
    encoders = Encoders(counter=WordCount(), granularities=parts.granularities, dense=_Dense(), encoding=parts.encoding)
    whole = Target(engine_settings, Own(documents(), parts, encoders))
    plan = Plan(methods=("spans", "dense-g02", "dense-g08", "lexical-g08"), budgets=(20,))
    asked: list[tuple[str, ...]] = []
    engine = open_engine(engine_settings)
    try:
        with Cache(tmp_path) as cache:
            found = evaluate(engine, whole, dataset(questions()), plan, cache=cache, progress=lambda *_: None)
            watched = Watched(engine, asked)
            costs = measure(watched, whole, found, plan, questions=2, cache=cache, progress=lambda *_: None)
    finally:
        engine.close()
    grids = [("dense-g02", "dense-g08", "lexical-g02", "lexical-g08"), ("dense-g02",), ("dense-g08",), ("lexical-g08",)]
    assert asked == grids * 2 * 2  # two questions, two rounds
    assert [cost.method for cost in costs.methods] == ["spans", "dense-g02", "dense-g08", "lexical-g08"]
    spans, _, plain, lexical = costs.methods
    assert spans.bytes == sum(costs.footprints.bytes.values())
    assert plain.bytes == lexical.bytes == costs.footprints.bytes["g08"] + costs.footprints.bytes["text"]
    assert lexical.stages_ms["encode"] == 0 < plain.stages_ms["encode"]
    assert costs.reference is not None
    assert costs.reference.stages_ms == plain.stages_ms
    assert 0 < costs.reference.bytes < spans.bytes
    assert all(cost.ingest_s and cost.tokens for cost in (*costs.methods, costs.reference))


class Watched:
    """An engine that notes which channels it is asked for."""

    def __init__(self, engine: Engine, asked: list[tuple[str, ...]]) -> None:
        self._engine = engine
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def ranked_lists(self, index: IndexSet, query: EncodedQuery, **options: Any) -> Retrieval:
        answer = self._engine.ranked_lists(index, query, **options)
        self._asked.append(tuple(str(ranked.channel) for ranked in answer.lists))
        return answer


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
