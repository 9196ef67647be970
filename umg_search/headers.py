"""Headers: what is put before a window where models and BM25 read it, so that it is found by what it is about.

A window deep in a document often does not say which company, court or product it speaks of; the document's title and
the heading it stands under do. Answers, offsets and token counts are those of the text alone.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from umg_search.model import Headers, SplitDocument
from umg_search.windows import Window

MOST_CHARACTERS = 200
"""Characters of a title or heading that are read: a longer one is no header, and would drown the window."""

FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$", re.MULTILINE)


def read_texts(split: SplitDocument, windows: Sequence[Window], headers: Headers) -> list[str]:
    """Return the text of each window as models and BM25 read it, without white space around.

    A header that the window holds already is not repeated.
    """
    texts = [split.text_of(*window).strip() for window in windows]
    if headers is Headers.NONE:
        return texts
    title = _short(split.document.title)
    starts, names = _headings(split.document.text) if headers is Headers.HEADINGS else ([], [])
    found = []
    for window, text in zip(windows, texts, strict=True):
        above = bisect_left(starts, split.bounds[window.first])
        parts = dict.fromkeys(part for part in (title, names[above - 1] if above else "") if part and part not in text)
        found.append(". ".join((*parts, text)))
    return found


def _headings(text: str) -> tuple[list[int], list[str]]:
    """Return where the headings of a text begin, and their names; `#` inside fenced code is none."""
    code = [found.span() for found in FENCED.finditer(text)]
    starts = [start for start, _ in code]

    def is_code(place: int) -> bool:
        before = bisect_left(starts, place + 1) - 1
        return before >= 0 and place < code[before][1]

    headings = [(found.start(), found[1]) for found in _HEADING.finditer(text) if not is_code(found.start())]
    return [start for start, _ in headings], [_short(heading_name(name)) for _, name in headings]


def heading_name(line: str) -> str:
    """Return the name in a Markdown heading without opening marks; closing ones stand apart: `C#` is a word."""
    # Taken apart without a pattern: one with several runs of blanks takes cubic time for a line of blanks.
    line = line.rstrip()
    marked = line.rstrip("#")
    return marked.rstrip() or line if marked != marked.rstrip() else line


def _short(name: str) -> str:
    return name.strip()[:MOST_CHARACTERS].strip()
