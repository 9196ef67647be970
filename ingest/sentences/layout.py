"""Hard bounds: paragraphs, headings, list items, table rows and lines of code, from the look of the lines.

A line break alone is no bound, since text is often wrapped at a width. It is one where the writer broke the line
although the next word would have fitted, or where lines are so long that nobody wrapped them.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple


class Block(NamedTuple):
    """A stretch of text that no sentence crosses; `splits` is False for one that is a single sentence by its form."""

    start: int
    end: int
    splits: bool


class _Kind(Enum):
    PROSE = auto()
    ITEM = auto()
    BULLET = auto()
    HEADING = auto()
    ROW = auto()
    RULE = auto()
    FENCE = auto()
    CODE = auto()


class _Line(NamedTuple):
    """A line that is not blank, without white space at its ends; `apart`: after a blank line, or the first."""

    start: int
    text: str
    kind: _Kind
    apart: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_ALONE = frozenset({_Kind.HEADING, _Kind.ROW, _Kind.CODE, _Kind.FENCE})

UNWRAPPED = 160
"""Characters; nobody wraps text at a greater width."""

FITS = 0.6
"""A line is cut short on purpose if it would fill less than this part of the width with the next word on it."""

_LONGEST_WORD = 20
_LONGEST_HEADING = 100

_NUMBER = (
    r"(?:\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+[.)]?|\(?[A-Za-z]{1,2}\)|\(?[ivxlcIVXLC]{1,6}[.)]|[A-Za-z]\."
    r"|\(\d{1,3}\)|§+\s?\d[\d.]*)"
)
_NAMED = (
    r"(?:ARTICLE|Article|SECTION|Section|CHAPTER|Chapter|EXHIBIT|Exhibit|Artikel|Artículo|Статья)"
    r"\s+[\dIVXLC]+\b"
)
_EASTERN = (
    r"(?:[①-⑳]|[（(][一二三四五六七八九十\d]+[）)]|[一二三四五六七八九十]+、"
    r"|第[一二三四五六七八九十百零\d]+[章条條節节款项項编編])"
)
_RULE = re.compile(r"[-=_*~+\#^|:.\s]{3,}$")
_KIND = re.compile(
    rf"""
    (?P<HEADING>\#{{1,6}}\s+\S)
  | (?P<RULE>{_RULE.pattern})
  | (?P<BULLET>[•‣◦▪▫●○■□➢►✓✔]\s*\S)
  | (?P<ITEM>(?:[-*+–—·]|{_NUMBER})\s+\S|{_NAMED}|{_EASTERN})
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"(`{3,}|~{3,4})\s*([\w+#.-]*)\s*$")
_CODE = re.compile(
    r"""
    [\])}]+[;,]?$
  | .*[\w)\]]\s*\{$
  | (?:async\s+def|def|class)\s+\w+.*:$
  | (?:import\s+[\w.]+(?:\s+as\s+\w+)?|from\s+[\w.]+\s+import\s+.+)$
  | \#include\s | \#!/ | >>>\s | \$\s\w
  | (?:return|throw|break|continue)\b.*;$
  | (?:if|for|while|else|elif|try|except|switch)\b.*[:{]$
  | (?:[\w.\[\]"']+|(?:var|let|const|int|auto|final|static|public|private)\s.*?)\s*[-+*/|&:]?=\s*\S.*$
  | [\w.]+(?:->\w+|::\w+)*\([^)]*\)\s*;?$
  | </?\w+[^>]*>.*$ | // | /\*
    """,
    re.VERBOSE,
)
_LABEL = re.compile(r"[*_]*[^\W\d_][^:：.。!?]{0,30}[:：]")
_LONG_LABELLED = 40
_SETEXT = re.compile(r"=+$|-{3,}$")
_FINISHED = re.compile(r"[.!?:;…。！？：；؟۔।။།៕។][\"'”’»)\]」』]*$|(?:\W|^)(?:and|or|und|oder|et|ou|y|o|e|и|или)$")
_OPEN_ENDED = frozenset(",،、，-–—([")
_TAIL = 12
"""Characters at a line's end that tell whether a sentence ends there."""

