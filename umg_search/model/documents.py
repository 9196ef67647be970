"""Documents on their way in: as read, split into sentences, and encoded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umg_search.granularity import Expert, Granularity
from umg_search.model.identity import DEFAULT_COLLECTION, DocumentKey

Vectors = NDArray[np.float32]
StoredVector = Vectors | NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Document:
    """A document as a reader delivers it.

    `text` is the stored text: line ends kept, NUL and lone surrogates already replaced. `acl` lists the principals
    who may read it; empty means nobody where access control is on.
    """

    id: str
    text: str
    title: str = ""
    collection: str = DEFAULT_COLLECTION
    metadata: Mapping[str, Any] = field(default_factory=dict)
    acl: tuple[str, ...] = ()

    @property
    def key(self) -> DocumentKey:
        """Collection and id."""
        return DocumentKey(self.collection, self.id)


@dataclass(frozen=True, slots=True)
class SplitDocument:
    """A document with its sentences.

    `bounds` has one entry more than there are sentences, so that sentence i is text[bounds[i]:bounds[i + 1]];
    bounds[0] is 0 and the last bound is len(text). `counts` are the tokens of each sentence.
    """

    document: Document
    bounds: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return len(self.counts)

    def text_of(self, first: int, last: int) -> str:
        """Return the exact text of sentences `first` to `last` (excluded)."""
        return self.document.text[self.bounds[first] : self.bounds[last]]


class SparseVector(NamedTuple):
    """Non-zero terms of one sparse encoding: vocabulary ids, ascending, and their positive weights."""

    terms: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """A split document and the encodings of its windows, granularity by granularity, in the order of the windows.

    `dense` holds float32 arrays of shape (windows, dims) with rows of norm 1; empty where the set has no such expert.
    """

    split: SplitDocument
    dense: Mapping[Granularity, Vectors]
    sparse: Mapping[Granularity, Sequence[SparseVector]]


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """A question as each expert reads it; None where the index set has no such expert.

    `dense` is float32 of norm 1 and shape (dims,), or, on its way to an engine, what the set stores of it.
    `title_weight` is that of titles beside texts for the lexical expert; 0: titles are not asked. `experts` are those
    of the set that are asked; None: all of them.
    """

    text: str
    dense: StoredVector | None = None
    sparse: SparseVector | None = None
    title_weight: float = 0.0
    experts: tuple[Expert, ...] | None = None

    def asks(self, expert: Expert) -> bool:
        """Whether an expert of the set is asked."""
        return self.experts is None or expert in self.experts
