"""Memory of a worker's child."""

import ctypes
import re
from pathlib import Path

import pytest

from tasks.memory import GIVE_BACK_EVERY_S, Memory

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
    times = iter([0.0, GIVE_BACK_EVERY_S])
    assert Memory(lambda: next(times)).give_back()
    assert resident() < before - 50 * MIB
    assert len(in_use) > 100


def test_memory_is_given_back_from_time_to_time_only() -> None:
    minute = GIVE_BACK_EVERY_S
    times = iter([0.0, 1.0, minute, minute + 1, 2 * minute - 1, 2 * minute])
    memory = Memory(lambda: next(times))
    assert [memory.give_back() for _ in range(5)] == [False, True, False, False, True]
