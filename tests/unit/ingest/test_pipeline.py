"""The ingest over an engine in memory and encoders without a model."""

import pytest

from ingest.pipeline import EMPTY, LEAST_CHARGE, IngestService
from ingest.sentences import SentenceOptions
from tests.fakes.encoders import HashedEncoders, spec
from tests.fakes.engine import MemoryEngine
from umg_search.granularity import Expert
from umg_search.model import Document, DocumentState, Outcome
from umg_search.store.attributes import MOST_BYTES
from umg_search.store.reader import Reader
from umg_search.store.writer import Writer

SPEC = spec(experts=(Expert.DENSE, Expert.LEXICAL))
TEXT = "The kiln is lit at noon. It burns for nine hours. Nobody opens it before dawn."


@pytest.fixture
def engine() -> MemoryEngine:
    return MemoryEngine()


def service(engine: MemoryEngine, *, batch_chars: int = 10_000) -> IngestService:
    encoders = HashedEncoders(SPEC)
    return IngestService(Writer(engine), encoders, SPEC, sentences=SentenceOptions(), batch_chars=batch_chars)  # type: ignore[arg-type] - a fake of the encoders


def outcomes(engine: MemoryEngine, *documents: Document, batch_chars: int = 10_000) -> dict[str, Outcome]:
    reports = service(engine, batch_chars=batch_chars).ingest(documents)
    return {report.document_id: report.outcome for report in reports}


def test_documents_are_new_then_unchanged_then_updated(engine: MemoryEngine) -> None:
    assert outcomes(engine, Document(id="a", text=TEXT)) == {"a": Outcome.NEW}
    assert outcomes(engine, Document(id="a", text=TEXT)) == {"a": Outcome.UNCHANGED}
    assert outcomes(engine, Document(id="a", text=TEXT, title="Kiln")) == {"a": Outcome.UPDATED}
    assert outcomes(engine, Document(id="a", text=TEXT + " Then it cools.")) == {"a": Outcome.UPDATED}


def test_an_unchanged_document_is_not_written(engine: MemoryEngine) -> None:
    outcomes(engine, Document(id="a", text=TEXT))
    engine.calls.clear()
    outcomes(engine, Document(id="a", text=TEXT))
    assert not {"write_chunks", "write_blocks", "publish"} & set(engine.calls)


@pytest.mark.parametrize(
    "bad",
    [
        Document(id="bad", text="a lone \ud800 surrogate"),
        Document(id="bad", text=TEXT, metadata={"when": {1, 2}}),
        Document(id="bad", text=TEXT, metadata={"huge": 10**30}),
        Document(id="bad", text=TEXT, metadata={1: "a key that is no text"}),
        Document(id="bad", text=TEXT, metadata={"share": float("nan")}),
        Document(id="bad", text=TEXT, metadata={"long": "x" * MOST_BYTES}),
        Document(id="bad", text=TEXT, collection="\udcff"),
        Document(id="", text=TEXT),
        Document(id="bad", text=" \n"),
        Document(id="bad", text="This is unreadable. To the model."),
    ],
)
def test_a_document_that_cannot_be_stored_fails_alone(engine: MemoryEngine, bad: Document) -> None:
    found = outcomes(engine, Document(id="a", text=TEXT), bad, Document(id="b", text=TEXT))
    assert found == {"a": Outcome.NEW, bad.id: Outcome.FAILED, "b": Outcome.NEW}


def test_why_a_document_failed_stands_in_the_ledger(engine: MemoryEngine) -> None:
    empty = Document(id="bad", text=" ")
    outcomes(engine, empty)
    entry = engine.ledger[empty.key.hash]
    assert (entry.state, entry.error) == (DocumentState.FAILED, EMPTY)


def test_warnings_of_the_encoders_reach_the_report(engine: MemoryEngine) -> None:
    (report,) = service(engine).ingest([Document(id="a", text=TEXT)])
    assert report.warnings == ("windows of sentences 1-2 (g02) have no dense vector",)


def test_the_same_document_three_times_ends_with_the_last(engine: MemoryEngine) -> None:
    texts = [TEXT, "Other text. Of two sentences.", TEXT]
    list(service(engine).ingest(Document(id="a", text=text) for text in texts))
    assert Reader(engine).text(Document(id="a", text="").key) == TEXT


def test_a_batch_of_tiny_documents_ends_too(engine: MemoryEngine) -> None:
    tiny = [Document(id=str(i), text="A. B.") for i in range(30)]
    assert set(outcomes(engine, *tiny, batch_chars=10 * LEAST_CHARGE).values()) == {Outcome.NEW}
    assert engine.calls.count("write_chunks") == 3  # 30 documents, 10 a batch


def test_a_sentence_without_a_token_still_costs_one(engine: MemoryEngine) -> None:
    """Emoji are no words, and would otherwise pass any budget without end."""
    (report,) = service(engine).ingest([Document(id="a", text="A cat.\n\n" + "👍\n\n" * 40 + "A dog.")])
    assert report.tokens >= 2 + 1
