"""Ranked lists, evidence and fused units for tests, from documents that are nothing but token counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from umg_search.granularity import FINE, PARENT, Channel, Expert, Granularity
from umg_search.model import DocumentHash, DocumentVersion, Evidence, Fused, Hits, RankedList, version_of
from umg_search.ranking.fusion import fuse
from umg_search.windows import Window, parent, window_at, window_count

G2, G4, G8, G16, G32 = Granularity

PROPERTY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For properties: no time limits, since the machine may be busy."""


@dataclass(frozen=True)
class Text:
    """A document: its name, which orders it among others, and the tokens of its sentences."""

    name: str
    counts: tuple[int, ...]
    generation: int = 1

    @property
    def version(self) -> DocumentVersion:
        return version_of(DocumentHash(self.name.encode().ljust(16, b"\0")), self.generation)

    def window(self, granularity: Granularity, first: int) -> Window:
        number, rest = divmod(first, granularity.stride)
        assert not rest
        assert number < window_count(len(self.counts), granularity)
        return window_at(number, len(self.counts), granularity)

    def counted(self, granularity: Granularity, window: Window) -> Window:
        return parent(window, len(self.counts), PARENT) if granularity in FINE else window


def dense(granularity: Granularity) -> Channel:
    return Channel(Expert.DENSE, granularity)


def lexical(granularity: Granularity) -> Channel:
    return Channel(Expert.LEXICAL, granularity)


def hits(granularity: Granularity, found: Sequence[tuple[Text, int]]) -> Hits:
    """Return the windows of one granularity that start at the given sentences."""
    spans = [text.window(granularity, first) for text, first in found]
    counted = [text.counted(granularity, span) for (text, _), span in zip(found, spans, strict=True)]
    counts = [text.counts[span.first : span.last] for (text, _), span in zip(found, counted, strict=True)]

    def column(values: Sequence[int]) -> np.ndarray:
        return np.array(values, dtype=np.int64)

    distinct = tuple(sorted({text.version for text, _ in found}))
    table = (
        column([distinct.index(text.version) for text, _ in found]),
        column([span.first for span in spans]),
        column([span.last for span in spans]),
        column([span.first for span in counted]),
        column([span.last - span.first for span in counted]),
    )
    return Hits(distinct, np.stack(table), column([count for part in counts for count in part]).astype(np.int32))


def ranked(channel: Channel, *found: tuple[Text, int, float]) -> RankedList:
    """Return the list of a channel: document, first sentence and score of each hit, in the order given."""
    places = [(text, first) for text, first, _ in found]
    return RankedList(channel, hits(channel.granularity, places), np.array([score for *_, score in found]))


def plain(*scores: float) -> RankedList:
    """Return a list with these scores; its hits are of no interest."""
    text = Text("any", (1,) * (len(scores) + 1))
    return ranked(dense(G2), *((text, first, score) for first, score in enumerate(scores)))


def evidence(*scores_and_masses: float) -> Evidence:
    """Return evidence with these masses."""
    return Evidence(plain(*scores_and_masses), np.array(scores_and_masses), 0.0, 1.0)


def fused(*units: tuple[Text, Granularity, int, float]) -> Fused:
    """Return fused units with exactly these masses: document, granularity, first sentence, mass of each."""
    items = []
    for granularity in Granularity:
        own = [(text, first, mass) for text, g, first, mass in units if g is granularity]
        if own:
            items.append(Evidence(ranked(dense(granularity), *own), np.array([mass for *_, mass in own]), 0.0, 1.0))
    return fuse(items, [1.0] * len(items))


SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(-1, 1, width=32, allow_subnormal=False)


@st.composite
def texts(draw: st.DrawFn) -> tuple[Text, ...]:
    """Draw one to three documents of up to 45 sentences."""
    counts = st.lists(st.integers(1, 40), min_size=1, max_size=45).map(tuple)
    return tuple(Text(name, draw(counts)) for name in "abc"[: draw(st.integers(1, 3))])


@st.composite
def ranked_lists(draw: st.DrawFn) -> list[RankedList]:
    """Draw the lists of up to ten channels, each with at least one hit, best first."""
    corpus = draw(texts())
    channels = [
        Channel(expert, granularity) for expert in (Expert.DENSE, Expert.LEXICAL) for granularity in Granularity
    ]
    chosen = draw(st.lists(st.sampled_from(channels), min_size=1, max_size=10, unique=True))
    return [draw(_one_list(channel, corpus)) for channel in sorted(chosen)]


@st.composite
def _one_list(draw: st.DrawFn, channel: Channel, corpus: Sequence[Text]) -> RankedList:
    places = [
        (text, number * channel.granularity.stride)
        for text in corpus
        for number in range(window_count(len(text.counts), channel.granularity))
    ]
    found = draw(st.lists(st.sampled_from(places), min_size=1, max_size=8, unique=True))
    scores = sorted(draw(st.lists(SCORES, min_size=len(found), max_size=len(found))), reverse=True)
    return ranked(channel, *((*place, score) for place, score in zip(found, scores, strict=True)))
