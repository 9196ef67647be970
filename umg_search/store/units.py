"""The packed value: all that ranking needs to know of a window, in one doc value.

Layout, big-endian: document version (20 bytes), first sentence (u32), sentences (u8), sentences between the first
counted one and `first` (u8), counted sentences (u8), one u16 token count for each of them, and zeros up to a multiple
of three bytes. Several values in one doc-value field would come back sorted, hence one value. Engines hold it as base64
text; three bytes are four characters, so that values can be joined and decoded at once.

Counted are the sentences of the window, of a 2- or 4-sentence window those of its whole parent, and of a finest window
that tiles derived ones those of all the longest of these around it.
"""

import struct
from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np

from umg_search.granularity import FINE, FINEST, PARENT, Granularity
from umg_search.model import DocumentVersion, Hits, ranges
from umg_search.windows import Window, holding, is_tile, parent

MOST_TOKENS = 65_535

_VERSION = 20
_HEAD = struct.Struct(">20sIBBB")
_COLUMNS = np.dtype([("version", "V20"), ("first", ">u4"), ("sentences", "u1"), ("lead", "u1"), ("counted", "u1")])


def pack(
    version: DocumentVersion,
    window: Window,
    granularity: Granularity,
    counts: Sequence[int],
    derived: Sequence[Granularity] = (),
) -> bytes:
    """Return the packed value of a window; `counts` are the tokens of all sentences of its document.

    `derived` are the granularities whose windows are derived from the finest ones.
    """
    counted = counted_range(window, granularity, len(counts), derived)
    shown = [min(count, MOST_TOKENS) for count in counts[counted.first : counted.last]]
    head = _HEAD.pack(version, window.first, window.last - window.first, window.first - counted.first, len(shown))
    body = head + struct.pack(f">{len(shown)}H", *shown)
    return b2a_base64(body + bytes(-len(body) % 3), newline=False)


def counted_range(
    window: Window, granularity: Granularity, sentences: int, derived: Sequence[Granularity] = ()
) -> Window:
    """Return the sentences of a document of `sentences` sentences whose counts a window brings with it."""
    if granularity is FINEST and derived and is_tile(window, sentences):
        around = holding(window, sentences, max(PARENT, *derived))
        return Window(around[0].first, around[-1].last)
    return parent(window, sentences, PARENT) if granularity in FINE else window


def unpack(lists: Sequence[Sequence[str]]) -> list[Hits]:
    """Return lists of packed values as columns, each in the order given; all number the same versions."""
    values = list(chain.from_iterable(lists))
    raw = np.frombuffer(a2b_base64("".join(values)), dtype=np.uint8)
    sizes = np.fromiter(map(len, values), np.int64, len(values)) // 4 * 3
    starts = np.cumsum(sizes) - sizes
    heads = raw[starts[:, None] + np.arange(_HEAD.size)].reshape(-1)
    columns = heads.view(_COLUMNS)
    distinct, document = _numbered(columns["version"].tobytes())
    table = np.empty((5, len(values)), dtype=np.int64)
    table[0] = document
    table[1] = columns["first"]
    table[2] = table[1] + columns["sentences"]
    table[3] = table[1] - columns["lead"]
    table[4] = columns["counted"]
    counts = raw[ranges(starts + _HEAD.size, 2 * table[4])].view(">u2").astype(np.int32)
    ends = list(accumulate(map(len, lists), initial=0))
    places = np.concatenate(([0], np.cumsum(table[4])))[ends].tolist()
    return [
        Hits(distinct, table[:, ends[i] : ends[i + 1]], counts[places[i] : places[i + 1]]) for i in range(len(lists))
    ]


def _numbered(versions: bytes) -> tuple[tuple[DocumentVersion, ...], list[int]]:
    """Return the distinct versions of many in a row, ascending, and the number of each of the many among them."""
    every = [versions[start : start + _VERSION] for start in range(0, len(versions), _VERSION)]
    distinct = sorted(set(every))
    number = {version: i for i, version in enumerate(distinct)}
    return tuple(map(DocumentVersion, distinct)), [number[version] for version in every]
