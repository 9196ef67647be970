"""An index in memory for evaluations, and data sets over it."""

from collections.abc import Sequence
from pathlib import Path

from tests.fakes.encoders import HashedEncoders, encoded, spec
from tests.fakes.engine import MemoryEngine
from umg_search.evaluation.datasets import Dataset
from umg_search.evaluation.indexing import DOCUMENT_FIELD, Own
from umg_search.evaluation.questions import Question
from umg_search.evaluation.service import Target
from umg_search.model import Document, SetSpec
from umg_search.settings import Settings
from umg_search.store.writer import Writer

SPEC = spec()


def stored(*documents: Document, index_spec: SetSpec = SPEC) -> MemoryEngine:
    """Return an engine that holds documents."""
    engine = MemoryEngine()
    writer = Writer(engine, grace=0.0)
    index = writer.prepare(index_spec)
    writer.replace(index, [encoded(document, index_spec) for document in documents])
    engine.calls.clear()
    return engine


def target(*documents: Document, index_spec: SetSpec = SPEC) -> Target:
    """Return a data set's own documents, to be indexed."""
    named = tuple(Document(d.id, d.text, metadata={**d.metadata, DOCUMENT_FIELD: d.id}) for d in documents)
    encoders = HashedEncoders(index_spec)
    return Target(Settings(), Own(named, index_spec, encoders))  # type: ignore[arg-type] - a fake of the encoders


def dataset(questions: Sequence[Question]) -> Dataset:
    return Dataset("test", Path("questions.jsonl"), tuple(questions))
