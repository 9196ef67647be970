"""What a search can be asked: the question, what it may see, and the knobs of the ranking with their defaults."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from umg_search.errors import QueryError
from umg_search.ports import Scope
from umg_search.ranking.evidence import Normalisation
from umg_search.ranking.promotion import Aggregation
from umg_search.ranking.weights import Weighting
from umg_search.search.cuts import Cut

MOST_DEPTH = 5_000
"""Hits of a channel that can be asked for: servers look at twice as many, and at 10,000 at most."""

MOST_TOKENS = 10_000_000
"""Largest budget that is no mistake."""


class Selection(StrEnum):
    """What an answer is made of: evidence spans (ours), units of any length (UMG-RAG), or parents (UMGP-RAG)."""

    SPANS = "spans"
    CHUNKS = "chunks"
    PARENTS = "parents"


class GroupBy(StrEnum):
    """What the contexts of an answer are put together by."""

    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """Knobs of the ranking, with the only defaults; METHODS: UMG-RAG (arXiv 2606.13550) and evidence spans.

    `budget` in tokens of the index set. `top_k` None: 5 for chunks and parents as published unless a `cut` decides, no
    limit for spans; 0: no limit. `cut` looks at the 30 best units, sentences or runs. `depth` hits a channel. `floor`
    in tokens. `overlap` is the share of the shorter unit above which two units of a document are taken for the same; 1
    turns de-duplication off. `max_per_document` None: no limit; the budget that it frees goes to other documents.
    `min_relevance` leaves contexts out whose relevance is lower or not known. `title_weight` is that of titles beside
    texts for the lexical expert, 0: titles are not asked.
    """

    select: Selection = Selection.SPANS
    budget: int = 512
    top_k: int | None = None
    cut: Cut | None = None
    depth: int = 100
    normalisation: Normalisation = Normalisation.ZSCORE
    temperature: float = 1.0
    weighting: Weighting = Weighting.ENTROPY
    alpha: float = 0.5
    floor: int = 16
    overlap: float = 0.75
    own_mass: bool = True
    aggregation: Aggregation = Aggregation.BOUNDED
    min_sentences: int = 1
    max_per_document: int | None = None
    min_relevance: float | None = None
    title_weight: float = 0.0

    def __post_init__(self) -> None:
        limits = {
            "budget": (self.budget, 1, MOST_TOKENS),
            "top_k": (self.top_k or 0, 0, MOST_DEPTH),
            "depth": (self.depth, 1, MOST_DEPTH),
            "alpha": (self.alpha, 0, 10),
            "floor": (self.floor, 0, MOST_TOKENS),
            "overlap": (self.overlap, 0, 1),
            "min_sentences": (self.min_sentences, 1, 1_000),
            "max_per_document": (1 if self.max_per_document is None else self.max_per_document, 1, MOST_DEPTH),
            "min_relevance": (0 if self.min_relevance is None else self.min_relevance, -1, 1),
            "title_weight": (self.title_weight, 0, 100),
            "temperature": (self.temperature, 1e-3, 1e3),
        }
        wrong = [
            f"{name} is {value}, it lies between {least} and {most}"
            for name, (value, least, most) in limits.items()
            if not least <= value <= most
        ]
        if wrong:
            raise QueryError(f"Wrong ranking options: {'; '.join(wrong)}.")

    @classmethod
    def paper(cls, select: Selection = Selection.PARENTS) -> Self:
        """Return the literal reading of the paper: min-max, no floor, de-duplication of parents only."""
        overlap = 0.75 if select is Selection.PARENTS else 1.0
        return cls(select=select, normalisation=Normalisation.MINMAX, floor=0, own_mass=False, overlap=overlap)

    @property
    def limit(self) -> int | None:
        """Most contexts of an answer, None: no limit."""
        if self.top_k is None:
            return None if self.select is Selection.SPANS or self.cut is not None else 5
        return self.top_k or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question, what it may see, and how it is to be answered."""

    text: str
    scope: Scope = field(default_factory=Scope)
    options: RankingOptions = field(default_factory=RankingOptions)
    group_by: GroupBy | None = None
    explain: bool = False
