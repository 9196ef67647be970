import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.encoders import spec
from umg_search.granularity import FINEST, Granularity
from umg_search.model import DocumentVersion, Encoding, SparseVector
from umg_search.ports import ChunkId
from umg_search.sparse_vectors import compose_sparse, kept
from umg_search.store.terms import has_copy, pack, restored, unpack
from umg_search.windows import window_count

pairs = st.dictionaries(st.integers(0, 2**31 - 1), st.floats(2**-20, 2**10, width=32), max_size=60)


def vector(weights: dict[int, float]) -> SparseVector:
    terms = sorted(weights)
    return kept(SparseVector(np.asarray(terms, np.int32), np.asarray([weights[t] for t in terms], np.float32)))


@given(pairs)
def test_a_copy_holds_the_vector_exactly(weights: dict[int, float]) -> None:
    given_one, read = vector(weights), unpack(pack(vector(weights)))
    assert read.terms.tolist() == given_one.terms.tolist()
    assert read.weights.tolist() == given_one.weights.tolist()
    assert (read.terms.dtype, read.weights.dtype) == (np.int32, np.float32)


@given(st.integers(1, 70), st.integers(0, 99))
def test_what_is_restored_is_what_was_written(sentences: int, seed: int) -> None:
    """Of two documents at once; only the finest windows have copies."""
    rng = np.random.default_rng(seed)
    composed = spec(encoding=Encoding.COMPOSED)
    written: dict[ChunkId, SparseVector] = {}
    for version in (DocumentVersion(bytes(20)), DocumentVersion(b"x" * 20)):
        finest = [
            vector({int(term): rng.uniform(0.1, 3) for term in rng.integers(0, 400, 30)})
            for _ in range(window_count(sentences, FINEST))
        ]
        for granularity, vectors in compose_sparse(finest, sentences, composed.granularities).items():
            written |= {ChunkId(granularity, version, i * granularity.stride): v for i, v in enumerate(vectors)}
    copies = {chunk: v for chunk, v in written.items() if has_copy(chunk.granularity, composed)}
    assert {chunk.granularity for chunk in copies} == {FINEST}
    found = restored(composed, reversed(list(written)), copies)
    assert found.keys() == written.keys()
    for chunk, v in written.items():
        assert (found[chunk].terms.tolist(), found[chunk].weights.tolist()) == (v.terms.tolist(), v.weights.tolist())


def test_without_composition_each_entry_has_its_own_copy() -> None:
    direct = spec(encoding=Encoding.DIRECT)
    assert all(has_copy(granularity, direct) for granularity in Granularity)
    copies = {ChunkId(Granularity.G8, DocumentVersion(bytes(20)), 0): vector({3: 1.0})}
    assert restored(direct, list(copies), copies) == copies
