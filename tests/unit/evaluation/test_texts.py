import pytest

from tests.fakes.encoders import WordCount, split
from tests.fakes.engine import MemoryEngine
from tests.fakes.evaluations import SPEC, stored
from umg_search.errors import EngineError
from umg_search.evaluation.questions import Span
from umg_search.evaluation.texts import Layout, Texts
from umg_search.model import Document, DocumentKey, IndexSet, Selected, version_of

LONG = Document("long", " ".join(f"Sentence number {i} says little." for i in range(100)))
SHORT = Document("short", "One. Two.")


def texts(engine: MemoryEngine) -> Texts:
    return Texts(engine, IndexSet(1, SPEC))


def test_a_layout_is_the_document_as_it_was_split() -> None:
    engine = stored(LONG, SHORT)
    versions = [version_of(document.key.hash, 1) for document in (LONG, SHORT)]
    found = texts(engine).of(versions)
    for document, version in zip((LONG, SHORT), versions, strict=True):
        parts = split(document)
        assert found[version] == Layout(document.key, document.text, parts.bounds, parts.counts)
    assert list(texts(engine).every()) == list(found.values())


def test_each_document_is_read_once() -> None:
    engine = stored(LONG)
    reader, version = texts(engine), version_of(LONG.key.hash, 1)
    reader.of([version])
    engine.calls.clear()
    reader.of([version, version])
    assert engine.calls == []


def test_a_version_that_is_gone_stops_the_evaluation() -> None:
    with pytest.raises(EngineError, match="Run it again"):
        texts(stored(LONG)).of([version_of(LONG.key.hash, 2)])


def test_documents_that_are_not_there_are_left_out() -> None:
    other = DocumentKey("default", "other")
    assert list(texts(stored(SHORT)).of_documents([SHORT.key, other])) == [SHORT.key]


def test_a_sentence_over_the_whole_budget_is_cut_at_a_word() -> None:
    layout = Layout(DocumentKey("default", "a"), "one two three four. five", (0, 20, 24), (4, 1))
    item = Selected(version_of(LONG.key.hash, 1), 0, 1, 1.0, (4,))
    assert layout.text_of(layout.within(item, 2, WordCount())) == "one two"
    assert layout.within(item, 4, WordCount()) == Span(layout.key, 0, 20)
