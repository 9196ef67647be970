from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model import (
    DenseModel,
    Document,
    DocumentVersion,
    EncodedDocument,
    EncodedQuery,
    Encoding,
    IndexSet,
    Retrieval,
    SetSpec,
    SparseModel,
    SparseVector,
    SplitDocument,
    version_of,
)
from umg_search.ports import Chunk, Scope
from umg_search.store.embedded import EmbeddedEngine
from umg_search.store.entries import Ids, blocks_of, chunks_of, ids_of
from umg_search.store.records import SCHEMA
from umg_search.windows import windows

DIMS = 8
SPEC = SetSpec(
    schema=SCHEMA,
    granularities=tuple(Granularity),
    experts=tuple(Expert),
    tokenizer="words",
    encoding=Encoding.DIRECT,
    analyzer="standard",
    access_control=True,
    dense=DenseModel("dense-model", DIMS),
    sparse=SparseModel("sparse-model"),
)


@dataclass
class Shelf:
    """An engine with its set, and documents made of numbers, so that every test knows what it wrote."""

    engine: EmbeddedEngine
    index: IndexSet = field(init=False)

    def __post_init__(self) -> None:
        self.index = self.engine.create_set(SPEC)

    def encoded(
        self, id: str, texts: Sequence[str], *, collection: str = "default", acl: tuple[str, ...] = ("*",)
    ) -> EncodedDocument:
        sentences = [f"{text}. " for text in texts]
        bounds = np.cumsum([0, *map(len, sentences)]).tolist()
        document = Document(id, "".join(sentences), collection=collection, acl=acl)
        split = SplitDocument(document, tuple(bounds), tuple(len(text.split()) for text in texts))
        rng = np.random.default_rng(len(texts))
        counts = {g: len(windows(len(texts), g)) for g in Granularity}
        dense = {g: rng.standard_normal((n, DIMS)).astype(np.float32) for g, n in counts.items()}
        sparse = {g: [sparse_vector({1: 1.0, 2 + row: 2.0}) for row in range(n)] for g, n in counts.items()}
        return EncodedDocument(split, dense, sparse)

    def chunks(self, encoded: EncodedDocument, generation: int = 1) -> list[Chunk]:
        return list(chunks_of(encoded, self.version(encoded, generation), SPEC))

    def ids(self, encoded: EncodedDocument, generation: int = 1) -> Ids:
        return ids_of(self.version(encoded, generation), encoded.split.sentences, SPEC.granularities)

    def version(self, encoded: EncodedDocument, generation: int = 1) -> DocumentVersion:
        return version_of(encoded.split.document.key.hash, generation)

    def add(self, encoded: EncodedDocument, generation: int = 1) -> list[Chunk]:
        chunks = self.chunks(encoded, generation)
        blocks = list(blocks_of(encoded.split, self.version(encoded, generation)))
        assert self.engine.write_chunks(self.index, chunks) == {}
        assert self.engine.write_blocks(self.index, blocks) == {}
        self.engine.publish(self.index)
        return chunks

    def search(
        self,
        text: str = "word",
        *,
        depth: int = 1000,
        collection: str = "",
        principals: tuple[str, ...] | None = None,
    ) -> Retrieval:
        dense = np.ones(DIMS, dtype=np.float32)
        query = EncodedQuery(text, dense, sparse_vector({1: 1.0}))
        return self.engine.ranked_lists(
            self.index, query, depth=depth, scope=Scope((collection,) if collection else (), principals)
        )

    def found(self, text: str = "word", **scope: object) -> dict[Channel, int]:
        """Hits of each channel that found any."""
        retrieval = self.search(text, **scope)  # type: ignore[arg-type] # passed through as it came
        assert retrieval.failed == {}
        return {ranked.channel: len(ranked.hits) for ranked in retrieval.lists if len(ranked.hits)}


def sparse_vector(weights: dict[int, float]) -> SparseVector:
    return SparseVector(
        np.array(sorted(weights), np.int32), np.array([weights[t] for t in sorted(weights)], np.float32)
    )


@pytest.fixture
def open_shelf(tmp_path: Path) -> Iterator[Callable[[], Shelf]]:
    """Open the same folder; each call closes the engine of the call before."""
    opened: list[EmbeddedEngine] = []

    def open_() -> Shelf:
        while opened:
            opened.pop().close()
        opened.append(EmbeddedEngine(tmp_path / "index"))
        return Shelf(opened[0])

    yield open_
    while opened:
        opened.pop().close()


@pytest.fixture
def shelf(open_shelf: Callable[[], Shelf]) -> Shelf:
    return open_shelf()
