"""The vocabulary of retrieval channels: granularities, experts, and their pairs."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Granularity(IntEnum):
    """Length of a window in sentences; neighbouring windows start half a window apart."""

    G2 = 2
    G4 = 4
    G8 = 8
    G16 = 16
    G32 = 32

    @property
    def stride(self) -> int:
        """Sentences between the starts of two neighbouring windows."""
        return max(1, self.value // 2)

    @property
    def label(self) -> str:
        """Name with two digits (`g02` ... `g32`), so that names sort by size."""
        return f"g{self.value:02d}"


FINEST = Granularity.G2
PARENT = Granularity.G8
"""Granularity that 2- and 4-sentence hits are promoted to."""

FINE = (Granularity.G2, Granularity.G4)
"""Granularities whose hits have a parent."""


class Expert(StrEnum):
    """A way to score windows: kNN over embeddings, learned sparse terms, or the engine's BM25."""

    DENSE = "dense"
    SPARSE = "sparse"
    LEXICAL = "lexical"


def named_experts(text: str) -> tuple[Expert, ...]:
    """Return the experts that are named with commas, in their own order; ValueError for others and for repeats."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if set(names) - set(Expert) or len(set(names)) < len(names):
        raise ValueError(f"experts are {', '.join(Expert)}, each at most once")
    return tuple(expert for expert in Expert if expert in names)


@dataclass(frozen=True, slots=True, order=True)
class Channel:
    """One expert at one granularity: the source of one ranked list."""

    expert: Expert
    granularity: Granularity

    def __str__(self) -> str:
        return f"{self.expert.value}-{self.granularity.label}"
