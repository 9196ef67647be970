"""What comes out: contexts and explanations of a search, reports of an ingest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from umg_search.granularity import Channel, Granularity


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine says of itself."""

    name: str
    version: str
    where: str


@dataclass(frozen=True, slots=True)
class Source:
    """A place that a text stands at: sentences `first` to `last`, code points `start` to `end` of the stored text."""

    document_id: str
    collection: str
    title: str
    first: int
    last: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Context:
    """A piece of a document that answers a question; text == stored text[start:end].

    `relevance` is the largest cosine that the dense expert gave to a finest window that overlaps the context, None
    where it gave none. `sources` are all places of the answer with this same text, the context's own first.
    `channels` (only when an explanation was asked for) is the mass that each channel contributed.
    """

    document_id: str
    collection: str
    title: str
    metadata: Mapping[str, Any]
    first: int
    last: int
    start: int
    end: int
    text: str
    tokens: int
    score: float
    relevance: float | None
    granularities: tuple[Granularity, ...]
    truncated: bool
    sources: tuple[Source, ...]
    channels: Mapping[Channel, float] = field(default_factory=dict)


class Outcome(StrEnum):
    """What became of one document of an ingest."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of one document: chunk entries written, tokens of its text, why it failed, what to know of it."""

    document_id: str
    collection: str
    outcome: Outcome
    chunks: int = 0
    tokens: int = 0
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopHit:
    """A hit as an explanation shows it, with the channel's raw score."""

    document_id: str
    collection: str
    first: int
    last: int
    score: float


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """How certain a channel was, what it weighed, and its best hits; `derived` is one that the engine was not asked."""

    channel: Channel
    derived: bool
    hits: int
    entropy: float
    confidence: float
    weight: float
    top: tuple[TopHit, ...]


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """A document of an answer, the score of its best context, and how many contexts it has there."""

    document_id: str
    collection: str
    title: str
    score: float
    contexts: int


@dataclass(frozen=True, slots=True)
class CutPoint:
    """Where a list was cut: by which rule, what of (sentences, runs or units), out of how many, and how many stayed."""

    rule: str
    of: str
    candidates: int
    kept: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a question: contexts, best first.

    `degraded` names the channels that failed; `timings_ms` is milliseconds by stage; `channels` is filled where an
    explanation was asked for. `groups` is filled where documents were to stay together: the contexts then come
    document by document in the order of the groups. `cut` is there where a cut rule was asked for; the budget may leave
    less than it kept. `answered` says whether the documents seem to answer the question at all, None where that was not
    asked for or cannot be told.
    """

    question: str
    contexts: tuple[Context, ...]
    degraded: tuple[str, ...]
    warnings: tuple[str, ...]
    engine: EngineInfo
    timings_ms: Mapping[str, float]
    channels: tuple[ChannelReport, ...] = ()
    groups: tuple[DocumentGroup, ...] = ()
    cut: CutPoint | None = None
    answered: bool | None = None
