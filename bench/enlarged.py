"""A corpus of any size that looks like a real one: encoded documents again and again, each time disturbed.

Sentences of a copy stand in another order, its vectors are turned a little, its term weights scaled: no two windows are
alike, and the vectors keep the clusters of real text, which random ones have not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from umg_search.granularity import FINEST
from umg_search.model import EncodedDocument, SparseVector, SplitDocument, Vectors

NOISE = 0.5
"""Length of what is added to a vector of length 1."""


def enlarged(documents: Sequence[EncodedDocument], chunks: int, seed: int = 7) -> Iterator[EncodedDocument]:
    """Yield disturbed copies of documents until there are `chunks` windows of the finest granularity."""
    rng = np.random.default_rng(seed)
    made = copy = 0
    while made < chunks:
        for document in documents:
            if made >= chunks:
                return
            made += len(document.dense[FINEST])
            yield _disturbed(document, copy, rng)
        copy += 1


def _disturbed(encoded: EncodedDocument, copy: int, rng: np.random.Generator) -> EncodedDocument:
    order = rng.permutation(encoded.split.sentences)
    return EncodedDocument(
        _reordered(encoded.split, order, copy),
        {g: _turned(vectors, rng) for g, vectors in encoded.dense.items()},
        {g: _scaled(terms, rng) for g, terms in encoded.sparse.items()},
    )


def _reordered(split: SplitDocument, order: np.ndarray, copy: int) -> SplitDocument:
    texts = [split.text_of(i, i + 1).rstrip() + " " for i in order.tolist()]
    document = replace(split.document, id=f"{split.document.id}#{copy}", text="".join(texts))
    bounds = tuple(accumulate(map(len, texts), initial=0))
    return SplitDocument(document, bounds, tuple(split.counts[i] for i in order.tolist()))


def _turned(vectors: Vectors, rng: np.random.Generator) -> Vectors:
    noise = rng.standard_normal(vectors.shape, dtype=np.float32)
    turned = vectors + NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    unit: Vectors = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return unit


def _scaled(vectors: Sequence[SparseVector], rng: np.random.Generator) -> list[SparseVector]:
    return [
        SparseVector(v.terms, (v.weights * rng.lognormal(0.0, 0.3, len(v.weights))).astype(np.float32)) for v in vectors
    ]
