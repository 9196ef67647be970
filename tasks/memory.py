"""The memory of a worker's child: bounded, and given back from time to time."""

import ctypes
import resource
import time
from collections.abc import Callable

GIVE_BACK_EVERY_S = 60.0
"""Least time between two times that memory is given back."""


def limit_memory(mebibytes: int) -> None:
    """Bound the memory of this process, so that a greedy document meets MemoryError and not the system's killer.

    RLIMIT_DATA counts what a process may write to and shares with nobody: also a model's weights, and the stacks of
    threads, whether they are used or not; PyTorch with a small model takes 1.2 GB. macOS ignores it. 0: no limit.
    """
    if mebibytes:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


class Memory:
    """Gives free memory of this process back to the system, now and then.

    glibc keeps what the tensors of a batch took, in pieces that those of the next one do not fill, and a child that
    works for days would grow until it is replaced. Other C libraries have no such function, and need none. What goes
    back has to be asked for again, so not after every message.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = clock() + GIVE_BACK_EVERY_S

    def give_back(self) -> bool:
        """Give memory back if it is time to; return whether it was."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + GIVE_BACK_EVERY_S
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        return True