_FIRST_LETTER = re.compile(r"[^\W_]")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of `text` in order; together they hold all that is not white space."""
    lines = list(_lines(text))
    first = 0
    for i in range(1, len(lines) + 1):
        if i == len(lines) or _bound_before(lines, i, lines[first]):
            yield Block(lines[first].start, lines[i - 1].end, lines[first].kind not in _ALONE)
            first = i


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines that are not blank, each with its kind."""
    raw = text.splitlines(keepends=True)
    fenced = _fenced(raw) if "```" in text or "~~~" in text else {}
    offset, apart, code, held = 0, True, False, None
    for number, whole in enumerate(raw):
        line = whole.strip()
        if line:
            kind = fenced.get(number) or _kind_of(line, may_be_code=apart or code)
            code = kind is _Kind.CODE
            start = offset + len(whole) - len(whole.lstrip())
            if held is not None:
                yield _heading(held) if not apart and kind is _Kind.RULE and _SETEXT.match(line) else held
            held = _Line(start, line, kind, apart)
        apart = not line or whole.endswith("\u2029")
        offset += len(whole)
    if held is not None:
        yield held


def _heading(line: _Line) -> _Line:
    """Return a line that is underlined, as a heading if it can be one."""
    fits = line.apart and line.kind is _Kind.PROSE and len(line.text) <= _LONGEST_HEADING
    return line._replace(kind=_Kind.HEADING) if fits else line


def _fenced(lines: list[str]) -> dict[int, _Kind]:
    """Return the kinds of lines in fenced code; a fence that is never closed is none."""
    kinds: dict[int, _Kind] = {}
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        fence = _FENCE.match(line.strip())
        if fence is None:
            continue
        if opened is None:
            opened = (number, fence[1])
        elif fence[1].startswith(opened[1]) and not fence[2]:
            kinds.update(dict.fromkeys(range(opened[0] + 1, number + 1), _Kind.CODE))
            kinds[opened[0]] = _Kind.FENCE
            opened = None
    return kinds


def _kind_of(line: str, *, may_be_code: bool) -> _Kind:
    if line.count(" | ") > 1 or line.count("\t") > 1 or (line[0] == line[-1] == "|" and len(line) > 1):
        return _Kind.RULE if _RULE.match(line) else _Kind.ROW
    found = _KIND.match(line)
    if found is not None and found.lastgroup is not None:
        return _Kind[found.lastgroup]
    return _Kind.CODE if may_be_code and len(line) <= UNWRAPPED and _CODE.match(line) else _Kind.PROSE


def _bound_before(lines: list[_Line], i: int, first: _Line) -> bool:
    """Tell whether the block that begins with line `first` ends between line i - 1 and line i."""
    before, line = lines[i - 1], lines[i]
    if before.kind is _Kind.FENCE:
        return False  # the fence goes with the first line of the code
    if line.apart or line.kind in _ALONE or before.kind in _ALONE or before.kind is _Kind.RULE:
        return True
    if line.kind is _Kind.BULLET or _next_item(first, before, line):
        return True
    widest = max(len(before.text), len(line.text), 0 if before.apart else len(lines[i - 2].text))
    if line.kind is _Kind.ITEM and (_FINISHED.search(before.text[-_TAIL:]) or len(before.text) < FITS * widest):
        return True
    return _labelled(before.text, line.text) or _broken_on_purpose(before.text, line.text, widest)


def _next_item(first: _Line, before: _Line, line: _Line) -> bool:
    """Tell whether an item follows one of the same kind; a number may also stand at a line's start by chance."""
    if not line.kind is first.kind is _Kind.ITEM:
        return False
    return before is first or (line.text[0] == first.text[0] and not line.text[0].isalnum())


def _labelled(before: str, line: str) -> bool:
    """Tell whether two lines give a name and a value each (`Pulse: 80`), of which the first is not a short one."""
    width = len(before) * (2 if _WIDE.search(before) else 1)
    return width >= _LONG_LABELLED and bool(_LABEL.match(before) and _LABEL.match(line))


def _broken_on_purpose(before: str, line: str, width: int) -> bool:
    """Tell whether the line break was the writer's will and not that of a page's width."""
    if before[-1] in _OPEN_ENDED:
        return False
    letter = _FIRST_LETTER.search(line)
    if letter and letter[0].islower() and not _FINISHED.search(before[-_TAIL:]):
        return False
    return len(before) > UNWRAPPED or len(before) + 1 + _first_word(line) < FITS * width


def _first_word(line: str) -> int:
    """Return the length of the least that would have to fit on the line before."""
    if _WIDE.match(line):
        return 1
    return min(len(line.split(maxsplit=1)[0]), _LONGEST_WORD)
