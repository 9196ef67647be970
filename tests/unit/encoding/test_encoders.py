from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umg_search.encoding.encoders import Encoded, Encoders, EncodingFailure
from umg_search.encoding.tokens import WordCounter
from umg_search.errors import ModelError, QueryError
from umg_search.granularity import Granularity
from umg_search.model import DenseModel, Document, Encoding, Headers, SparseModel, SparseVector, SplitDocument, Vectors

ALL = tuple(Granularity)


class FakeDense:
    """Vectors from hashes of the texts; a text with a mark in it is broken in that way."""

    model = DenseModel("fake", 8)
    max_tokens = 100

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        if any("CRASH" in text for text in texts):
            raise RuntimeError("tensor sizes differ\nlong story")
        if any("STOP" in text for text in texts):
            raise TimeLimitExceeded
        if any("GONE" in text for text in texts):
            raise ModelError("model 'fake' cannot be loaded")
        return np.asarray([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, 8)

    def encode_query(self, text: str) -> Vectors:
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        if "ZERO" in text:
            return np.zeros(8, dtype=np.float32)
        if "NAN" in text:
            return np.full(8, np.nan, dtype=np.float32)
        seed = int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big")
        vector = np.random.default_rng(seed).normal(size=8).astype(np.float32)
        return vector / np.linalg.norm(vector)


class FakeSparse:
    """One term a letter, weighted by how often it occurs."""

    model = SparseModel("fake")

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        return [self.encode_query(text) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        terms, counts = np.unique([ord(c) for c in text], return_counts=True)
        weights = counts.astype(np.float32)
        if "INF" in text:
            weights[0] = np.inf
        return SparseVector(terms.astype(np.int32), weights)


class TimeLimitExceeded(Exception):
    """Like a task queue's: no fault of the model."""


def split(name: str, *sentences: str) -> SplitDocument:
    bounds = np.cumsum([0, *map(len, sentences)]).tolist()
    counts = tuple(WordCounter().count(sentences))
    return SplitDocument(Document(name, "".join(sentences)), tuple(bounds), counts)


def numbered(name: str, count: int) -> SplitDocument:
    return split(name, *(f"{name} sentence {i}. " for i in range(count)))


def encoders(
    *, encoding: Encoding = Encoding.COMPOSED, granularities: Sequence[Granularity] = ALL
) -> tuple[Encoders, FakeDense]:
    dense = FakeDense()
    made = Encoders(
        counter=WordCounter(), granularities=granularities, dense=dense, sparse=FakeSparse(), encoding=encoding
    )
    return made, dense


def encoded(result: Encoded | EncodingFailure) -> Encoded:
    assert isinstance(result, Encoded)
    return result


def test_composed_reads_only_the_finest_windows_of_all_documents_in_one_call() -> None:
    made, dense = encoders()
    made.encode([numbered("a", 10), numbered("b", 1)])
    assert [len(call) for call in dense.calls] == [9 + 1]
    assert dense.calls[0][0] == "a sentence 0. a sentence 1."


def test_windows_are_read_under_their_headers() -> None:
    dense = FakeDense()
    made = Encoders(counter=WordCounter(), granularities=ALL, dense=dense, headers=Headers.TITLE)
    document = numbered("a", 3)
    made.encode([replace(document, document=replace(document.document, title="Kilns"))])
    assert dense.calls == [["Kilns. a sentence 0. a sentence 1.", "Kilns. a sentence 1. a sentence 2."]]


def test_direct_reads_each_distinct_span_of_every_granularity_once() -> None:
    made, dense = encoders(encoding=Encoding.DIRECT)
    result = encoded(made.encode([numbered("a", 6)])[0])
    # 5 windows of two, 2 of four, and one span that windows of 8, 16 and 32 sentences share
    assert [len(call) for call in dense.calls] == [5 + 2 + 1]
    whole = [result.document.dense[g] for g in (Granularity.G8, Granularity.G16, Granularity.G32)]
    assert all(np.array_equal(rows, whole[0]) for rows in whole)


def test_equal_texts_are_read_once() -> None:
    made, dense = encoders()
    first, second = made.encode([numbered("a", 5), numbered("a", 5)])
    assert len(dense.calls[0]) == 4
    assert np.array_equal(encoded(first).document.dense[Granularity.G8], encoded(second).document.dense[Granularity.G8])


@pytest.mark.parametrize("encoding", Encoding)
def test_every_window_of_every_granularity_is_encoded(encoding: Encoding) -> None:
    made, _ = encoders(encoding=encoding)
    result = encoded(made.encode([numbered("a", 11)])[0]).document
    # 1 + ceil((11 - g) / stride) windows
    expected = {Granularity.G2: 10, Granularity.G4: 5, Granularity.G8: 2, Granularity.G16: 1, Granularity.G32: 1}
    assert {g: len(rows) for g, rows in result.dense.items()} == expected
    assert {g: len(rows) for g, rows in result.sparse.items()} == expected
    assert all(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6) for rows in result.dense.values())


def test_only_the_granularities_of_the_set_are_returned() -> None:
    made, _ = encoders(granularities=(Granularity.G2, Granularity.G8))
    assert list(encoded(made.encode([numbered("a", 20)])[0]).document.dense) == [Granularity.G2, Granularity.G8]


@given(st.permutations(["a", "b", "c"]))
def test_the_order_of_documents_does_not_matter(order: list[str]) -> None:
    made, _ = encoders()
    for name, result in zip(order, made.encode([numbered(n, 7) for n in order]), strict=True):
        alone = encoded(made.encode([numbered(name, 7)])[0]).document
        for granularity, rows in encoded(result).document.dense.items():
            assert np.array_equal(rows, alone.dense[granularity])


@pytest.mark.parametrize("mark", ["ZERO", "NAN"])
def test_a_window_without_a_usable_vector_is_named_and_the_rest_is_kept(mark: str) -> None:
    made, _ = encoders()
    document = split("a", "One. ", f"{mark}. ", "Three. ", "Four. ", "Five. ")
    result = encoded(made.encode([document])[0])
    assert result.document.dense[Granularity.G2].any(axis=1).tolist() == [False, False, True, True]
    assert result.document.dense[Granularity.G4].any(axis=1).all()
    assert len(result.warnings) == 1
    assert "g02[0:2], g02[1:3] have no dense vector" in result.warnings[0]


def test_a_document_without_any_usable_vector_fails() -> None:
    made, _ = encoders()
    good, bad = made.encode([numbered("a", 3), split("b", "ZERO. ", "ZERO again. ")])
    assert isinstance(good, Encoded)
    assert isinstance(bad, EncodingFailure)
    assert "no usable vector for any" in bad.reason


def test_sparse_weights_that_are_infinite_are_left_out_and_named() -> None:
    made, _ = encoders()
    result = encoded(made.encode([split("a", "INF. ", "Two. ", "Three. ")])[0])
    assert all(np.isfinite(v.weights).all() for rows in result.document.sparse.values() for v in rows)
    assert result.warnings == ("windows g02[0:2] lost sparse weights that are NaN or infinite",)


def test_a_document_that_breaks_the_model_fails_alone_with_a_reason_on_one_line() -> None:
    made, _ = encoders()
    results = made.encode([numbered("a", 3), split("b", "CRASH. "), numbered("c", 3)])
    assert [type(r) for r in results] == [Encoded, EncodingFailure, Encoded]
    assert results[1] == EncodingFailure(Document("b", "").key, "RuntimeError: tensor sizes differ", "RuntimeError")


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("CUDA out of memory."), RuntimeError("[...] can't allocate memory: [...]")]
)
def test_a_document_that_takes_too_much_memory_fails_as_such_whatever_the_library_calls_it(error: Exception) -> None:
    made, dense = encoders()

    def encode(texts: Sequence[str]) -> Vectors:
        if any("Huge" in text for text in texts):
            raise error
        return encode_passages(texts)

    encode_passages, dense.encode_passages = dense.encode_passages, encode  # type: ignore[method-assign] - one fault more
    fine, huge = made.encode([numbered("a", 3), split("b", "Huge. ")])
    assert isinstance(fine, Encoded)
    assert isinstance(huge, EncodingFailure)
    assert (huge.error_class, huge.reason.partition(":")[0]) == ("MemoryError", "It takes more memory than there is")


