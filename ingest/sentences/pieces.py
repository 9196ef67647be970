"""Joining pieces that are no sentences: marks without a letter or digit, and numbers of sections and items."""

import re
from itertools import pairwise

_WORD = re.compile(r"[^\W_]")
_NUMBER = r"""
    (?: [*_\#>•·–—-]* \s*
      (?: [(（\[]? (?: \d{1,3} | [A-Za-z] | [ivxlcIVXLC]{1,6} ) [.)）\]]+
        | \d{1,2} (?: \.\d{1,2} )+ [.)]?
        | § + \s? \d [\d.]*
        | (?: ARTICLE|Article|SECTION|Section|CHAPTER|Chapter|EXHIBIT|Exhibit|ANNEX|Annex|SCHEDULE|Schedule|Appendix )
          \s+ [\dIVXLC.A-Z-]{1,6} [.:]?
      ) [*_:]* \s*
    )+
"""
_LIST_NUMBER = re.compile(_NUMBER + "$", re.VERBOSE)
_TITLE = r"""
    (?: (?: [^\W\d_a-z] [\w'’&/,-]* | and|of|the|to|for|in|on|by|or|& ) [^\S\n]+ ){0,4}
    [^\W\d_a-z] [\w'’&/-]* [.:] [*_]* [ ]* $
"""
_NUMBERED_TITLE = re.compile(_NUMBER + _TITLE, re.VERBOSE)
_BARE_NUMBER = re.compile(r"\W*(?:Page\s+|PAGE\s+|Seite\s+)?\d{1,4}\W*$")
_LONGEST_NUMBER = 24
_LONGEST_TITLE = 60


def joined(text: str, starts: list[int], heads: set[int]) -> list[int]:
    """Return the starts that remain; `heads` are those at a hard bound.

    A piece without a letter or digit, or that is a bare number, joins its predecessor (the successor, if it is the
    first). The number of a section or item joins its successor (the predecessor, if it is the last), together with
    its title if text follows on the line: `5. Term. This Agreement ...`.
    """
    kept: list[int] = []
    waiting = False
    for start, end in pairwise([*starts, len(text)]):
        number = _is_number(text, start, end)
        back = not number and _leans_back(text, start, end)
        if not waiting and not (kept and (back or (number and end == len(text)))):
            kept.append(start)
        waiting = number or (back and (waiting or kept == [start]))
        waiting = waiting or (end not in heads and _is_numbered_title(text, kept[-1], end, heads))
    return kept


def _is_number(text: str, start: int, end: int) -> bool:
    piece = text[start : min(end, start + _LONGEST_TITLE)].rstrip()
    return len(piece) <= _LONGEST_NUMBER and bool(_LIST_NUMBER.match(piece))


def _is_numbered_title(text: str, start: int, end: int, heads: set[int]) -> bool:
    """Tell whether a piece is a number with a title; inside a paragraph a letter with a dot is an initial."""
    if end - start > _LONGEST_TITLE or not (start in heads or text[start].isdigit()):
        return False
    return bool(_NUMBERED_TITLE.match(text[start:end]))


def _leans_back(text: str, start: int, end: int) -> bool:
    if not _WORD.search(text, start, end):
        return True
    piece = text[start : min(end, start + _LONGEST_TITLE)].rstrip()
    return len(piece) <= _LONGEST_NUMBER and bool(_BARE_NUMBER.match(piece))
