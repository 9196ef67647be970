"""Cutting a sentence that is too long: at clauses, else between words, else between graphemes; never inside one."""

from collections.abc import Iterator
from unicodedata import category

import regex

_CLAUSE = regex.compile(r"(?:[;:,–—|،؛၊]\s+|[；：，、。；！？]|\n)\s*(?=\S)")
_SPACE = regex.compile(r"\s+(?=\S)")
_GRAPHEME = regex.compile(r"\X")

_EXTENDS = regex.compile(r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]")
_LINE_ENDS = frozenset({"Cc", "Zl", "Zp"})

_LEAST_SHARE = 0.5
"""Cuts for the sake of sense are looked for beyond this share of the ideal length, so that pieces are balanced."""


def cuts(text: str, start: int, end: int, longest: int) -> list[int]:
    """Return `start` and the starts of further pieces of text[start:end], each of at most `longest` code points.

    White space at the end of a piece is not counted. A grapheme longer than `longest` is cut between code points.
    """
    end = start + len(text[start:end].rstrip())
    starts = [start]
    while end - starts[-1] > longest:
        starts.append(_next_cut(text, starts[-1], end, longest))
    return starts


def is_inside(text: str, place: int) -> bool:
    """Tell whether the character at `place` belongs to the one before it: a combining mark, even after a space."""
    character = text[place]
    return character > "\u02ff" and bool(_EXTENDS.match(character)) and category(text[place - 1]) not in _LINE_ENDS


def _next_cut(text: str, start: int, end: int, longest: int) -> int:
    """Return where the second piece starts; the first one is near to an even share of what is left."""
    pieces = -(-(end - start) // longest)
    ideal = start + -(-(end - start) // pieces)
    least = start + int((ideal - start) * _LEAST_SHARE)
    stop = _beyond_space(text, start + longest + 1, end)
    for places in (_CLAUSE, _SPACE):
        found = [m.end() for m in places.finditer(text, least, stop) if m.end() < end]
        fitting = [
            place for place in found if len(text[start:place].rstrip()) <= longest and not is_inside(text, place)
        ]
        if fitting:
            return min(fitting, key=lambda place: (abs(place - ideal), place))
    return _grapheme_cut(text, start, ideal, start + longest)


def _beyond_space(text: str, place: int, end: int) -> int:
    """Return how far to look for the beginning of the next piece: white space before it is not counted."""
    while place < end and text[place - 1].isspace():
        place += 1
    return min(place, end)


def _grapheme_cut(text: str, start: int, ideal: int, last: int) -> int:
    """Return the grapheme bound that is nearest before `ideal`, else the first one after it up to `last`."""
    best = 0
    for bound in _grapheme_bounds(text, start, last):
        if best and bound > ideal:
            break
        best = bound
    return best if start < best <= last else last


def _grapheme_bounds(text: str, start: int, last: int) -> Iterator[int]:
    """Yield bounds up to `last`; only a slice is looked at, since regex counts the flags before a flag."""
    return (start + m.end() for m in _GRAPHEME.finditer(text[start : last + 1]) if start + m.end() <= last)
