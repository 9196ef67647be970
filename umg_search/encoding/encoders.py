"""`Encoders`: what ingest and search use to turn documents and questions into vectors and term weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from umg_search.encoding.composed import compose_dense
from umg_search.encoding.models import is_model_fault
from umg_search.encoding.vectors import bad_rows
from umg_search.errors import DocumentError, QueryError, UmgError
from umg_search.granularity import FINEST, Granularity
from umg_search.headers import read_texts
from umg_search.model import (
    DocumentKey,
    EncodedDocument,
    EncodedQuery,
    Encoding,
    Headers,
    SparseVector,
    SplitDocument,
    Vectors,
)
from umg_search.ports import DenseEncoder, SparseEncoder, TokenCounter
from umg_search.sparse_vectors import compose_sparse, kept
from umg_search.windows import Window, window_at, windows

_NAMED = 5
"""Windows that a warning names; of the others it gives the number."""

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory")
"""What torch says of it in a RuntimeError, on a GPU and on a processor."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A document with its encodings. A row of zeros in `document.dense` means: this window has no vector.

    Writers leave the vector of such a window out; `warnings` name it.
    """

    document: EncodedDocument
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EncodingFailure:
    """A document that could not be encoded, why, and the name of the error's class."""

    document: DocumentKey
    reason: str
    error_class: str = "DocumentError"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is read of one document: its distinct windows, in order, and their texts under their headers."""

    split: SplitDocument
    windows: tuple[Window, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Texts:
    """Encodings of distinct texts."""

    rows: Mapping[str, int]
    dense: Vectors | None
    sparse: Sequence[SparseVector] | None


class Encoders:
    """The experts' encoders of one index set, the counter of its tokens, and how windows become encodings."""

    def __init__(
        self,
        *,
        counter: TokenCounter,
        granularities: Sequence[Granularity],
        dense: DenseEncoder | None = None,
        sparse: SparseEncoder | None = None,
        encoding: Encoding = Encoding.COMPOSED,
        headers: Headers = Headers.NONE,
    ) -> None:
        self.counter = counter
        self.granularities = tuple(granularities)
        self.dense = dense
        self.sparse = sparse
        self.encoding = encoding
        self.headers = headers

    def encode(self, documents: Sequence[SplitDocument]) -> list[Encoded | EncodingFailure]:
        """Return the encodings of each document, in order; a document that cannot be encoded fails by itself.

        All texts of the call go to each encoder at once and equal ones are read once, so that its batches are full.
        Raises ModelError where a model cannot be loaded.
        """
        return self._encode([self._plan(document) for document in documents])

    def encode_query(self, text: str) -> EncodedQuery:
        """Return the question as each expert reads it; lone surrogates are replaced first.

        Raises QueryError for a blank question and for one that a model gives no usable encoding for.
        """
        readable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
        if not readable:
            raise QueryError("the question is empty; ask with at least one word")
        try:
            dense = self.dense.encode_query(readable) if self.dense else None
            sparse = self.sparse.encode_query(readable) if self.sparse else None
        except Exception as error:
            if isinstance(error, UmgError) or not is_model_fault(error):
                raise
            raise QueryError(f"the question cannot be encoded: {_said(error)}") from error
        if dense is not None and len(bad_rows(dense[None])):
            raise QueryError("the question's vector is all zeros, NaN or infinite; ask in other words")
        if sparse is not None and not np.isfinite(sparse.weights).all():
            raise QueryError("the question's term weights are NaN or infinite; ask in other words")
        return EncodedQuery(readable, dense, sparse)

    def _plan(self, split: SplitDocument) -> _Plan:
        distinct = tuple(dict.fromkeys(w for g in self._read_from() for w in windows(split.sentences, g)))
        return _Plan(split, distinct, tuple(read_texts(split, distinct, self.headers)))

    def _encode(self, plans: Sequence[_Plan]) -> list[Encoded | EncodingFailure]:
        try:
            texts = self._read(plans)
        except Exception as error:
            if not (isinstance(error, DocumentError) if isinstance(error, UmgError) else is_model_fault(error)):
                raise
            if len(plans) == 1:
                return [EncodingFailure(plans[0].split.document.key, *_said_and_kind(error))]
        else:
            return [self._finish(plan, texts) for plan in plans]
        half = len(plans) // 2
        return self._encode(plans[:half]) + self._encode(plans[half:])

    def _read(self, plans: Sequence[_Plan]) -> _Texts:
        rows = {text: i for i, text in enumerate(dict.fromkeys(text for plan in plans for text in plan.texts))}
        texts = list(rows)
        return _Texts(
            rows,
            self.dense.encode_passages(texts) if self.dense else None,
            self.sparse.encode_passages(texts) if self.sparse else None,
        )

    def _finish(self, plan: _Plan, texts: _Texts) -> Encoded | EncodingFailure:
        rows = np.asarray([texts.rows[text] for text in plan.texts], dtype=np.int64)
        dense = {} if texts.dense is None else self._dense(plan, texts.dense[rows])
        without = _without_vector(plan.split.sentences, dense)
        if without and len(without) == sum(map(len, dense.values())):
            return EncodingFailure(
                plan.split.document.key,
                "the dense model gives no usable vector for any of its windows; check the model",
            )
        vectors, unusable = _finite([] if texts.sparse is None else [texts.sparse[row] for row in rows])
        sparse = {} if texts.sparse is None else self._sparse(plan, vectors)
        warnings = (
            _warning(without, "have no dense vector (all zeros, NaN or infinite) and are stored without one"),
            _warning(self._named(plan, unusable), "lost sparse weights that are NaN or infinite"),
        )
        return Encoded(EncodedDocument(plan.split, dense, sparse), tuple(filter(None, warnings)))

    def _dense(self, plan: _Plan, vectors: Vectors) -> Mapping[Granularity, Vectors]:
        vectors[bad_rows(vectors)] = 0.0
        if self.encoding is Encoding.COMPOSED:
            return compose_dense(vectors, plan.split.counts, self.granularities)
        return {g: vectors[rows] for g, rows in self._rows(plan).items()}

    def _sparse(self, plan: _Plan, vectors: Sequence[SparseVector]) -> Mapping[Granularity, Sequence[SparseVector]]:
        if self.encoding is Encoding.COMPOSED:
            return compose_sparse([kept(vector) for vector in vectors], plan.split.sentences, self.granularities)
        return {g: [vectors[row] for row in rows] for g, rows in self._rows(plan).items()}

    def _rows(self, plan: _Plan) -> Mapping[Granularity, list[int]]:
        """Return, for each granularity, where among the distinct windows each of its windows is."""
        place = {window: row for row, window in enumerate(plan.windows)}
        return {g: [place[w] for w in windows(plan.split.sentences, g)] for g in self.granularities}

    def _named(self, plan: _Plan, rows: Sequence[int]) -> list[str]:
        bad = {plan.windows[row] for row in rows}
        return [_name(g, w) for g in self._read_from() for w in windows(plan.split.sentences, g) if w in bad]

    def _read_from(self) -> tuple[Granularity, ...]:
        """Return the granularities whose windows pass the encoders."""
        return (FINEST,) if self.encoding is Encoding.COMPOSED else self.granularities