def test_an_error_that_is_not_the_documents_own_is_raised() -> None:
    made, _ = encoders()
    with pytest.raises(ModelError):
        made.encode([numbered("a", 3), split("b", "GONE. ")])
    with pytest.raises(TimeLimitExceeded):
        made.encode([numbered("a", 3), split("b", "STOP. ")])


def test_without_experts_there_are_no_encodings() -> None:
    made = Encoders(counter=WordCounter(), granularities=ALL)
    result = encoded(made.encode([numbered("a", 3)])[0])
    assert (result.document.dense, result.document.sparse) == ({}, {})
    assert made.encode_query("what?").dense is None
    assert made.encode([]) == []


def test_a_document_without_sentences_has_no_windows() -> None:
    made, _ = encoders()
    assert encoded(made.encode([split("a")])[0]).document.dense[Granularity.G2].shape == (0, 8)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_blank_question_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="empty"):
        encoders()[0].encode_query(text)


@pytest.mark.parametrize("text", ["ZERO", "NAN", "INF"])
def test_a_question_without_a_usable_encoding_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="NaN or infinite"):
        encoders()[0].encode_query(text)


def test_lone_surrogates_in_a_question_are_replaced_and_pairs_joined() -> None:
    assert encoders()[0].encode_query(" a\ud800b \ud83d\ude00 ").text == "a\ufffdb \U0001f600"
