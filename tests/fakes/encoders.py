"""Encoders without a model, for tests of stores: words hashed into vectors and terms, so that equal words match."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import regex

from umg_search.encoding.encoders import Encoded, EncodingFailure
from umg_search.granularity import Expert, Granularity
from umg_search.headers import read_texts
from umg_search.model import (
    DeclaredField,
    DenseModel,
    Document,
    EncodedDocument,
    EncodedQuery,
    Encoding,
    Headers,
    SetSpec,
    SparseModel,
    SparseVector,
    SplitDocument,
    Vectors,
    VectorType,
)
from umg_search.store.records import SCHEMA
from umg_search.windows import windows

DIMS = 48
TERMS = 5_000


def words(text: str) -> list[str]:
    return regex.findall(r"\w+", text.lower())


class WordCount:
    """Counts words."""

    name = "words"

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(words(text)) for text in texts]


@lru_cache(maxsize=100_000)
def number(word: str, most: int) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big") % most


@lru_cache(maxsize=100_000)
def direction(word: str, dims: int) -> Vectors:
    return np.random.default_rng(number(f"{dims} {word}" if dims != DIMS else word, 2**32)).standard_normal(dims)


def dense(text: str, dims: int = DIMS) -> Vectors:
    """Sum of one pseudo-random direction a word, of norm 1; other dimensions are another model."""
    rows = [direction(word, dims) for word in words(text)] or [np.ones(dims)]
    total = np.sum(rows, axis=0)
    return (total / np.linalg.norm(total)).astype(np.float32)


def sparse(text: str) -> SparseVector:
    """One term a distinct word, of weight 1 + ln(count)."""
    terms, counts = np.unique([number(word, TERMS) for word in words(text)], return_counts=True)
    return SparseVector(terms.astype(np.int32), (1 + np.log(counts)).astype(np.float32))


def spec(
    *,
    experts: tuple[Expert, ...] = tuple(Expert),
    granularities: tuple[Granularity, ...] = tuple(Granularity),
    access_control: bool = False,
    vectors: VectorType = VectorType.INT8,
    fields: tuple[DeclaredField, ...] = (),
    encoding: Encoding = Encoding.DIRECT,
    derived: tuple[Granularity, ...] = (),
    headers: Headers = Headers.NONE,
) -> SetSpec:
    return SetSpec(
        schema=SCHEMA,
        granularities=granularities,
        experts=experts,
        tokenizer="words",
        encoding=encoding,
        analyzer="standard",
        access_control=access_control,
        dense=DenseModel("hashed-words", DIMS) if Expert.DENSE in experts else None,
        sparse=SparseModel("hashed-words") if Expert.SPARSE in experts else None,
        vectors=vectors,
        fields=fields,
        derived=derived,
        headers=headers,
    )


def split(document: Document) -> SplitDocument:
    """Split after each full stop and the white space behind it."""
    bounds = (0, *(m.end() for m in regex.finditer(r"\.\s+", document.text)), len(document.text))
    bounds = tuple(dict.fromkeys(bounds))
    texts = [document.text[a:b] for a, b in pairwise(bounds)]
    return SplitDocument(document, bounds, tuple(WordCount().count(texts)))


def encoded(document: Document, index_spec: SetSpec) -> EncodedDocument:
    """Encode every window from its own text."""
    return of_windows(split(document), index_spec)


def of_windows(parts: SplitDocument, index_spec: SetSpec) -> EncodedDocument:
    texts = {g: read_texts(parts, windows(parts.sentences, g), index_spec.headers) for g in index_spec.granularities}
    return EncodedDocument(
        parts,
        dense={g: np.stack([dense(t, index_spec.dense.dims) for t in ts]) for g, ts in texts.items()}
        if index_spec.dense
        else {},
        sparse={g: [sparse(t) for t in ts] for g, ts in texts.items()} if index_spec.sparse else {},
    )


class HashedWords:
    """Query encoder of such a set."""

    def __init__(self, index_spec: SetSpec) -> None:
        self._spec = index_spec
        self.counter = WordCount()

    def encode_query(self, text: str) -> EncodedQuery:
        return EncodedQuery(
            text,
            dense=dense(text, self._spec.dense.dims) if self._spec.dense else None,
            sparse=sparse(text) if self._spec.sparse else None,
        )


class HashedEncoders(HashedWords):
    """Encoders of such a set for an ingest; a document that says `unreadable` cannot be encoded."""

    def encode(self, documents: Sequence[SplitDocument]) -> list[Encoded | EncodingFailure]:
        return [self._one(document) for document in documents]

    def _one(self, parts: SplitDocument) -> Encoded | EncodingFailure:
        if "unreadable" in parts.document.text:
            return EncodingFailure(parts.document.key, "the model raised ValueError")
        return Encoded(of_windows(parts, self._spec), ("windows g02[0:2] have no dense vector",))
