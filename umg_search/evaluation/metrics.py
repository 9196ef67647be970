"""Measures of one answer: evidence by characters, answers by strings, documents as a set.

Source: recall, precision and IoU by characters are those of Chroma's chunking report (Smith & Troynikov 2024), IE =
recall * precision. A character that is returned twice counts twice in what was returned, once in what was found.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import regex

from umg_search.evaluation.questions import EvidenceMode, Span
from umg_search.model import DocumentKey

_SCRIPTS_WITH_WORDS = 0x530
"""Code points below are Latin, Greek and Cyrillic, where an answer inside a longer word is another word."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the evidence was returned, and how much else; all lie in [0, 1].

    `complete` is 1 where the evidence was returned whole, else 0.
    """

    recall: float
    precision: float
    iou: float
    ie: float
    complete: float


def coverage(evidence: Sequence[Span], returned: Sequence[Span], mode: EvidenceMode) -> Coverage:
    """Return how well the returned spans cover the evidence, which is not empty.

    Mode `all`: recall is the share of all evidence. Mode `any`: recall and IoU are those of the span that is covered
    best, and every span counts as found for precision, since each is an answer. An empty answer has precision 0.
    """
    shown = sum(span.length for span in returned)
    merged = _merged(returned)
    gold = _merged(evidence)
    found = _overlap(gold, merged)
    precision = found / shown if shown else 0.0
    if mode is EvidenceMode.ANY:
        shares = [(_overlap(_merged([span]), merged), span.length) for span in evidence]
        recall = max(part / length for part, length in shares)
        iou = max(part / (shown + length - part) for part, length in shares)
    else:
        length = sum(end - start for ranges in gold.values() for start, end in ranges)
        recall = found / length
        iou = found / (shown + length - found)
    return Coverage(recall, precision, iou, recall * precision, float(recall == 1.0))


def position(evidence: Sequence[Span], returned: Sequence[Span]) -> float | None:
    """Return the share of the answer, by characters, that comes before its first evidence; None where it has none."""
    shown = sum(span.length for span in returned)
    for span, before in zip(returned, accumulate((span.length for span in returned), initial=0), strict=False):
        starts = [max(gold.start, span.start) for gold in evidence if overlaps(gold, span)]
        if starts:
            return (before + min(starts) - span.start) / shown
    return None


def answer_recall(answers: Iterable[str], contexts: Sequence[str]) -> float:
    """Return 1 where one of the answers stands in one of the contexts, else 0.

    Case, white space and compatibility forms of Unicode (NFKC) are ignored. In Latin, Greek and Cyrillic script an
    answer does not begin or end inside a word or number.
    """
    folded = [_folded(text) for text in contexts]
    patterns = [_pattern(answer) for answer in map(_folded, answers) if answer]
    return float(any(pattern.search(text) for pattern in patterns for text in folded))


def set_f1(expected: Iterable[DocumentKey], returned: Iterable[DocumentKey]) -> float:
    """Return the harmonic mean of precision and recall of a set of documents: 2 |A & B| / (|A| + |B|)."""
    a, b = set(expected), set(returned)
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def overlaps(a: Span, b: Span) -> bool:
    """Return whether two spans have a character in common."""
    return a.document == b.document and max(a.start, b.start) < min(a.end, b.end)


def _merged(spans: Iterable[Span]) -> Mapping[DocumentKey, list[tuple[int, int]]]:
    """Return the ranges of each document, ascending and apart from each other."""
    ranges: dict[DocumentKey, list[tuple[int, int]]] = {}
    for document, start, end in sorted(spans):
        own = ranges.setdefault(document, [])
        if own and start <= own[-1][1]:
            own[-1] = (own[-1][0], max(own[-1][1], end))
        else:
            own.append((start, end))
    return ranges


def _overlap(a: Mapping[DocumentKey, list[tuple[int, int]]], b: Mapping[DocumentKey, list[tuple[int, int]]]) -> int:
    """Return the characters that both have."""
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for document, ranges in a.items()
        for start, end in ranges
        for other_start, other_end in b.get(document, ())
    )


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _pattern(answer: str) -> "regex.Pattern[str]":
    before = r"(?<!\w)" if _in_words(answer[0]) else ""
    after = r"(?!\w)" if _in_words(answer[-1]) else ""
    return regex.compile(before + regex.escape(answer) + after)


def _in_words(character: str) -> bool:
    return character.isalnum() and ord(character) < _SCRIPTS_WITH_WORDS
