"""A whole evaluation over an engine in memory."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.encoders import split
from tests.fakes.engine import MemoryEngine
from tests.fakes.evaluations import SPEC, dataset, stored, target
from tests.unit.encoding.test_encoders import ALL, FakeDense, FakeSparse
from umg_search.encoding.encoders import Encoded, Encoders, EncodingFailure
from umg_search.encoding.tokens import WordCounter
from umg_search.errors import ConfigurationError, DatasetError, EngineError
from umg_search.evaluation.cache import Cache
from umg_search.evaluation.indexing import CachedEncoders, own_settings
from umg_search.evaluation.questions import Question, Span
from umg_search.evaluation.running import Evaluation
from umg_search.evaluation.scoping import Scoping
from umg_search.evaluation.service import Evaluated, Plan, Target, evaluate
from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import Document, SplitDocument
from umg_search.settings import Settings

LINES = [
    f"The {name} keeps its {thing} in cabinet {i}."
    for i, (name, thing) in enumerate(
        [("baker", "flour"), ("smith", "hammer"), ("diver", "helmet"), ("clerk", "stamp"), ("nurse", "thermometer")] * 4
    )
]
ONE = Document("one", " ".join(LINES), metadata={"language": "en"})
OTHER = Document(
    "other", "Nothing of use. The uniquewalrus sleeps on the ice. It wakes in May.", metadata={"language": "de"}
)
WALRUS = "The uniquewalrus sleeps on the ice."


def walrus(**changes: object) -> Question:
    start = OTHER.text.index(WALRUS)
    question = Question(
        "walrus",
        "where does the uniquewalrus sleep?",
        evidence=(Span(OTHER.key, start, start + len(WALRUS)),),
        documents=(OTHER.key,),
        answers=("the ice",),
        metadata={"language": "de"},
    )
    return replace(question, **changes)


def run(
    engine: MemoryEngine, folder: Path, *questions: Question, on: Target | None = None, **plan: object
) -> Evaluated:
    said: list[tuple[str, int, int]] = []
    with Cache(folder) as cache:
        found = evaluate(
            engine,
            target(ONE, OTHER) if on is None else on,
            dataset(questions),
            Plan(**{"budgets": (10, None), **plan}),  # type: ignore[arg-type] - values as given
            cache=cache,
            progress=lambda *step: said.append(step),
        )
    judged = sum(question.judged for question in questions)
    assert [step for step in said if step[0] == "evaluate"] == [("evaluate", i + 1, judged) for i in range(judged)]
    return found


def value(evaluation: Evaluation, method: str, measure: str, budget: int | None = 10) -> float | None:
    (only,) = evaluation.column(method, budget, measure)
    return only


def test_every_method_is_judged_at_every_budget(tmp_path: Path) -> None:
    found = run(MemoryEngine(), tmp_path, walrus()).evaluation
    for method in found.methods:
        for budget in found.budgets_of(method):
            tokens = value(found, method.name, "tokens", budget)
            assert tokens is not None
            assert 0 < tokens <= (budget or tokens)
    assert found.budgets_of(found.methods[0]) == (10,)
    (figures,) = found.figures
    assert figures.ceiling == figures.ceilings["lexical-g02"] == 1
    assert value(found, "lexical-g02", "recall", None) == 1
    assert value(found, "lexical-g02", "ar_1", None) == 1
    assert found.ranked["lexical-g02"]["walrus"]["mrr_10"] == 1


def test_figures_of_an_answer_are_those_of_its_spans(tmp_path: Path) -> None:
    """Of the first window, 3 + 6 tokens, one sentence is evidence, with the blank behind it."""
    found = run(MemoryEngine(), tmp_path, walrus(), methods=("lexical-g02",)).evaluation
    (figures,) = found.figures
    judged = figures.answers["lexical-g02", 10]
    window = "Nothing of use. The uniquewalrus sleeps on the ice. "
    assert judged.returned == (Span(OTHER.key, 0, len(window)),)
    assert judged.figures["precision"] == len(WALRUS) / len(window)
    assert judged.figures["position"] == len("Nothing of use. ") / len(window)
    assert (judged.figures["tokens"], judged.figures["contexts"]) == (3 + 6, 1)


def test_the_second_run_asks_the_engine_for_no_list(tmp_path: Path) -> None:
    engine = MemoryEngine()
    first = run(engine, tmp_path, walrus())
    engine.calls.clear()
    again = run(engine, tmp_path, walrus())
    assert "ranked_lists" not in engine.calls
    assert "write_chunks" not in engine.calls
    assert again.evaluation.column("spans", 10, "recall") == first.evaluation.column("spans", 10, "recall")
    assert (first.written.stored, again.written.stored) == (2, 0)  # type: ignore[union-attr] - both wrote


def test_lists_are_asked_anew_where_documents_changed(tmp_path: Path) -> None:
    engine = MemoryEngine()
    run(engine, tmp_path, walrus())
    engine.calls.clear()
    run(engine, tmp_path, walrus(), on=target(ONE, OTHER, Document("third", "A new uniquewalrus.")))
    assert engine.calls.count("ranked_lists") == 1


def test_questions_that_expect_nothing_are_left_out(tmp_path: Path) -> None:
    found = run(MemoryEngine(), tmp_path, walrus(), Question("none", "why?", metadata={"unanswerable": True}))
    assert [one.question.id for one in found.evaluation.figures] == ["walrus"]
    assert found.unjudged == 1


def test_measures_are_those_that_expectations_allow(tmp_path: Path) -> None:
    question = walrus(evidence=(), answers=())
    found = run(MemoryEngine(), tmp_path, question, methods=("chunks",)).evaluation
    assert (value(found, "chunks", "recall"), value(found, "chunks", "answer_recall")) == (None, None)
    assert value(found, "chunks", "document_recall", None) == 1


@pytest.mark.parametrize(
    ("scoping", "changes", "reached"),
    [
        (Scoping.ALL, {}, {"one", "other"}),
        (Scoping.AUTO, {}, {"other"}),
        (Scoping.LANGUAGE, {"metadata": {"language": "en"}}, {"one"}),
        (Scoping.DOCUMENT, {"scope_document": "one"}, {"one"}),
        (Scoping.DOCUMENT, {}, {"one", "other"}),
        (Scoping.ALL, {"collection": "default"}, {"one", "other"}),
    ],
)
def test_a_question_is_asked_inside_its_scope(
    tmp_path: Path, scoping: Scoping, changes: dict[str, object], reached: set[str]
) -> None:
    found = run(MemoryEngine(), tmp_path, walrus(**changes), methods=("dense-g02",), scoping=scoping).evaluation
    (figures,) = found.figures
    assert {key.id for key in figures.rankings["dense-g02"]} == reached


def test_a_document_is_the_scope_where_languages_do_not_differ(tmp_path: Path) -> None:
    same = replace(OTHER, metadata={"language": "en"})
    found = run(MemoryEngine(), tmp_path, walrus(scope_document="other"), on=target(ONE, same))
    assert found.scoping is Scoping.DOCUMENT


def test_an_index_that_is_there_is_asked_as_it_is(tmp_path: Path) -> None:
    engine = stored(ONE, OTHER)
    with pytest.raises(DatasetError, match="--documents"):
        run(engine, tmp_path, walrus(scope_document="one"), on=Target(Settings()))


def test_a_channel_that_fails_stops_the_evaluation(tmp_path: Path) -> None:
    engine = MemoryEngine()
    engine.failing[Channel(Expert.DENSE, Granularity.G8)] = "out of memory"
    with pytest.raises(EngineError, match=r"dense-g08 failed .*out of memory"):
        run(engine, tmp_path, walrus())


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"methods": ("rrf-g99",)}, "no method 'rrf-g99'"),
        ({"against": "nobody"}, "no method 'nobody'"),
        ({"methods": ()}, "No method of none"),
        ({"methods": ("spans",), "budgets": (None,)}, "No method of spans"),
    ],
)
def test_methods_that_are_not_there_are_named(tmp_path: Path, plan: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        run(MemoryEngine(), tmp_path, walrus(), **plan)


def test_a_document_that_cannot_be_indexed_stops_the_evaluation(tmp_path: Path) -> None:
    bad = Document("bad", "This is unreadable to models.")
    with pytest.raises(DatasetError, match="bad: the model raised ValueError"):
        run(MemoryEngine(), tmp_path, walrus(), on=target(ONE, OTHER, bad))


def test_encodings_of_documents_are_remembered_and_failures_are_not(tmp_path: Path) -> None:
    dense = FakeDense()
    encoders = Encoders(counter=WordCounter(), granularities=ALL, dense=dense, sparse=FakeSparse())
    fine, zero, bad = (
        _split(text)
        for text in ("It is fine. Really.", "It is ZERO. Well. Then. And fine. Really.", "It may CRASH. Really.")
    )
    with Cache(tmp_path) as cache:
        first = CachedEncoders(encoders, SPEC, cache).encode([fine, bad, zero])
        asked = len(dense.calls)
        again = CachedEncoders(encoders, SPEC, cache).encode([zero, fine])
        assert len(dense.calls) == asked
        CachedEncoders(encoders, SPEC, cache).encode([bad])
        CachedEncoders(encoders, replace(SPEC, tokenizer="others"), cache).encode([fine])
        assert len(dense.calls) > asked + 1
    assert isinstance(first[1], EncodingFailure)
    assert isinstance(first[0], Encoded)
    assert isinstance(again[1], Encoded)
    assert again[0].warnings == first[2].warnings != ()
    assert (again[1].document.dense[Granularity.G2] == first[0].document.dense[Granularity.G2]).all()


def _split(text: str) -> SplitDocument:
    return split(Document(text, text))


def test_an_index_of_its_own_is_named_by_its_contents(tmp_path: Path) -> None:
    server = Settings(engine="http://127.0.0.1:9200", prefix="mine")
    embedded = Settings(engine="embedded:mine")
    one, other = (own_settings(server, [document], SPEC, tmp_path) for document in (ONE, OTHER))
    assert one.engine == server.engine
    assert len({one.prefix, other.prefix, "mine"}) == 3
    assert own_settings(server, [ONE], SPEC, tmp_path) == one
    assert own_settings(embedded, [ONE], SPEC, tmp_path).engine == f"embedded:{tmp_path / one.prefix}"
