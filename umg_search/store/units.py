"""The packed value of a chunk entry: all that ranking needs to know of a window, in one value.

Layout, big-endian: document version (20 bytes), first sentence (u32), sentences (u8), sentences between the first
counted one and `first` (u8), then one u16 token count for each counted sentence. Several values in one doc-value field
would come back sorted, hence one value. Engines hold it as base64 text.
"""

import struct
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np

from umg_search.granularity import FINE, PARENT, Granularity
from umg_search.model import DocumentVersion, Hits
from umg_search.windows import Window, parent

MOST_TOKENS = 65_535

_VERSION = 20
_HEAD = struct.Struct(">20sIBB")
_COLUMNS = np.dtype([("version", "V20"), ("first", ">u4"), ("sentences", "u1"), ("lead", "u1")])


def pack(version: DocumentVersion, window: Window, granularity: Granularity, counts: Sequence[int]) -> bytes:
    """Return the packed value of a window; `counts` are the tokens of all sentences of its document."""
    counted = parent(window, len(counts), PARENT) if granularity in FINE else window
    shown = [min(count, MOST_TOKENS) for count in counts[counted.first : counted.last]]
    head = _HEAD.pack(version, window.first, window.last - window.first, window.first - counted.first)
    return b64encode(head + struct.pack(f">{len(shown)}H", *shown))


def unpack(values: Sequence[str | bytes]) -> Hits:
    """Return packed values as columns, in the order given."""
    raw = [b64decode(value) for value in values]
    heads = b"".join(value[: _HEAD.size] for value in raw)
    columns = np.frombuffer(heads, dtype=_COLUMNS)
    numbers: defaultdict[DocumentVersion, int] = defaultdict(count().__next__)
    table = np.empty((5, len(raw)), dtype=np.int64)
    table[0] = [numbers[DocumentVersion(value[:_VERSION])] for value in raw]
    table[1] = columns["first"]
    table[2] = table[1] + columns["sentences"]
    table[3] = table[1] - columns["lead"]
    table[4] = [(len(value) - _HEAD.size) // 2 for value in raw]
    counts = np.frombuffer(b"".join(value[_HEAD.size :] for value in raw), dtype=">u2").astype(np.int32)
    return Hits(tuple(numbers), table, counts)
