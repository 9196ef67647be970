"""Text for selections: which blocks to read, and the exact text of a range of sentences out of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import regex

from umg_search.model import BLOCK_SENTENCES, Selected, TextBlock
from umg_search.ports import BlockId, TokenCounter

WORD = regex.compile(r"(?w).+?\b", regex.DOTALL)
"""Up to the next word bound of UAX 29."""

GRAPHEME = regex.compile(r"\X")


class Passage(NamedTuple):
    """Text of a selection without white space at its ends; text == stored text[start:start + len(text)]."""

    start: int
    text: str


def blocks_for(selected: Iterable[Selected]) -> list[BlockId]:
    """Return the ids of the blocks that hold the selections, each once, in order."""
    return sorted({block for item in selected for block in _blocks(item)}, key=lambda b: (b.version, b.number))


def passage(selected: Selected, blocks: Mapping[BlockId, TextBlock]) -> Passage | None:
    """Return the text of a selection, None where a block is missing."""
    found = [blocks.get(block) for block in _blocks(selected)]
    parts = [_part(block, selected) for block in found if block is not None]
    if len(parts) < len(found):
        return None
    return trimmed(parts[0].start, "".join(part.text for part in parts))


def shortened(found: Passage, budget: int, counter: TokenCounter) -> Passage:
    """Return the longest beginning of a passage that ends at a word bound and has at most `budget` tokens.

    A first word over the budget is cut between graphemes; one grapheme is kept, so that an answer is never empty.
    """
    for bound in (WORD, GRAPHEME):
        ends = [match.end() for match in bound.finditer(found.text)]
        fitting = _most(ends, lambda end: counter.count([found.text[:end]])[0] <= budget)
        if fitting:
            return Passage(found.start, found.text[: ends[fitting - 1]].rstrip())
    return Passage(found.start, found.text[: ends[0]]) if ends else found


def _most(ends: Sequence[int], fits: Callable[[int], bool]) -> int:
    """Return how many of the ends fit, by bisection: a longer beginning never has fewer tokens."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(ends[middle - 1]) else (low, middle - 1)
    return low


def trimmed(start: int, text: str) -> Passage:
    """Return text without white space at its ends, its start moved accordingly."""
    body = text.lstrip()
    return Passage(start + len(text) - len(body), body.rstrip())


def _blocks(selected: Selected) -> Sequence[BlockId]:
    numbers = range(selected.first // BLOCK_SENTENCES, (selected.last - 1) // BLOCK_SENTENCES + 1)
    return [BlockId(selected.version, number) for number in numbers]


def _part(block: TextBlock, selected: Selected) -> Passage:
    base = block.number * BLOCK_SENTENCES
    begin = block.bounds[max(0, selected.first - base)]
    end = block.bounds[min(len(block.bounds) - 1, selected.last - base)]
    return Passage(block.start + begin, block.text[begin:end])
