"""The ports: small protocols at the I/O boundaries, each with adapters on the other side."""

from umg_search.ports.engine import (
    Attributes,
    BlockId,
    Chunk,
    ChunkId,
    DenseEncoder,
    Engine,
    Fetched,
    IndexSize,
    Scope,
    Selection,
    SparseEncoder,
    TokenCounter,
)
from umg_search.ports.queue import Queue, Sender

__all__ = [
    "Attributes",
    "BlockId",
    "Chunk",
    "ChunkId",
    "DenseEncoder",
    "Engine",
    "Fetched",
    "IndexSize",
    "Queue",
    "Scope",
    "Selection",
    "Sender",
    "SparseEncoder",
    "TokenCounter",
]
