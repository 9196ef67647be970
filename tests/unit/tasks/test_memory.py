"""Memory of a worker's child."""

import ctypes
import re
from pathlib import Path

import pytest

from tasks.memory import give_back

MIB = 2**20


def resident() -> int:
    """Return the bytes of memory that this process has."""
    (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    return int(kilobytes) * 1024


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="this C library is not glibc")
def test_memory_that_is_free_between_pieces_in_use_goes_back_to_the_system() -> None:
    pieces = [bytearray(8_000) for _ in range(100 * MIB // 8_000)]
    in_use = pieces[::100]  # spread over all of it, so that freeing the others leaves holes
    del pieces
    before = resident()
    give_back()
    assert resident() < before - 50 * MIB
    assert len(in_use) > 100
