"""Sentences of a text: bounds that tile it, found by the library sentencex between the hard bounds of the layout.

A sentence is named by where it begins. Each stage passes on ascending starts, none of them at white space, so that
the white space between two sentences always belongs to the earlier one.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from ingest.sentences.languages import is_dense, language_of
from ingest.sentences.layout import blocks
from ingest.sentences.lengths import cuts, is_inside
from ingest.sentences.pieces import joined
from ingest.sentences.splitting import sentence_starts

__all__ = ["SentenceOptions", "sentence_bounds", "stored_text"]

REPLACEMENT = "\ufffd"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_STORED = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SentenceOptions:
    """How sentences are made; lengths are code points, white space at the end not counted.

    `max_sentence_chars_dense` holds for scripts that say more in a character or write no spaces: Chinese, Japanese,
    Korean, Thai, Lao, Khmer, Burmese, Tibetan. `default_language` is taken for Latin script without a known language.
    """

    max_sentence_chars: int = 600
    max_sentence_chars_dense: int = 200
    default_language: str = "en"


def stored_text(raw: str) -> str:
    """Return the text as it is stored: U+FFFD for each NUL and each lone surrogate, so that characters stay in place.

    A byte order mark in a text is a character like others; that of a file was part of its encoding.
    """
    return _NOT_STORED.sub(REPLACEMENT, raw)


def sentence_bounds(text: str, *, language: str | None, options: SentenceOptions) -> tuple[int, ...]:
    """Return the bounds of the sentences of `text`, one more than there are sentences; () where it is blank.

    The first is 0, the last len(text), and they ascend strictly. `language` is the document's (ISO code, a region is
    ignored); None or an unknown one: judged paragraph by paragraph from the script. Any string is accepted.
    """
    sound = _LONE_SURROGATE.sub(REPLACEMENT, text)  # one for one, so offsets stay; sentencex refuses surrogates
    starts = _whole_starts(sound, language, options)
    limits = pairwise([*starts, len(sound)])
    inner = [cut for start, end in limits for cut in _cut_starts(sound, start, end, options)]
    return (0, *inner[1:], len(text)) if inner else ()


def _whole_starts(text: str, language: str | None, options: SentenceOptions) -> list[int]:
    """Return where sentences start, however long they are."""
    found: list[int] = []
    heads: set[int] = set()
    for block in blocks(text):
        found.append(block.start)
        heads.add(block.start)
        if block.splits:
            spoken = language_of(text, block.start, block.end, language, options.default_language)
            found.extend(sentence_starts(text, block.start, block.end, spoken, options.max_sentence_chars))
    whole = found[:1] + [start for start in found[1:] if not is_inside(text, start)]
    return joined(text, whole, heads)


def _cut_starts(text: str, start: int, end: int, options: SentenceOptions) -> list[int]:
    """Return `start`, and where the sentence must be cut because it is too long."""
    shorter = min(options.max_sentence_chars, options.max_sentence_chars_dense)
    if end - start <= shorter:
        return [start]
    dense = is_dense(text, start, end)
    return cuts(text, start, end, options.max_sentence_chars_dense if dense else options.max_sentence_chars)
