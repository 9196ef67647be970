import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.encoders import spec
from umg_search.granularity import FINEST, Granularity
from umg_search.model import DocumentVersion, Encoding, SparseVector, VectorType
from umg_search.ports import Attributes, Chunk, ChunkId
from umg_search.sparse_vectors import compose_sparse, kept
from umg_search.store.copies import Copy, copied, pack, restored, unpack
from umg_search.store.precision import stored_vector
from umg_search.windows import window_count

pairs = st.dictionaries(st.integers(0, 2**31 - 1), st.floats(2**-20, 2**10, width=32), max_size=60)


def vector(weights: dict[int, float]) -> SparseVector:
    terms = sorted(weights)
    return kept(SparseVector(np.asarray(terms, np.int32), np.asarray([weights[t] for t in terms], np.float32)))


@given(pairs, st.sampled_from(VectorType), st.booleans())
def test_a_copy_holds_vector_and_terms_exactly(weights: dict[int, float], kind: VectorType, sole: bool) -> None:  # noqa: FBT001 - a parameter of the test
    index_spec = spec(vectors=kind)
    terms = None if sole else vector(weights)
    dense = stored_vector(np.linspace(-1, 0.7, index_spec.dense.dims, dtype=np.float32), kind)
    read = unpack(pack(Copy(dense, terms)), index_spec)
    assert read.dense.tolist() == dense.tolist()
    assert read.dense.dtype == dense.dtype
    assert (read.sparse is None) is sole
    if read.sparse and terms:
        assert read.sparse.terms.tolist() == terms.terms.tolist()
        assert read.sparse.weights.tolist() == terms.weights.tolist()
        assert (read.sparse.terms.dtype, read.sparse.weights.dtype) == (np.int32, np.float32)
    assert unpack(pack(Copy(None, terms)), index_spec).dense is None


@given(st.integers(1, 70), st.integers(0, 99))
def test_what_is_restored_is_what_was_written(sentences: int, seed: int) -> None:
    """Of two documents at once; of terms only the finest windows have copies."""
    rng = np.random.default_rng(seed)
    composed = spec(encoding=Encoding.COMPOSED)
    written: dict[ChunkId, Copy] = {}
    for version in (DocumentVersion(bytes(20)), DocumentVersion(b"x" * 20)):
        finest = [
            vector({int(term): rng.uniform(0.1, 3) for term in rng.integers(0, 400, 30)})
            for _ in range(window_count(sentences, FINEST))
        ]
        for granularity, vectors in compose_sparse(finest, sentences, composed.granularities).items():
            for i, terms in enumerate(vectors):
                written[ChunkId(granularity, version, i * granularity.stride)] = Copy(np.full(2, i, np.int8), terms)
    copies = {chunk: copied(as_chunk(chunk, copy), composed) for chunk, copy in reversed(written.items())}
    assert {chunk.granularity for chunk, copy in copies.items() if copy.sparse} == {FINEST}
    found = restored(composed, copies)
    assert found.keys() == written.keys()
    for chunk, (dense, terms) in written.items():
        assert found[chunk].dense.tolist() == dense.tolist()
        assert found[chunk].sparse.terms.tolist() == terms.terms.tolist()
        assert found[chunk].sparse.weights.tolist() == terms.weights.tolist()


def test_without_composition_each_entry_has_its_own_terms() -> None:
    direct = spec(encoding=Encoding.DIRECT)
    chunk = ChunkId(Granularity.G8, DocumentVersion(bytes(20)), 0)
    copies = {chunk: copied(as_chunk(chunk, Copy(None, vector({3: 1.0}))), direct)}
    assert copies[chunk].sparse.terms.tolist() == [3]
    assert restored(direct, copies) == copies


def as_chunk(chunk: ChunkId, copy: Copy) -> Chunk:
    return Chunk(
        chunk.granularity, chunk.version, chunk.first, b"", "c", Attributes((), {}, ()), copy.dense, copy.sparse
    )
