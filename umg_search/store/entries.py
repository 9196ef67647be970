"""What one document version is made of in an index set: its chunk entries, its text blocks, and their ids."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from umg_search.granularity import Expert, Granularity
from umg_search.headers import read_texts
from umg_search.model import (
    BLOCK_SENTENCES,
    DocumentVersion,
    EncodedDocument,
    SetSpec,
    SplitDocument,
    StoredVector,
    TextBlock,
    Vectors,
    VectorType,
)
from umg_search.ports import BlockId, Chunk, ChunkId
from umg_search.sparse_vectors import kept
from umg_search.store.attributes import attributes_of
from umg_search.store.precision import stored_vector
from umg_search.store.units import pack
from umg_search.windows import windows


class Ids(NamedTuple):
    """Ids of everything that one version of a document occupies."""

    chunks: list[ChunkId]
    blocks: list[BlockId]


def ids_of(version: DocumentVersion, sentences: int, granularities: Iterable[Granularity]) -> Ids:
    """Return the ids of a version with `sentences` sentences, by arithmetic."""
    chunks = [ChunkId(g, version, window.first) for g in granularities for window in windows(sentences, g)]
    return Ids(chunks, [BlockId(version, number) for number in range(-(-sentences // BLOCK_SENTENCES))])


def chunks_of(encoded: EncodedDocument, version: DocumentVersion, spec: SetSpec) -> Iterator[Chunk]:
    """Yield the chunk entries of a version; a window whose vector is all zeros goes without one.

    DocumentError where the document's metadata do not fit the set.
    """
    split = encoded.split
    attributes = attributes_of(split.document, spec)
    for granularity in spec.granularities:
        vectors = encoded.dense.get(granularity)
        terms = encoded.sparse.get(granularity)
        places = windows(split.sentences, granularity)
        texts = read_texts(split, places, spec.headers) if Expert.LEXICAL in spec.experts else [None] * len(places)
        for row, (window, text) in enumerate(zip(places, texts, strict=True)):
            yield Chunk(
                granularity=granularity,
                version=version,
                first=window.first,
                unit=pack(version, window, granularity, split.counts, spec.derived),
                collection=split.document.collection,
                attributes=attributes,
                dense=None if vectors is None else _usable(vectors[row], spec.vectors),
                sparse=None if terms is None else kept(terms[row]),
                text=text,
            )


def blocks_of(split: SplitDocument, version: DocumentVersion) -> Iterator[TextBlock]:
    """Yield the text blocks of a version; together they hold the exact text."""
    for number, first in enumerate(range(0, split.sentences, BLOCK_SENTENCES)):
        last = min(first + BLOCK_SENTENCES, split.sentences)
        start = split.bounds[first]
        yield TextBlock(
            version=version,
            number=number,
            start=start,
            text=split.text_of(first, last),
            bounds=tuple(bound - start for bound in split.bounds[first : last + 1]),
            counts=split.counts[first:last],
        )


def _usable(vector: Vectors, kind: VectorType) -> StoredVector | None:
    return stored_vector(vector, kind) if np.any(vector) else None
