"""The memory of a worker's child: bounded, and given back after each message."""

import ctypes
import resource


def limit_memory(mebibytes: int) -> None:
    """Bound the memory of this process, so that a greedy document meets MemoryError and not the system's killer.

    RLIMIT_DATA counts what a process may write to and shares with nobody: also a model's weights, and the stacks of
    threads, whether they are used or not; PyTorch with a small model takes 1.2 GB. macOS ignores it. 0: no limit.
    """
    if mebibytes:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def give_back() -> None:
    """Give free memory back to the system.

    glibc keeps what the tensors of a batch took, in pieces that those of the next one do not fill, and a child that
    works for days would grow until it is replaced. Other C libraries have no such function, and need none.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
