"""Questions that have something in common: language, level of evidence, type, domain, whatever their set tells."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umg_search.evaluation.questions import Question
from umg_search.evaluation.results import mean
from umg_search.evaluation.running import Budget, Evaluation, QuestionFigures
from umg_search.granularity import Channel

LEVEL = "evidence level"

FIRST = ("language", LEVEL, "type", "domain")
"""Dimensions that come before all others."""

MOST_VALUES = 12
"""Values of a dimension; what has more tells questions apart instead of bringing them together."""

LEAST_QUESTIONS = 5
"""Questions that a value has in the mean."""

MOST_CHARACTERS = 40
"""Length of a value; what is longer is a text and no name."""

MISSING = "not given"

_PLACES = frozenset({"scope_doc_id", "unanswerable"})
"""What says where and whether to look, and not what a question is like."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the questions whose `dimension` has this value."""

    dimension: str
    value: str
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChannelMeans:
    """What a channel weighs in the mean, nothing where it found nothing, and its confidence where it found anything."""

    weight: float
    confidence: float | None


def groups(questions: Sequence[Question]) -> tuple[Group, ...]:
    """Return all groups, dimension by dimension, large ones first; a dimension with one value tells nothing."""
    known = [_properties(question) for question in questions]
    names = dict.fromkeys(name for properties in known for name in properties)
    ordered = [name for name in FIRST if name in names] + [name for name in names if name not in FIRST]
    return tuple(group for name in ordered for group in _groups(name, known))


def main_dimension(found: Sequence[Group]) -> str:
    """Return the dimension that tells most of how questions are asked, empty where there is none."""
    names = list(dict.fromkeys(group.dimension for group in found))
    return "type" if "type" in names else names[-1] if names else ""


def mean_of(evaluation: Evaluation, group: Group, method: str, budget: Budget, measure: str) -> float | None:
    """Return a method's mean over the questions of a group."""
    column = evaluation.column(method, budget, measure)
    return mean([column[row] for row in group.rows])


def channel_means(figures: Sequence[QuestionFigures]) -> Mapping[Channel, ChannelMeans]:
    """Return what each channel weighs under our defaults, and how certain it is, in the mean over questions."""
    channels = sorted({channel for one in figures for channel in one.channels})
    return {channel: _channel_means(channel, figures) for channel in channels}


def _channel_means(channel: Channel, figures: Sequence[QuestionFigures]) -> ChannelMeans:
    found = [one.channels[channel] for one in figures if channel in one.channels]
    return ChannelMeans(sum(each.weight for each in found) / len(figures), mean([each.confidence for each in found]))


def _properties(question: Question) -> dict[str, str]:
    found = {LEVEL: question.level} if question.level else {}
    for name, value in question.metadata.items():
        if isinstance(value, str | int) and name not in _PLACES:  # bool is an int; numbers with a point are measured
            found[name] = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    return found


def _groups(name: str, known: Sequence[Mapping[str, str]]) -> list[Group]:
    values = [properties.get(name, MISSING) for properties in known]
    counts = Counter(values)
    telling = 1 < len(counts) <= MOST_VALUES and len(values) >= LEAST_QUESTIONS * len(counts)
    if not telling or max(map(len, counts)) > MOST_CHARACTERS:
        return []
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    return [Group(name, value, tuple(row for row, own in enumerate(values) if own == value)) for value in ordered]
