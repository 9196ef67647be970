"""The packed value of a chunk entry: all that ranking needs to know of a window, in one value.

Layout, big-endian: document version (20 bytes), first sentence (u32), sentences (u8), sentences between the first
counted one and `first` (u8), then one u16 token count for each counted sentence. Several values in one doc-value field
would come back sorted, hence one value. Engines hold it as base64 text.
"""

import struct
from base64 import b64decode, b64encode
from collections.abc import Sequence

import numpy as np

from umg_search.granularity import FINE, PARENT, Granularity
from umg_search.model import DocumentVersion, Hits
from umg_search.windows import Window, parent

MOST_TOKENS = 65_535

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
    first = columns["first"].astype(np.int64)
    lengths = np.fromiter((len(value) - _HEAD.size for value in raw), dtype=np.int64, count=len(raw)) // 2
    return Hits(
        versions=tuple(DocumentVersion(heads[i : i + 20]) for i in range(0, len(heads), _HEAD.size)),
        first=first,
        last=first + columns["sentences"],
        count_first=first - columns["lead"],
        count_length=lengths,
        counts=np.frombuffer(b"".join(value[_HEAD.size :] for value in raw), dtype=">u2").astype(np.int32),
    )
