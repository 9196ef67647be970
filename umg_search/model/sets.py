"""Index sets: one version of the searchable data, and what its writers must agree on."""

from dataclasses import dataclass
from enum import StrEnum

from umg_search.granularity import Channel, Expert, Granularity
from umg_search.model.fields import DeclaredField


@dataclass(frozen=True, slots=True)
class DenseModel:
    """What a query encoder must know to match the vectors of a set."""

    name: str
    dims: int
    query_prompt: str = ""
    passage_prompt: str = ""


@dataclass(frozen=True, slots=True)
class SparseModel:
    """What a query encoder must know to match the sparse terms of a set."""

    name: str


class Encoding(StrEnum):
    """How windows longer than the finest are encoded: from the finest encodings, or from their own text."""

    COMPOSED = "composed"
    DIRECT = "direct"


class Headers(StrEnum):
    """What is put before a window where it is read: nothing, the document's title, or that and the nearest heading."""

    NONE = "none"
    TITLE = "title"
    HEADINGS = "headings"


class VectorType(StrEnum):
    """What the numbers of a stored vector are: bytes, scaled to the largest of each vector, or floats."""

    INT8 = "int8"
    FLOAT32 = "float32"


@dataclass(frozen=True, slots=True)
class SetSpec:
    """Everything that must be equal between a writer and the index set it writes to; stored as `_meta`.

    `granularities` are those that have an index. `derived` are others, whose lists come from those of the finest
    windows, which then must have one. `fields` are the declared metadata fields, by name.
    """

    schema: int
    granularities: tuple[Granularity, ...]
    experts: tuple[Expert, ...]
    tokenizer: str
    encoding: Encoding
    analyzer: str
    access_control: bool
    dense: DenseModel | None = None
    sparse: SparseModel | None = None
    vectors: VectorType = VectorType.INT8
    fields: tuple[DeclaredField, ...] = ()
    derived: tuple[Granularity, ...] = ()
    headers: Headers = Headers.NONE

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Every expert at every granularity that has an index, in a fixed order: the lists that an engine is asked."""
        return tuple(Channel(e, g) for e in self.experts for g in self.granularities)

    @property
    def ranked(self) -> tuple[Channel, ...]:
        """Every expert at every granularity, be it derived, in a fixed order: the lists that are ranked."""
        return tuple(Channel(e, g) for e in self.experts for g in sorted({*self.granularities, *self.derived}))


@dataclass(frozen=True, slots=True)
class IndexSet:
    """One version of the searchable data; `version` counts from 1 and is part of every index name."""

    version: int
    spec: SetSpec

    @property
    def label(self) -> str:
        """Name of the version (`v1`), the key of this set in ledger entries."""
        return f"v{self.version}"


class SetRole(StrEnum):
    """What a set is for: searched, searched before the last flip, being built, or neither any more."""

    ACTIVE = "active"
    PREVIOUS = "previous"
    BUILDING = "building"
    OLDER = "older"


@dataclass(frozen=True, slots=True)
class StoredSet:
    """A set that an engine holds, and its role."""

    index: IndexSet
    role: SetRole
