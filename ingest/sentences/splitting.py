"""Where sentences start inside a block: what sentencex finds, less its false bounds, plus what it passes over."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]  # it ships no types

from ingest.sentences.abbreviations import BEFORE_NUMBER, KNOWN, MAY_END, ORDINAL_LANGUAGES, ORDINARY, STARTERS, goes_on

_PORTION = 2_000
"""Characters given to sentencex at a time: its time grows with the square of the sentences or quotes it is given."""

_LOOK = 48
"""Characters looked at on each side of a bound."""

_MARK = re.compile(r"[.!?…‥。．！？｡؟۔।॥။፧።։;՞՜៕។།༎]")
_INNER = re.compile(  # one set of characters first, so that the search runs fast over what is none
    r"""[.!?…。！？។៕།༎](?:
        (?<=[.!?…])["'”’»)\]]*\s+(?=["'“‘«(\[]*[^\W\d_a-z]|\(?(?:\d{1,2}(?:\.\d{1,2})*|[a-z]{1,4})[.)]\s)
      | (?<=[。！？])[”’」』）]*(?=[^\s。！？!?.…”’」』）])
      | (?:(?<=[។៕])|(?<=[།༎])(?=\s))["'”’»)\]]*\s*(?=[^\s។៕།༎]))""",
    re.VERBOSE,
)
_AFTER_STOP = re.compile(r"(?<=[.!?])[\"')\]]*\s+[\"'(\[]*[a-z]")
_CLOSING = "\"'”’»)]」』）"
_STOPS = ".…!?。！？｡．‼⁇"
_NO_STOPS = ",;:-–—、，；："
_PAIRS = (("(", ")"), ("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("『", "』"), ("[", "]"))

_NO_QUOTES = dict.fromkeys(map(ord, "\"'“”‘’«»„()[]「」『』"))

_NOTE = re.compile(r"(?:\[\d{1,3}\])+$")
_WORD_START = re.compile(r"[\s(\[\"“”‘«»„—–。！？，、]")
_NEXT = re.compile(r"[\"'“‘«„(\[¿¡*_]*([^\s.,;:!?)\]]*)")
_ITEM = re.compile(r"\(?(?:\d{1,2}(?:\.\d{1,2})*|[a-z]{1,4})[.)]\s+\(?\W*[^\W\d_]")
_NUMBERISH = re.compile(r"[(\[]?(?:[\d#§№]|[IVXLC]+\b|[A-Za-z]\b)")
_DOTTED = re.compile(r"(?:\w{1,2}\.)+\w{1,2}$")
_ELISION = re.compile(r".*['’/]")
_ORDINAL = re.compile(r"(?:\d{1,2}|[IVXLC]+)$")
_GLUED = re.compile(r"\w*[^\W\d_A-Z]{2,}$")
_GLUED_NEXT = re.compile(r"[A-Z][a-z]*(?:['’]\w+)?[,;:]?(?:\s|$)")
_PARTICLE = re.compile(r"[とはがをにのもでやへ、]|という|って|など")


def sentence_starts(text: str, start: int, end: int, language: str, longest: int) -> list[int]:
    """Return where sentences start in text[start:end], ascending, `start` itself excluded.

    In a sentence of more than half of `longest` the bounds inside quotations and brackets count too. In text without
    any capital a small letter may begin a sentence.
    """
    if not _MARK.search(text, start, end):
        return []
    block = text[start:end]
    if block.islower():
        block = _AFTER_STOP.sub(lambda found: found[0].upper(), block)
    size = len(block)
    found = [place for place in _candidates(block, 0, size, language) if not _goes_on(block, 0, place, language)]
    bounds = _with_inner(block, [0, *found, size], language, longest // 2)
    return [start + place for place in bounds[1:-1]]


def _candidates(text: str, start: int, end: int, language: str) -> Iterator[int]:
    """Yield the starts that sentencex finds, portion by portion; the last sentence of a portion is given again."""
    while start < end:
        stop = _portion_end(text, start, end)
        ends = (start + bound["end_index"] for bound in get_sentence_boundaries(language, text[start:stop]))
        places = [place for place in (_skip_space(text, found, end) for found in ends) if start < place < stop]
        yield from places
        if stop == end:
            return
        if not places:
            yield stop
        start = places[-1] if places else stop


def _portion_end(text: str, start: int, end: int) -> int:
    """Return where a portion ends: at white space if there is some."""
    limit = start + _PORTION
    if limit >= end:
        return end
    space = max(text.rfind(" ", start + 1, limit), text.rfind("\n", start + 1, limit))
    return _skip_space(text, space, end) if space > start else limit


def _skip_space(text: str, place: int, end: int) -> int:
    while place < end and text[place].isspace():
        place += 1
    return place


def _with_inner(text: str, bounds: list[int], language: str, long: int) -> list[int]:
    """Return `bounds` and those that sentencex passes over, above all since it takes apostrophes for quotes.

    Bounds inside quotations and brackets count in sentences that are longer than `long`.
    """
    known = set(bounds)
    inner: list[int] = []
    for found in _INNER.finditer(text, bounds[0], bounds[-1]):
        place = found.end()
        if place in known or place >= bounds[-1]:
            continue
        after = bisect_right(bounds, place)
        first = bounds[after - 1]
        enclosed = bounds[after] - first <= long and _enclosed(text[first:place])
        if not enclosed and not _goes_on(text, first, place, language) and _splits_alone(text, first, place, language):
            inner.append(place)
    return sorted({*bounds, *inner}) if inner else bounds


def _splits_alone(text: str, start: int, place: int, language: str) -> bool:
    """Ask sentencex, which knows abbreviations, about a bound without the quotes and brackets around it.

    It is not asked about marks that no abbreviation has, before the number of an item, nor about some English words.
    """
    head = text[max(start, place - _LOOK) : place].rstrip()
    if head.rstrip(_CLOSING)[-1:] not in (".", "…", "!", "?"):
        return True
    if language not in ORDINAL_LANGUAGES and _ITEM.match(text, place):
        return True
    if language == "en" and _is_word(_WORD_START.split(head.rstrip(_CLOSING).rstrip(_STOPS))[-1]):
        return True
    alone = f"{head.translate(_NO_QUOTES)} "
    bounds = get_sentence_boundaries(language, alone + text[place : place + _LOOK].translate(_NO_QUOTES))
    return any(bound["end_index"] == len(alone) for bound in bounds)


def _is_word(word: str) -> bool:
    """Tell whether an English word is none of the abbreviations that sentencex takes it for."""
    if word.isupper() and len(word) > 1:
        return word.capitalize() not in KNOWN
    return word in ORDINARY


def _enclosed(head: str) -> bool:
    """Tell whether a sentence's beginning opens a quotation or bracket that it does not close."""
    if head.count('"') % 2:
        return True
    return any(head.count(opening) > head.count(closing) for opening, closing in _PAIRS)


def _goes_on(text: str, start: int, place: int, language: str) -> bool:
    """Tell whether the sentence that starts at `start` goes on at `place`, so that the bound is false."""
    head = text[max(start, place - _LOOK) : place]
    body = head.rstrip()
    spaced = len(body) < len(head)
    core = body.rstrip(_CLOSING) if not body.endswith("]") else _NOTE.sub("", body).rstrip(_CLOSING)
    stem = core.rstrip(_STOPS)
    mark, after = core[len(stem) :], text[place : place + _LOOK]
    if not mark:
        return _mid_clause(core[-1:], language)  # sentencex splits before (iii)
    if mark[0] not in ".…":
        return _after_other_mark(mark, len(core) < len(body), spaced, after[:1])
    word = _WORD_START.split(stem)[-1]
    if not spaced:
        return not body.endswith("]") and not (_GLUED.match(word) and _GLUED_NEXT.match(after))
    following = _NEXT.match(after)
    next_word = following[1] if following else ""
    if _lower(next_word):
        return True
    return mark == "." and _abbreviated(word, after, next_word, language)


def _mid_clause(last: str, language: str) -> bool:
    """Tell whether no sentence ends with a character; in Greek the semicolon asks a question."""
    return last.isalnum() or (last in _NO_STOPS and (last, language) != (";", "el"))


def _after_other_mark(mark: str, closed: bool, spaced: bool, after: str) -> bool:  # noqa: FBT001  four facts of one place
    """Tell whether a sentence goes on after a question mark, an exclamation mark, or a mark of another script."""
    if spaced:
        return closed and _lower(after)
    if closed and _PARTICLE.match(after):
        return True  # Japanese: a quotation with a particle after it
    return mark.isascii() and after.isascii() and (_lower(after) or not after.isalpha())


def _abbreviated(word: str, after: str, next_word: str, language: str) -> bool:
    """Tell whether the dot after `word` belongs to an abbreviation, an initial or an ordinal."""
    bare = _ELISION.sub("", word)
    if bare in goes_on(language):
        return True
    if bare in BEFORE_NUMBER and _NUMBERISH.match(after):
        return True
    if len(bare) == 1 and bare.isalpha():
        return next_word not in STARTERS or after[len(next_word) :][:1] == "."  # one initial after the other
    if bare in MAY_END or _DOTTED.match(bare):
        return next_word not in STARTERS
    return language in ORDINAL_LANGUAGES and bool(_ORDINAL.match(bare)) and next_word not in STARTERS


def _lower(word: str) -> bool:
    """Tell whether a word begins with a small letter; Georgian has no capitals in running text."""
    return word[:1].islower() and not "ა" <= word[0] <= "ჿ"