def _without_vector(sentences: int, dense: Mapping[Granularity, Vectors]) -> list[str]:
    return [_name(g, window_at(row, sentences, g)) for g, rows in dense.items() for row in bad_rows(rows).tolist()]


def _finite(vectors: Sequence[SparseVector]) -> tuple[list[SparseVector], list[int]]:
    """Return the vectors less weights that are NaN or infinite, and the rows that had such weights."""
    unusable = [row for row, vector in enumerate(vectors) if not np.isfinite(vector.weights).all()]
    kept = list(vectors)
    for row in unusable:
        finite = np.isfinite(kept[row].weights)
        kept[row] = SparseVector(kept[row].terms[finite], kept[row].weights[finite])
    return kept, unusable


def _name(granularity: Granularity, window: Window) -> str:
    return f"{granularity.label}[{window.first}:{window.last}]"


def _warning(names: Sequence[str], what: str) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"windows {', '.join(names[:_NAMED])}{more} {what}" if names else ""


def _said_and_kind(error: Exception) -> tuple[str, str]:
    """Return what an exception says, and the name of its class: MemoryError whatever a library calls that."""
    said = _said(error)
    if isinstance(error, MemoryError) or any(words in str(error) for words in _OUT_OF_MEMORY):
        return f"It takes more memory than there is: split it, or allow more ({said})", MemoryError.__name__
    return said, type(error).__name__


def _said(error: Exception) -> str:
    """Return what an exception says, on one line."""
    first = next(iter(str(error).splitlines()), "")
    return first if isinstance(error, UmgError) else f"{type(error).__name__}: {first}"
